package gate

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/text"
)

// QuarantineState says what became of a quarantined cell.
type QuarantineState string

// The states, from the one that needs no attention to the one that needs it most.
const (
	QuarantineQuiet   QuarantineState = "quiet"   // nothing of the cell would block
	QuarantineUsed    QuarantineState = "used"    // it would block
	QuarantineUnknown QuarantineState = "unknown" // neither the run nor the reference has the cell
	QuarantineExpired QuarantineState = "expired" // it blocks again
)

var quarantineStates = []QuarantineState{QuarantineUnknown, QuarantineQuiet, QuarantineUsed, QuarantineExpired}

// QuarantineUse is a quarantined cell and what became of it.
type QuarantineUse struct {
	waiver.Quarantined
	State    QuarantineState `json:"state"`
	DaysLeft int             `json:"days_left"` // after today, negative once it has expired
}

// quarantined reports whether a cell is in quarantine on this host today.
func (in *inputs) quarantined(id string) bool {
	return slices.ContainsFunc(in.policy.Quarantine, func(q waiver.Quarantined) bool {
		return q.Cell == id && in.about(q.Host) && q.Expires.Holds(in.policy.Today)
	})
}

// quarantine excuses what was measured of flaky cells, whatever it is.
// A cell that was not measured blocks all the same. It returns the verdicts and what
// became of the quarantined cells of this host.
func quarantine(in *inputs, verdicts []Verdict) ([]Verdict, []QuarantineUse) {
	var uses []QuarantineUse
	for _, q := range in.policy.Quarantine {
		if !in.about(q.Host) {
			continue
		}
		u := QuarantineUse{Quarantined: q, State: QuarantineQuiet, DaysLeft: q.Expires.DaysLeft(in.policy.Today)}
		switch {
		case !q.Expires.Holds(in.policy.Today):
			u.State = QuarantineExpired
		case !in.lists(q.Cell):
			u.State = QuarantineUnknown
		}
		for i := range verdicts {
			if v := &verdicts[i]; v.Cell == q.Cell && in.excusable(v) && v.measured() {
				u.take(v)
			}
		}
		uses = append(uses, u)
	}
	return verdicts, uses
}

// take settles a verdict that would block.
func (u *QuarantineUse) take(v *Verdict) {
	if u.State == QuarantineExpired {
		v.Reason = text.Reasons(v.Reason, fmt.Sprintf("its quarantine ended on %s: fix it, or write a new day (%s)",
			u.Expires, text.Visible(u.Owner, maxName)))
		return
	}
	u.State = QuarantineUsed
	v.Excuse = &Excuse{Kind: Quarantined, Source: u.Source, Why: u.Quarantined.Reason, By: u.Owner, Issue: u.Issue, Until: u.Expires}
}

// measured reports a verdict on what a cell did, and not on a cell that is not there.
func (v *Verdict) measured() bool {
	return v.Finding != Skipped && (v.Finding != Missing || v.Metric != "")
}

// lists reports whether either side has a cell, or declares it as left out.
func (in *inputs) lists(id string) bool {
	_, expected := in.policy.Expected[id]
	return expected || in.has(id) || in.byID[id] != nil || slices.Contains(in.run.Unselected, id) ||
		slices.ContainsFunc(in.run.LeftOut, func(o bench.LeftOut) bool { return o.Cell == id })
}

// quarantineOf sums up what became of each quarantined cell over all hosts. It is unknown
// only where no host has it.
func quarantineOf(comparisons []Comparison, p Policy) []QuarantineUse {
	var all []QuarantineUse
	for _, q := range p.Quarantine {
		sum := QuarantineUse{Quarantined: q, State: QuarantineUnknown, DaysLeft: q.Expires.DaysLeft(p.Today)}
		if !q.Expires.Holds(p.Today) {
			sum.State = QuarantineExpired
		}
		for i := range comparisons {
			for _, u := range comparisons[i].Quarantine {
				if u.Quarantined == q && slices.Index(quarantineStates, u.State) > slices.Index(quarantineStates, sum.State) {
					sum.State = u.State
				}
			}
		}
		all = append(all, sum)
	}
	return all
}
