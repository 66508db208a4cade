package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/text"
)

// WaiverState says what became of a waiver.
type WaiverState string

// The states, from the one that needs no attention to the one that needs
// it most.
const (
	WaiverUnused   WaiverState = "unused"
	WaiverExpired  WaiverState = "expired"
	WaiverUsed     WaiverState = "used"     // a regression is within it
	WaiverExceeded WaiverState = "exceeded" // a regression is beyond it
)

var waiverStates = []WaiverState{WaiverUnused, WaiverExpired, WaiverUsed, WaiverExceeded}

// WaiverUse is a waiver and what became of it.
type WaiverUse struct {
	waiver.Entry
	State    WaiverState `json:"state"`
	DaysLeft int         `json:"days_left"` // after today, negative once it has expired
	// Note says why a waiver is not used, or what is beyond it, and what to do.
	Note string `json:"note,omitempty"`
}

// more keeps the state that matters more.
func (u *WaiverUse) more(state WaiverState, note string) {
	if slices.Index(waiverStates, state) > slices.Index(waiverStates, u.State) {
		u.State, u.Note = state, note
	}
}

// waive excuses accepted regressions. Nothing else
// can be: a wrong answer is wrong whatever a waiver says. It returns the verdicts, and
// the waivers of this host with what became of them.
func waive(in *inputs, verdicts []Verdict) ([]Verdict, []WaiverUse) {
	var uses []WaiverUse
	index := map[string][]int{} // of uses, by cell
	for _, e := range in.policy.Waivers {
		if in.about(e.Host) {
			index[e.Cell] = append(index[e.Cell], len(uses))
			uses = append(uses, unused(in, e))
		}
	}
	if len(index) == 0 {
		return verdicts, nil
	}
	verdicts = slices.Clone(verdicts)
	for i := range verdicts {
		v := &verdicts[i]
		var of []*WaiverUse
		for _, k := range index[v.Cell] {
			u := &uses[k]
			if u.Metric == v.Metric || v.Metric == "" {
				u.noted(v)
			}
			if u.Metric == v.Metric {
				of = append(of, u)
			}
		}
		if len(of) > 0 && in.excusable(v) && v.waivable() {
			verdicts[i] = waived(in.policy.Today, *v, of)
		}
	}
	return verdicts, uses
}

// waivable reports a loss of speed, also one that the host may have
// made or that could not be shown: it is no more than what was measured.
func (v *Verdict) waivable() bool {
	open := v.Finding == Unchanged && v.Undecided() && v.Delta < 0
	return (v.Finding == Regressed || open) && (v.Evidence.Method.limited() || v.Evidence.Method == MethodTest)
}

// waived settles a regression by the waivers for it, of which the one for this
// host alone counts before the one for all.
func waived(today waiver.Date, v Verdict, of []*WaiverUse) Verdict {
	slices.SortStableFunc(of, func(a, b *WaiverUse) int { return -cmp.Compare(a.Host, b.Host) })
	i := slices.IndexFunc(of, func(u *WaiverUse) bool { return u.Expires.Holds(today) })
	if i < 0 {
		u := of[0]
		u.Note = "what it was for is still slower than allowed: fix it, or write a new day"
		v.Reason = text.Reasons(v.Reason, fmt.Sprintf("its waiver up to %v %% expired on %s", u.Ceiling, u.Expires))
		return v
	}
	u := of[i]
	for _, other := range of {
		if other.State == WaiverUnused && other != u {
			other.Note = "the waiver of this host counts in its place"
		}
	}
	if why := u.beyond(&v); why != "" {
		u.more(WaiverExceeded, fmt.Sprintf("slower by %.4g %%, which is %s: fix it", -v.Delta, why))
		v.Reason = text.Reasons(v.Reason, fmt.Sprintf("%s of its waiver until %s", why, u.Expires))
		return v
	}
	u.more(WaiverUsed, "")
	v.Excuse = &Excuse{Kind: WaivedExcuse, Source: u.Source, Why: u.Entry.Reason, By: u.By, Issue: u.Issue, Until: u.Expires}
	v.Reason = text.Reasons(v.Reason, fmt.Sprintf("waived up to %v %%", u.Ceiling))
	return v
}

// beyond returns how a regression is more than its waiver allows, or "". No ceiling
// is large enough for a speed of nothing, nor for a change from 0.
func (u *WaiverUse) beyond(v *Verdict) string {
	switch {
	case v.Old == 0 || v.Old > 0 && v.New <= 0:
		return "no change in percent and beyond any ceiling"
	case !(v.Delta >= -u.Ceiling-Tolerance): // true for NaN
		return fmt.Sprintf("beyond the ceiling of %v %%", u.Ceiling)
	}
	return ""
}

// about reports whether an entry for the host with a label, or for every host where it is "", is about the host of the run.
func (in *inputs) about(host string) bool { return host == "" || host == in.run.Host.Label }

// unused is a waiver before any verdict was looked at.
func unused(in *inputs, e waiver.Entry) WaiverUse {
	u := WaiverUse{Entry: e, State: WaiverUnused, DaysLeft: e.Expires.DaysLeft(in.policy.Today)}
	switch {
	case !e.Expires.Holds(in.policy.Today):
		u.State, u.Note = WaiverExpired, "remove it"
	case slices.Contains(in.run.Unselected, e.Cell):
		u.Note = "the cell was left out by a filter"
	case in.metric(e.Metric) != nil && in.lists(e.Cell), in.policy.Expected[e.Cell].Metric == e.Metric:
		u.Note = "the metric of this cell was not judged"
	default:
		u.Note = "neither the run nor a reference has this cell and metric: correct the waiver, or remove it"
	}
	return u
}

// noted says why a waiver is of no use to a verdict, unless it turns out to be.
func (u *WaiverUse) noted(v *Verdict) {
	switch {
	case u.State != WaiverUnused:
	case v.Finding == Incorrect || v.Finding == Crashed || v.Finding == Missing:
		u.Note = "what is wrong with the cell is not its speed, which is all that can be waived: fix it"
	case v.judged() && v.Finding != Regressed && !v.Undecided():
		u.Note = "the metric is within its limit: remove it"
	}
}

// waiversOf sums up what became of each waiver of the policy over all hosts.
func waiversOf(comparisons []Comparison, p Policy) []WaiverUse {
	var all []WaiverUse
	for _, e := range p.Waivers {
		sum := WaiverUse{Entry: e, State: WaiverUnused, DaysLeft: e.Expires.DaysLeft(p.Today), Note: "no run is of this host"}
		if !e.Expires.Holds(p.Today) {
			sum.State, sum.Note = WaiverExpired, "remove it"
		}
		first := true
		for i := range comparisons {
			for _, u := range comparisons[i].Waivers {
				if u.Entry != e {
					continue
				}
				if first {
					sum, first = u, false
				}
				sum.more(u.State, u.Note)
			}
		}
		all = append(all, sum)
	}
	return all
}
