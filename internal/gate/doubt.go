package gate

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// tooFew reports whether the result's value of the metric rests on fewer
// observations than a judgement needs.
func (m *described) tooFew(r *bench.Result) bool {
	return m.CountedBy != "" && observed(r, m.CountedBy) < float64(m.MinCount)
}

func observed(r *bench.Result, counter string) float64 {
	s := r.Sample(counter)
	if s == nil {
		return 0
	}
	return summarize(s).Median
}

// asked says how the two results were measured under different binding
// conditions, or "". A side that says nothing of a condition agrees.
func asked(ref, got *bench.Result) string {
	old, now := ref.Conditions(), got.Conditions()
	if len(old) == 0 || len(now) == 0 {
		return ""
	}
	names := maps.Clone(old)
	maps.Copy(names, now)
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if old[name] != now[name] {
			differ = append(differ, fmt.Sprintf("%s (%s, %s)", name, shown(old[name]), shown(now[name])))
		}
	}
	if differ == nil {
		return ""
	}
	return "it was measured otherwise than the baseline, in " + strings.Join(differ, ", ") + ": measure alike, or record it with baseline update --force"
}

// doubt is what the measurement itself says against the result's value of the
// metric, or "".
func (m *described) doubt(r *bench.Result) string {
	if s := r.Sample(m.Name); s != nil && r.Doubt == "" {
		return s.Doubt
	}
	return r.Doubt
}

// doubtful says why a number is not fit to be judged.
func (m *described) doubtful(r *bench.Result) string {
	if why := m.doubt(r); why != "" {
		return why
	}
	return fmt.Sprintf("rests on %g (%s) where %d are needed: measure for longer", observed(r, m.CountedBy), m.CountedBy, m.MinCount)
}

// asMuch reports whether two changes for the worse are the same factor, or the
// confirming one the larger: a latency of +x % is a ratio of -x/(1+x) %, so the
// one may be beyond the limit while the other is not.
func (c *comparer) asMuch(v, by *Verdict) bool {
	factor := func(v *Verdict) float64 {
		if v.Old <= 0 || v.New <= 0 {
			return 1
		}
		return max(v.New/v.Old, v.Old/v.New)
	}
	const share = 0.9 // of the change, beside the noise of medians
	return by.Delta < 0 && factor(by)-1 >= share*(factor(v)-1)
}

// confirm takes back regressions of a cell that another metric, which should
// confirm them, was judged and does not: the host or what it was measured
// against moved, and not the code alone.
func (c *comparer) confirm(verdicts []Verdict) {
	was := slices.Clone(verdicts)
	for i := range verdicts {
		v := &verdicts[i]
		m := slices.IndexFunc(c.metrics, func(m described) bool { return m.Name == v.Metric })
		if v.Class != Regressed || m < 0 || c.metrics[m].ConfirmedBy == "" {
			continue
		}
		by := c.metrics[m].ConfirmedBy
		j := slices.IndexFunc(was, func(o Verdict) bool { return o.Metric == by })
		if j >= 0 && was[j].judged() && was[j].Class != Regressed && was[j].Class != Inconclusive && !c.asMuch(v, &was[j]) {
			v.Class, v.Level = Inconclusive, Warn
			v.Reason = joined(v.Reason, fmt.Sprintf("%s does not confirm it (%+.3g %%), so the host or the reference drifted: measure again", by, was[j].Delta))
		}
	}
}
