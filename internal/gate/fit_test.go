package gate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// fitting fits the metric over the number in the ids of cells "a1", "a2", "a4": the letter is the group.
func fitting(p gate.Policy, metric string, slope, intercept gate.FitLimit) gate.Policy {
	p.Rules = append(slices.Clone(p.Rules), &gate.Fit{Scope: gate.Scope{Metric: metric}, Over: "context", Per: 1, Slope: slope, Intercept: intercept, At: func(c bench.Cell) (group string, x float64, ok bool) {
		_, err := fmt.Sscanf(c.ID()[1:], "%g", &x)
		return c.ID()[:1], x, err == nil
	}})
	return p
}

// line are cells whose time is intercept + slope x, with these values for x 1, 2, 4 and 8 each.
func line(group string, intercept, slope float64, values func(level float64) []float64) (list []bench.Result) {
	for _, x := range []float64{1, 2, 4, 8} {
		list = append(list, inTurns(fmt.Sprint(group, x), values(intercept+slope*x), nil))
	}
	return list
}

func once(level float64) []float64 { return []float64{level} }

// fitted writes the verdicts on fits: "class level delta".
func fitted(c gate.Comparison) (list []string) {
	for _, v := range c.Verdicts {
		if v.Budget > 0 {
			line := fmt.Sprintf("%s %s %s %.4g", c.Budgets[v.Budget-1].Fit.Of, v.Finding, standing(&v), math.Round(1e6*v.Delta)/1e6+0)
			list = append(list, strings.Join(strings.Fields(line), " "))
		}
	}
	return list
}

func TestFitsByMedians(t *testing.T) {
	t.Parallel()
	ref := func() *bench.Run { return run(line("a", 10, 5, once)...) }
	change := func(percent float64) gate.FitLimit { return gate.FitLimit{Change: &percent} }
	without := func(r *bench.Run, i int, f func(*bench.Result)) *bench.Run { f(&r.Results[i]); return r }
	other := ref()
	other.Host.CPU = "another"
	for name, c := range map[string]struct {
		ref, got         *bench.Run
		slope, intercept gate.FitLimit
		want             string
	}{
		"unchanged":               {ref(), ref(), change(5), change(5), "slope unchanged 0; intercept unchanged 0"},
		"a steeper line":          {ref(), run(line("a", 10, 5.5, once)...), change(5), change(5), "slope regressed blocks -10; intercept unchanged 0"},
		"a higher line":           {ref(), run(line("a", 12, 5, once)...), change(5), change(5), "slope unchanged 0; intercept regressed blocks -20"},
		"exactly the limit":       {ref(), run(line("a", 10, 5.25, once)...), change(5), gate.FitLimit{}, "slope unchanged -5"},
		"a flatter line":          {ref(), run(line("a", 10, 4, once)...), change(5), gate.FitLimit{}, "slope unchanged 20"},
		"two groups":              {run(append(line("a", 10, 5, once), line("b", 1, 1, once)...)...), run(append(line("a", 10, 5, once), line("b", 1, 2, once)...)...), change(5), gate.FitLimit{}, "slope unchanged 0; slope regressed blocks -100"},
		"a slope of 0":            {run(line("a", 10, 0, once)...), run(line("a", 10, 1, once)...), change(5), gate.FitLimit{}, "slope incomparable ?new_baseline 0"},
		"within the bound":        {nil, ref(), gate.FitLimit{Max: new(5.0)}, gate.FitLimit{}, "slope unchanged 0"},
		"beyond a bound":          {nil, ref(), gate.FitLimit{Max: new(4.9)}, gate.FitLimit{Min: new(11.0)}, "slope out_of_bounds blocks 0; intercept out_of_bounds blocks 0"},
		"a change and a bound":    {ref(), run(line("a", 10, 6, once)...), gate.FitLimit{Change: new(5.0), Max: new(5.5)}, gate.FitLimit{}, "slope regressed blocks -20; slope out_of_bounds blocks 0"},
		"a cell that fails":       {ref(), without(ref(), 1, func(r *bench.Result) { r.Outcome = bench.Failed }), change(5), gate.FitLimit{Max: new(1000.0)}, "slope incomparable ?whole_group 0; intercept incomparable ?whole_group 0"},
		"a metric that is gone":   {ref(), without(ref(), 1, func(r *bench.Result) { r.Samples = nil }), change(5), gate.FitLimit{Max: new(1000.0)}, "slope incomparable blocks 0; intercept incomparable ?whole_group 0"},
		"a cell that is gone":     {ref(), run(line("a", 10, 5, once)[:3]...), change(5), gate.FitLimit{Max: new(1000.0)}, "slope incomparable ?whole_group 0; intercept incomparable ?whole_group 0"},
		"a new point":             {run(line("a", 10, 5, once)[:3]...), run(line("a", 10, 6, once)...), change(5), gate.FitLimit{}, "slope regressed blocks -20"},
		"two points to compare":   {run(line("a", 10, 5, once)[:2]...), run(line("a", 10, 6, once)...), change(5), gate.FitLimit{}, "slope incomparable ?whole_group 0"},
		"no baseline":             {nil, ref(), change(5), gate.FitLimit{}, "slope untracked 0"},
		"another machine":         {ref(), other, change(5), gate.FitLimit{}, "slope untracked 0"},
		"a value of infinity":     {ref(), without(ref(), 1, func(r *bench.Result) { r.Samples[0].Values[0] = math.Inf(1) }), change(5), gate.FitLimit{Max: new(5.0)}, "slope incomparable blocks 0; intercept incomparable ?whole_group 0"},
		"a value of NaN":          {ref(), without(ref(), 1, func(r *bench.Result) { r.Samples[0].Values[0] = math.NaN() }), gate.FitLimit{}, gate.FitLimit{Max: new(5.0)}, "intercept incomparable ?whole_group 0"},
		"two points in the suite": {nil, run(line("a", 10, 5, once)[:2]...), gate.FitLimit{Max: new(1.0)}, gate.FitLimit{}, "slope incomparable ?whole_group 0"},
	} {
		p := fitting(fixed(), "ttft_ms", c.slope, c.intercept)
		result := gate.Compare("base", c.ref, c.got, p)
		if got := strings.Join(fitted(result), "; "); got != c.want {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		for _, v := range result.Verdicts {
			if v.Budget > 0 && v.Listed() && v.Reason == "" {
				t.Errorf("%s: %+v has no reason", name, v)
			}
		}
	}
}

// TestFitsByEvidence: a change of a coefficient blocks where its standard error excludes chance.
func TestFitsByEvidence(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(26, 4))
	paired := func(intercept, slope, noise float64, n int) (ref, got *bench.Run) {
		got = run(line("a", intercept, slope, func(level float64) []float64 { return noisy(r, level, noise, n) })...)
		for i, x := range []float64{1, 2, 4, 8} {
			got.Results[i].Samples[0].Base = noisy(r, 10+5*x, noise, n)
		}
		return nil, got
	}
	sessions := func(intercept, slope, noise float64) (ref, got *bench.Run) {
		some := func(level float64) []float64 { return noisy(r, level, noise, 5) }
		return run(line("a", 10, 5, some)...), run(line("a", intercept, slope, some)...)
	}
	type sides struct{ ref, got *bench.Run }
	of := func(ref, got *bench.Run) sides { return sides{ref, got} }
	for name, c := range map[string]struct {
		sides
		want string
	}{
		"pairs, steeper":          {of(paired(10, 6, 0.002, 30)), "slope regressed blocks"},
		"pairs, unchanged":        {of(paired(10, 5, 0.002, 30)), "slope unchanged"},
		"pairs, flatter":          {of(paired(10, 4, 0.002, 30)), "slope unchanged"},
		"pairs, in noise":         {of(paired(10, 5.5, 0.3, 30)), "slope unchanged ?more_pairs"},
		"pairs, undecided":        {of(paired(10, 6, 0.002, 2)), "slope unchanged ?more_pairs"},
		"single pairs":            {of(paired(10, 8, 0.002, 1)), "slope unchanged ?more_pairs"},
		"two sessions, unchanged": {of(sessions(10, 5, 0.001)), "slope unchanged ?pairs"}, // they may differ by more than 5 %
		"two sessions, twice":     {of(sessions(10, 10, 0.001)), "slope regressed blocks"},
		"two sessions, 8 %":       {of(sessions(10, 5.4, 0.02)), "slope unchanged ?pairs"},
	} {
		p := fitting(gate.DefaultPolicy(), "ttft_ms", gate.FitLimit{Change: new(5.0)}, gate.FitLimit{})
		result := gate.Compare("base", c.ref, c.got, p)
		got := strings.Join(fitted(result), "; ")
		if !strings.HasPrefix(got, c.want) || len(result.Budgets) != 1 {
			t.Errorf("%s: %s, want %s", name, got, c.want)
		}
		for _, v := range result.Verdicts {
			if v.Budget > 0 && (v.Interval[0] > v.Delta || v.Interval[1] < v.Delta || v.Listed() && v.Reason == "") {
				t.Errorf("%s: %+v", name, v)
			}
		}
	}
}

// TestFitBoundsAreCertain: points beside the line leave a bound open that they may be within.
func TestFitBoundsAreCertain(t *testing.T) {
	t.Parallel()
	crooked := run(line("a", 10, 5, once)...)
	crooked.Results[1].Samples[0].Values[0] *= 1.5
	p := fitting(gate.DefaultPolicy(), "ttft_ms", gate.FitLimit{Max: new(4.0)}, gate.FitLimit{})
	if got := fitted(gate.Compare("", nil, crooked, p)); got[0] != "slope out_of_bounds ?repeats 0" {
		t.Errorf("%q", got)
	}
	if got := fitted(gate.Compare("", nil, run(line("a", 10, 5, once)...), p)); got[0] != "slope out_of_bounds blocks 0" {
		t.Errorf("%q", got)
	}
}

// TestFitsAskForPairs: a fit that may be worse needs more pairs of all of its cells, and one that
// looks better needs none.
func TestFitsAskForPairs(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(26, 5))
	for _, c := range []struct {
		slope      float64
		have, need int
	}{{5.1, 2, 5}, {5.1, 5, 10}, {5.1, 10, 30}, {5.1, 30, 0}, {4, 2, 0}} {
		got := run(line("a", 10, c.slope, func(level float64) []float64 { return noisy(r, level, 0.0001, c.have) })...)
		for i, x := range []float64{1, 2, 4, 8} {
			got.Results[i].Samples[0].Base = noisy(r, 10+5*x, 0.0001, c.have)
		}
		p := fitting(limiting(gate.DefaultPolicy(), "ttft_ms", gate.Limit{Change: &gate.Change{Percent: 50}}), "ttft_ms", gate.FitLimit{Change: new(1.0)}, gate.FitLimit{})
		need := gate.Pairs(gate.Compare("", nil, got, p))
		for _, result := range got.Results {
			if have := need[result.Cell.ID()]; have != c.need {
				t.Errorf("%v: %s needs %d pairs, want %d", c, result.Cell.ID(), have, c.need)
			}
		}
	}
}
