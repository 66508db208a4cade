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

// budgeting adds a budget over the cells whose ids begin with prefix.
func budgeting(p gate.Policy, metric string, loss float64, prefix string) gate.Policy {
	selects := func(c bench.Cell) bool { return strings.HasPrefix(c.ID(), prefix) }
	p.Rules = append(slices.Clone(p.Rules), &gate.Budget{Scope: gate.Scope{Metric: metric, Selects: selects}, Loss: loss})
	return p
}

// spent is the verdict on the budget; its finding is "" where there is none.
func spent(c gate.Comparison) (v gate.Verdict) {
	for _, one := range c.Verdicts {
		if one.Budget > 0 {
			return one
		}
	}
	return v
}

func TestBudgets(t *testing.T) {
	ref := func() *bench.Run {
		return run(cell("a1", "decode_tps", 100.0), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0))
	}
	other := run(cell("a1", "decode_tps", 90.0), cell("a2", "decode_tps", 400.0))
	other.Host.CPU = "another"
	informational := func(r *bench.Run) *bench.Run {
		r.Metrics = append([]bench.Metric(nil), metrics...)
		r.Metrics[1].Informational = true
		return r
	}
	for name, c := range map[string]struct {
		ref, got *bench.Run
		loss     float64
		want     string
	}{
		"within":                        {ref(), run(cell("a1", "decode_tps", 99.0), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0)), 1, "unchanged -0.5013"},
		"exactly the loss":              {ref(), run(cell("a1", "decode_tps", 98.0), cell("a2", "decode_tps", 392.0), cell("b", "decode_tps", 100.0)), 2, "unchanged -2"},
		"beyond":                        {ref(), run(cell("a1", "decode_tps", 98.0), cell("a2", "decode_tps", 390.0), cell("b", "decode_tps", 100.0)), 2, "over_budget blocks -2.25"},
		"one cell makes up for another": {ref(), run(cell("a1", "decode_tps", 91.0), cell("a2", "decode_tps", 440.0), cell("b", "decode_tps", 100.0)), 1, "unchanged 0.04999"},
		"other cells do not count":      {ref(), run(cell("a1", "decode_tps", 100.0), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 50.0)), 1, "unchanged 0"},
		"a cell of zero":                {ref(), run(cell("a1", "decode_tps", 0.0), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0)), 1, "incomparable blocks 0"},
		"a baseline of zero":            {run(cell("a1", "decode_tps", 0.0), cell("a2", "decode_tps", 4.0)), run(cell("a1", "decode_tps", 1.0), cell("a2", "decode_tps", 4.0)), 1, "incomparable blocks 0"},
		"a cell of infinity":            {ref(), run(cell("a1", "decode_tps", math.Inf(1)), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0)), 1, "incomparable blocks 0"},
		"a cell of NaN":                 {ref(), run(cell("a1", "decode_tps", math.NaN()), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0)), 1, "incomparable blocks 0"},
		"a metric that is gone":         {ref(), run(cell("a1"), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0)), 1, "incomparable blocks 0"},
		"an informational one is gone":  {informational(ref()), informational(run(cell("a1"), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0))), 1, "incomparable blocks 0"},
		"an informational one is less":  {informational(ref()), informational(run(cell("a1", "decode_tps", 50.0), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0))), 1, "over_budget blocks -29.29"},
		"informational on one side":     {ref(), informational(run(cell("a1", "decode_tps", 50.0), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0))), 1, "incomparable blocks 0"},
		"a cell that fails":             {ref(), run(cell("a1!incorrect"), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0)), 1, "incomparable ?whole_group 0"},
		"a cell that is gone":           {ref(), run(cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0)), 1, "incomparable ?whole_group 0"},
		"the whole group is gone":       {ref(), run(cell("b", "decode_tps", 100.0)), 1, "incomparable ?whole_group 0"},
		"a known failure is left out":   {run(cell("a1!incorrect"), cell("a2", "decode_tps", 400.0)), run(cell("a1!incorrect"), cell("a2", "decode_tps", 300.0)), 1, "over_budget blocks -25"},
		"a new cell is left out":        {run(cell("a2", "decode_tps", 400.0)), run(cell("a1", "decode_tps", 1.0), cell("a2", "decode_tps", 400.0)), 1, "unchanged 0"},
		"only new cells":                {run(cell("b", "decode_tps", 100.0)), run(cell("a1", "decode_tps", 1.0), cell("b", "decode_tps", 100.0)), 1, "untracked 0"},
		"another machine":               {run(cell("a1", "decode_tps", 100.0), cell("a2", "decode_tps", 400.0)), other, 1, "untracked 0"},
		"no baseline":                   {nil, run(cell("a1", "decode_tps", 1.0)), 1, "untracked 0"},
		"a group of one cell":           {run(cell("a1", "decode_tps", 100.0)), run(cell("a1", "decode_tps", 98.9)), 1, "over_budget blocks -1.1"},
	} {
		p := budgeting(fixed(), "decode_tps", c.loss, "a")
		result := gate.Compare("base", c.ref, c.got, p)
		v := spent(result)
		if got := strings.Join(strings.Fields(fmt.Sprintf("%s %s %.4g", v.Finding, standing(&v), v.Delta+0)), " "); got != c.want {
			t.Errorf("%s: %s (%s), want %s", name, got, v.Reason, c.want)
		}
		if status := gate.Decide([]gate.Comparison{result}, p).Status; v.Blocks && status != gate.StatusFailed {
			t.Errorf("%s: the decision is %s", name, status)
		}
	}
}

// TestBudgetsLeaveFilteredGroupsAlone: a run of other cells says nothing of a budget, and
// one of some of its cells decides nothing.
func TestBudgetsLeaveFilteredGroupsAlone(t *testing.T) {
	ref := run(cell("a1", "decode_tps", 100.0), cell("a2", "decode_tps", 400.0), cell("b", "decode_tps", 100.0))
	p := budgeting(fixed(), "decode_tps", 1, "a")
	got := run(cell("b", "decode_tps", 100.0))
	got.Unselected = []string{"a1", "a2"}
	if c := gate.Compare("base", ref, got, p); len(c.Budgets) != 0 || spent(c).Finding != "" {
		t.Errorf("%+v", c.Budgets)
	}
	got = run(cell("a1", "decode_tps", 50.0))
	got.Unselected = []string{"a2", "b"}
	if v := spent(gate.Compare("base", ref, got, p)); !v.Undecided() || !v.Reserved() || !strings.Contains(v.Reason, "lacks 2 cells") {
		t.Errorf("%+v", v)
	}
}

// TestBudgetsByEvidence: in pairs, against earlier runs and between two sessions, a loss
// of the mean blocks where it is certain, and is inconclusive where it is not.
func TestBudgetsByEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 23))
	paired := func(cells int, level float64) (ref, got *bench.Run) {
		got = run()
		for i := range cells {
			got.Results = append(got.Results, inTurns(fmt.Sprint("a", i), noisy(r, level, 0.01, 2), noisy(r, 100, 0.01, 2)))
		}
		return nil, got
	}
	earlier := func(cells, heads int, level, now float64) (ref, got *bench.Run) {
		ref, got = run(), run()
		for i := range cells {
			one := inTurns(fmt.Sprint("a", i), noisy(r, now, 0.01, heads), nil)
			one.Sessions = heads
			got.Results, ref.Results = append(got.Results, one), append(ref.Results, withHistory(fmt.Sprint("a", i), level, noisy(r, 100, 0.01, 12)))
		}
		return ref, got
	}
	sessions := func(cells int, level float64) (ref, got *bench.Run) {
		ref, got = run(), run()
		for i := range cells {
			old := inTurns(fmt.Sprint("a", i), noisy(r, 100, 0.003, 5), nil)
			got.Results, ref.Results = append(got.Results, inTurns(fmt.Sprint("a", i), noisy(r, level, 0.003, 5), nil)), append(ref.Results, old)
		}
		return ref, got
	}
	type sides struct{ ref, got *bench.Run }
	of := func(ref, got *bench.Run) sides { return sides{ref, got} }
	for name, c := range map[string]struct {
		sides
		want   string
		method gate.Method
	}{
		"pairs, 3 % slower":                        {of(paired(40, 103)), "over_budget blocks ", gate.MethodPairs},
		"pairs, unchanged":                         {of(paired(40, 100)), "unchanged ", gate.MethodPairs},
		"pairs, faster":                            {of(paired(40, 95)), "unchanged ", gate.MethodPairs},
		"2 pairs of one cell":                      {of(paired(1, 110)), "unchanged ?more_pairs ", gate.MethodPairs},
		"3 runs against history, 3 % slower":       {of(earlier(40, 3, 100, 103)), "over_budget blocks ", gate.MethodHistory},
		"3 runs against history, unchanged":        {of(earlier(40, 3, 100, 100)), "unchanged ", gate.MethodHistory},
		"3 runs, a loss that the baseline has":     {of(earlier(40, 3, 103, 103)), "unchanged ", gate.MethodHistory},
		"1 run against history is never convicted": {of(earlier(40, 1, 100, 110)), "over_budget ?pairs ", gate.MethodHistory},
		"two sessions, 3 % slower":                 {of(sessions(40, 103)), "unchanged ?pairs ", gate.MethodSessions},
		"two sessions, 30 % slower":                {of(sessions(40, 130)), "over_budget blocks ", gate.MethodSessions},
	} {
		p := budgeting(gate.DefaultPolicy(), "ttft_ms", 1, "a")
		v := spent(gate.Compare("base", c.ref, c.got, p))
		if got := fmt.Sprintf("%s %s", v.Finding, standing(&v)); got != c.want || v.Evidence.Method != c.method || v.Undecided() && v.Reason == "" {
			t.Errorf("%s: %s %+v %v (%s), want %s", name, got, v.Evidence, v.Interval, v.Reason, c.want)
		}
		if v.Interval[0] > v.Delta+1e-9 || v.Interval[1] < v.Delta-1e-9 {
			t.Errorf("%s: %v is outside of its interval %v", name, v.Delta, v.Interval)
		}
	}
}

// TestBudgetsOfAnUnhealthyHost: a loss that an unhealthy host may have made is inconclusive.
func TestBudgetsOfAnUnhealthyHost(t *testing.T) {
	ref, got := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 50.0))
	got.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"hot"}}
	v := spent(gate.Compare("base", ref, got, budgeting(fixed(), "decode_tps", 1, "a")))
	if !v.Undecided() || !v.Reserved() || v.Health == "" {
		t.Errorf("%+v", v)
	}
}

// TestBudgetsChangeNoCell: where the share of false alarms is not what decides, cells have
// the verdicts that they have without budgets.
func TestBudgetsChangeNoCell(t *testing.T) {
	ref, got := run(cell("a", "decode_tps", 100.0), cell("b", "decode_tps", 100.0)), run(cell("a", "decode_tps", 95.0), cell("b", "decode_tps", 80.0))
	without := lines(gate.Compare("base", ref, got, fixed()))
	with := lines(gate.Compare("base", ref, got, budgeting(fixed(), "decode_tps", 1, "a")))
	if strings.Join(with[1:], "\n") != strings.Join(without, "\n") {
		t.Errorf("%q, without budgets %q", with, without)
	}
}
