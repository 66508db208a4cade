package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/stats"
)

// Decision sums up all comparisons of one invocation.
type Decision struct {
	Status Status `json:"status"`
	// Strict is that of the policy.
	Strict bool `json:"strict,omitempty"`
	// Counts, Blocking, Undecided and Excused count verdicts by finding: all, those that block,
	// and those that do not, because they are undecided, or because they are excused.
	Counts    map[Finding]int `json:"counts"`
	Blocking  map[Finding]int `json:"blocking"`
	Undecided map[Finding]int `json:"undecided"`
	Excused   map[Finding]int `json:"excused"`
	// Losses counts the losses beyond their limits that are undecided.
	Losses   int `json:"undecided_losses,omitempty"`
	Measured int `json:"measured"` // cells
	Judged   int `json:"judged"`   // verdicts that rest on numbers of both sides
	// SpeedCells counts the cells with a speed to decide, and UndecidedCells those of them
	// of which one stays undecided.
	SpeedCells     int `json:"speed_cells,omitempty"`
	UndecidedCells int `json:"undecided_cells,omitempty"`
	// Unjudged counts the comparisons whose speed could not be judged.
	Unjudged int `json:"unjudged"`
	// Uncompared counts the suites, over all comparisons, of which not one number
	// was compared.
	Uncompared int `json:"uncompared,omitempty"`
	// Unguarded counts the cells and numbers that no loss can fail, because their reference is absent, failed or 0.
	Unguarded int `json:"unguarded,omitempty"`
	// Unbuilt says that the comparisons that block are of runs of which nothing was
	// measured, because the checkout could not be built. The exit code is that of no evidence.
	Unbuilt bool `json:"unbuilt,omitempty"`
	// Unapproved says that the pull request changes what is checked, without the
	// approval that the policy demands.
	Unapproved bool `json:"unapproved,omitempty"`
	// Waivers are all of the policy, over all comparisons, and Quarantine all quarantined
	// cells.
	Waivers    []WaiverUse     `json:"waivers,omitempty"`
	Quarantine []QuarantineUse `json:"quarantine,omitempty"`
}

// Decide sums up. The worst comparison wins; a comparison without a single cell
// that passed is no evidence, however green the others are, unless something
// failed.
func Decide(comparisons []Comparison, p Policy) Decision {
	d := Decision{Strict: p.Strict, Counts: map[Finding]int{}, Blocking: map[Finding]int{}, Undecided: map[Finding]int{},
		Excused: map[Finding]int{}, Unapproved: p.Unapproved}
	evidence, reserved := len(comparisons) > 0, false
	for i := range comparisons {
		c := &comparisons[i]
		d.Measured += c.Measured
		evidence = evidence && c.Passed > 0 && (p.Part || len(c.MissingShards) == 0)
		d.Uncompared += len(c.Uncompared)
		if p.Compat.Rules().Unguarded {
			d.Unguarded += len(c.Unguarded())
		}
		if c.Unjudged != "" {
			d.Unjudged++
		}
		d.count(c.Verdicts)
		cells, undecided := c.undecided()
		d.SpeedCells, d.UndecidedCells = d.SpeedCells+cells, d.UndecidedCells+undecided
		reserved = reserved || slices.ContainsFunc(c.Uncompared, func(u Uncompared) bool { return !u.Shown })
	}
	reserved = reserved || d.Unjudged > 0 || len(d.Undecided)+len(d.Excused) > 0
	d.Waivers, d.Quarantine = waiversOf(comparisons, p), quarantineOf(comparisons, p)
	d.Unbuilt = len(d.Blocking) > 0 && d.Blocking[Incorrect] == 0 && !slices.ContainsFunc(comparisons,
		func(c Comparison) bool { return !c.Unbuilt && c.blocks() })
	switch {
	case len(d.Blocking) > 0:
		d.Status = StatusFailed
	case !evidence:
		d.Status = StatusNoEvidence
	case d.Unjudged+d.Uncompared+d.Unguarded > 0 && p.RequireBaseline, d.Unapproved:
		d.Status = StatusActionRequired
	case d.Losses > 0:
		d.Status = StatusUndecided
	case reserved:
		d.Status = StatusWarned
	default:
		d.Status = StatusPassed
	}
	return d
}

// blocks reports whether a verdict of the comparison blocks.
func (c *Comparison) blocks() bool {
	return slices.ContainsFunc(c.Verdicts, func(v Verdict) bool { return v.Blocks })
}

func (d *Decision) count(verdicts []Verdict) {
	for i := range verdicts {
		v := &verdicts[i]
		d.Counts[v.Finding]++
		switch {
		case v.Blocks:
			d.Blocking[v.Finding]++
		case v.Excuse != nil:
			d.Excused[v.Finding]++
		case v.Undecided():
			d.Undecided[v.Finding]++
			d.Losses += stats.Indicator(v.UndecidedLoss())
		}
		if v.judged() {
			d.Judged++
		}
	}
}

// undecided counts the cells with a speed to decide, and those of them of which one
// stays undecided. The verdicts of one cell are adjacent.
func (c *Comparison) undecided() (cells, undecided int) {
	for rest := c.Verdicts; len(rest) > 0; {
		some, open, n := false, false, 0
		for ; n < len(rest) && rest[n].Cell == rest[0].Cell; n++ {
			of, undecided := rest[n].speed()
			some, open = some || of, open || undecided
		}
		cells, undecided, rest = cells+stats.Indicator(some), undecided+stats.Indicator(open), rest[n:]
	}
	return cells, undecided
}

// speed reports whether the verdict is on a speed of a cell that was to be decided,
// and whether it stays undecided. One that a host has no reference for is
// unjudged, which has a status of its own.
func (v *Verdict) speed() (of, undecided bool) {
	undecided = v.Undecided() && v.Cell != "" && v.Metric != ""
	return undecided || v.Cell != "" && v.Metric != "" && v.Evidence.Method.limited(), undecided
}
