package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// judgedOf returns the results without the values that chose a cell to be
// measured again: they are high by selection, and would count twice. Pairs stay
// whole, because what two looks at them may spend is divided between the looks.
func judgedOf(run *bench.Run) []*bench.Result {
	results := make([]*bench.Result, len(run.Results))
	for i := range run.Results {
		if results[i] = &run.Results[i]; results[i].Selected > 0 {
			results[i] = confirming(results[i])
		}
	}
	return results
}

func confirming(r *bench.Result) *bench.Result {
	out := *r
	out.Samples = slices.Clone(r.Samples)
	for i := range out.Samples {
		s := &out.Samples[i]
		all := len(s.Values)
		s.Values = r.Judged(s)
		s.Estimates = s.Estimates[min(all-len(s.Values), len(s.Estimates)):]
	}
	return &out
}

// values is how many of a metric's values were added by the second look. A
// metric that is gone has none.
func values(r *bench.Result, metric string) int {
	s := r.Sample(metric)
	switch {
	case s == nil:
		return 0
	case len(s.Base) > 0:
		return max(0, len(s.Base)-r.Selected)
	}
	return len(s.Values)
}

// Request says how a cell should be measured again.
type Request string

// The reasons to measure again.
const (
	Confirm Request = "confirm" // it looks slower: look again, apart from what made it look so
	Resolve Request = "resolve" // its numbers lie on both sides of the limit: take more of them
)

// Open returns the cells whose verdicts more values may change, in the order of
// the comparison. A cell that was measured again already is settled.
func Open(c Comparison) (ids []string, why map[string]Request) {
	why = map[string]Request{}
	for i := range c.Verdicts {
		v := &c.Verdicts[i]
		ask := v.open()
		if ask == "" || v.Cell == "" {
			continue
		}
		if why[v.Cell] == "" {
			ids = append(ids, v.Cell)
		}
		if why[v.Cell] != Confirm {
			why[v.Cell] = ask
		}
	}
	return ids, why
}

// passFirst is the p above which a first look is enough.
const passFirst = 0.2

func (v *Verdict) open() Request {
	switch e := &v.Evidence; {
	case e.Again > 0, v.DecidedBy == ByNewBaseline:
		return ""
	case v.loss() && !v.Undecided() && (v.Blocks || v.Excused() == AdvisoryLevel) && !e.Method.Statistics(),
		v.Finding == Regressed && v.Undecided() && e.Method.medians() && v.Delta < -e.Limit-Tolerance:
		return Confirm // the latter may be chance, or was measured on an unhealthy host
	case e.Method == MethodPairs:
		return "" // see Pairs
	case e.Method == MethodHistory && v.Delta < 0 && e.P <= passFirst && v.Finding != Improved:
		return Confirm
	case e.Method.medians() && e.NewN > 1 && v.straddles():
		return Resolve
	}
	return ""
}

// Pairs returns how many pairs each cell is to have before more can be said of it,
// by id; what is settled is not in it. A fit asks for all of its cells. See [detect.Stages].
func Pairs(c Comparison) map[string]int {
	need := map[string]int{}
	for i := range c.Verdicts {
		v := &c.Verdicts[i]
		ids := []string{v.Cell}
		if v.Budget > 0 {
			ids = c.Budgets[v.Budget-1].ids
		}
		for _, id := range ids {
			if v.Evidence.Need > 0 && id != "" {
				need[id] = max(need[id], v.Evidence.Need)
			}
		}
	}
	return need
}

// Later returns how many pairs of each cell are expected beyond those that it needs, by id.
func Later(run *bench.Run, c Comparison) map[string]float64 {
	later, s := map[string]float64{}, stages(run)
	for i := range c.Verdicts {
		v := &c.Verdicts[i]
		p, used := v.Evidence.P, v.Evidence.Pairs
		if t := v.Evidence.Processor; t != nil && t.Pairs > 0 && t.P < p {
			p, used = t.P, t.Pairs
		}
		if v.Evidence.Need > 0 && v.Cell != "" && used > 0 {
			later[v.Cell] = max(later[v.Cell], s.Later(p, used, v.Evidence.Need))
		}
	}
	return later
}

// straddles reports whether single values lie on both sides of the limit.
func (v *Verdict) straddles() bool {
	limit := -v.Evidence.Limit
	return v.Finding == Unchanged && !v.Undecided() && v.Interval[0] < limit-Tolerance && v.Interval[1] > limit
}
