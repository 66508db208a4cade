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
	return s.Median()
}

// otherConditions returns how the two results were measured under different binding
// conditions, or "". A side that says nothing at all agrees, but for where it was measured.
func otherConditions(ref, got *bench.Result) string {
	old, now := ref.Conditions, got.Conditions
	if len(old) == 0 && len(now) == 0 {
		return ""
	}
	silent := len(old) == 0 || len(now) == 0
	names := map[string]string{}
	maps.Copy(names, old)
	maps.Copy(names, now)
	var differ []string
	for _, name := range slices.Sorted(maps.Keys(names)) {
		if silent && !bench.Placed(name) {
			continue
		}
		if !bench.SameCondition(name, old[name], now[name]) {
			differ = append(differ, fmt.Sprintf("%s (%s, %s)", name, valueOf(name, old), valueOf(name, now)))
		}
	}
	if differ == nil {
		return ""
	}
	return "it was measured otherwise than the baseline, in " + strings.Join(differ,
		", ") + ": measure alike, or record it with baseline update --force"
}

func valueOf(condition string, in map[string]string) string {
	if bench.Placed(condition) && in[condition] == "" {
		return "none"
	}
	if in[condition] == "" {
		return "not known"
	}
	return fmt.Sprintf("%.64q", in[condition])
}

// reliability is what the measurement itself says against the result's value of the
// metric, or "".
func (m *described) reliability(r *bench.Result) string {
	if s := r.Sample(m.Name); s != nil && r.Caveat == "" {
		return s.Caveat
	}
	return r.Caveat
}

// unreliable returns why a number is not fit to be judged.
func (m *described) unreliable(r *bench.Result) string {
	if why := m.reliability(r); why != "" {
		return why
	}
	return fmt.Sprintf("rests on %g (%s) where %d are needed: measure for longer", observed(r, m.CountedBy), m.CountedBy, m.MinCount)
}

// asMuch reports whether two changes for the worse are the same factor, or the
// confirming one the larger: a latency of +x % is a ratio of -x/(1+x) %, so the
// one may be beyond the limit while the other is not.
func asMuch(v, by *Verdict) bool {
	factor := func(v *Verdict) float64 {
		if v.Old <= 0 || v.New <= 0 {
			return 1
		}
		return max(v.New/v.Old, v.Old/v.New)
	}
	const share = 0.9 // of the change, beside the noise of medians
	return by.Delta < 0 && factor(by)-1 >= share*(factor(v)-1)
}

// changeOf is the change of a verdict in its metric's own sign, with the word.
func changeOf(in *inputs, v *Verdict) string {
	better := bench.Higher
	if m := in.metric(v.Metric); m != nil {
		better = m.Better
	}
	change := better.Change(v.Delta)
	if word := better.Word(change); word != "" {
		return fmt.Sprintf("%+.3g %%, %s", change, word)
	}
	return "no change"
}

// confirm takes back regressions of a cell that another metric, which should
// confirm them, was judged and does not: the host or what it was measured
// against moved, and not the code alone.
func confirm(in *inputs, verdicts []Verdict) []Verdict {
	out := verdicts
	for i := range verdicts {
		by := unconfirmed(in, &verdicts[i], verdicts)
		if by == nil {
			continue
		}
		if &out[0] == &verdicts[0] {
			out = slices.Clone(verdicts) // each is confirmed by the others as they were
		}
		v := &out[i]
		v.undecide(ByRepeats, fmt.Sprintf("%s does not confirm it (%s), so the host or the reference drifted: measure again",
			by.Metric, changeOf(in, by)))
	}
	return out
}

// unconfirmed returns the verdict that should confirm a regression and does not; nil
// where there is none.
func unconfirmed(in *inputs, v *Verdict, all []Verdict) *Verdict {
	if v.Finding != Regressed || v.Undecided() {
		return nil
	}
	m := in.metric(v.Metric)
	if m == nil || m.ConfirmedBy == "" {
		return nil
	}
	i := slices.IndexFunc(all, func(o Verdict) bool { return o.Metric == m.ConfirmedBy })
	if i < 0 || !all[i].judged() || all[i].Finding == Regressed || all[i].Undecided() || asMuch(v, &all[i]) {
		return nil
	}
	return &all[i]
}
