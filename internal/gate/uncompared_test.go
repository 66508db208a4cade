package gate_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// in puts a result into a suite.
func in(suite string, r bench.Result) bench.Result {
	r.Cell = bench.Cell{Suite: suite, Raw: r.Cell.Raw}
	return r
}

// TestEverySuiteNeedsAComparedNumber: where a baseline is required, one number of
// each suite of which a cell passed must have been compared.
func TestEverySuiteNeedsAComparedNumber(t *testing.T) {
	t.Parallel()
	p := gate.DefaultPolicy()
	doubtful := in("s", cell("a", "decode_tps", 5.0))
	doubtful.Caveat = "the client was slow"
	tail := in("s", cell("a", "decode_tps", 5.0, "ttft_ms", 5.0))
	tail.Samples[1].Caveat = "the client was slow, once"
	good := in("fast", cell("b", "decode_tps", 5.0))
	ref := run(cell("a", "decode_tps", 5.0, "load_ms", 5.0), cell("b", "decode_tps", 5.0))
	for _, c := range []struct {
		name string
		got  []bench.Result
		want int
	}{
		{"both", []bench.Result{in("s", cell("a", "decode_tps", 5.0)), good}, 0},
		{"a doubtful tail", []bench.Result{tail, good}, 0},
		{"doubtful", []bench.Result{doubtful, good}, 1},
		{"not in the baseline", []bench.Result{in("s", cell("c", "decode_tps", 5.0)), good}, 1},
		{"informational", []bench.Result{in("s", cell("d", "load_ms", 5.0)), good}, 1},
		{"skipped", []bench.Result{in("s", cell("c!skipped")), good}, 0},
	} {
		got := gate.Compare("base", ref, run(c.got...), p)
		for i := range got.Verdicts { // what the baseline has and this run lacks is another matter
			if got.Verdicts[i].Finding == gate.Missing {
				got.Verdicts[i].Blocks = false
			}
		}
		want := gate.StatusPassed
		switch {
		case c.want > 0:
			want = gate.StatusActionRequired
		case slices.ContainsFunc(got.Verdicts, func(v gate.Verdict) bool { return v.Undecided() && v.Metric != "" && v.Old == 0 }): // no baseline records a doubtful number
			want = gate.StatusWarned
		}
		strict := p
		strict.RequireBaseline = true
		if d := gate.Decide([]gate.Comparison{got}, strict); d.Status != want || d.Uncompared != c.want {
			t.Errorf("%s: %s, %d suites, want %s, %d: %+v", c.name, d.Status, d.Uncompared, want, c.want, got.Uncompared)
		}
		if d := gate.Decide([]gate.Comparison{got}, p); d.Status != gate.StatusPassed && d.Status != gate.StatusWarned {
			t.Errorf("%s: without requiring it: %s", c.name, d.Status)
		}
	}
}

// TestOperatorCallsAreNoComparedNumber: calls that agree say nothing of speed.
func TestOperatorCallsAreNoComparedNumber(t *testing.T) {
	t.Parallel()
	e := expect("a")
	e.Operators = bench.ExpectedOperators{Entries: []bench.Entry{{Name: "gemm", Calls: 3}}, TopN: 5, Level: "fail"}
	p := policy(e)
	p.RequireBaseline = true
	r := timed("a", 5)
	r.Breakdowns = []bench.Breakdown{{Title: bench.OperatorsTitle, Unit: "s", Entries: []bench.Entry{{Name: "gemm", Total: 5, Calls: 3}}}}
	got := withTotal(run(r))
	if d := gate.Decide([]gate.Comparison{gate.Compare("", nil, got, p)}, p); d.Status != gate.StatusActionRequired {
		t.Errorf("calls of operators alone: %s, %d suites without a number", d.Status, d.Uncompared)
	}
}

// TestAPartOfTheMatrixIsNoEvidence, unless a part is what was asked for.
func TestAPartOfTheMatrixIsNoEvidence(t *testing.T) {
	t.Parallel()
	p := gate.DefaultPolicy()
	half, ref := run(cell("a", "decode_tps", 5.0)), run(cell("a", "decode_tps", 5.0))
	half.Shards = []string{"1/2"}
	c := []gate.Comparison{gate.Compare("base", ref, half, p)}
	if d := gate.Decide(c, p); d.Status != gate.StatusNoEvidence {
		t.Errorf("half of a matrix: %s", d.Status)
	}
	slow := []gate.Comparison{gate.Compare("base", run(cell("a", "decode_tps", 9.0)), half, p)}
	if d := gate.Decide(slow, p); d.Status != gate.StatusFailed {
		t.Errorf("half of a matrix that is slower: %s", d.Status)
	}
	p.Part = true
	if d := gate.Decide(c, p); d.Status != gate.StatusPassed {
		t.Errorf("the half that was asked for: %s", d.Status)
	}
}

// TestEachGatedNumberNeedsAReference where a baseline is required, although others of its cell and suite are compared.
func TestEachGatedNumberNeedsAReference(t *testing.T) {
	t.Parallel()
	both := func(cells ...bench.Result) *bench.Run {
		return run(append(cells, cell("z", "decode_tps", 5.0, "ttft_ms", 7.0, "model_load_ms", 2.0))...)
	}
	whole := cell("a", "decode_tps", 5.0, "ttft_ms", 7.0)
	budget := budgeting(fixed(), "model_load_ms", 5, "")
	for name, c := range map[string]struct {
		ref, got *bench.Run
		policy   gate.Policy
		want     string
	}{
		"all are there":               {both(whole), both(whole), fixed(), ""},
		"a number of the cell":        {both(cell("a", "decode_tps", 5.0)), both(whole), fixed(), "a ttft_ms"},
		"a cell":                      {both(), both(whole), fixed(), "a"},
		"a cell that failed":          {both(cell("a!incorrect")), both(whole), fixed(), "a"},
		"one that is only shown":      {both(whole), both(cell("a", "decode_tps", 5.0, "ttft_ms", 7.0, "model_load_ms", 3.0)), fixed(), ""},
		"one of a budget":             {both(cell("a", "decode_tps", 5.0)), both(cell("a", "decode_tps", 5.0, "model_load_ms", 3.0)), budget, "a model_load_ms"},
		"one of a budget, in no cell": {both(), both(cell("a", "model_load_ms", 3.0)), budget, "a"},
	} {
		result := gate.Compare("base", c.ref, c.got, c.policy)
		if got := strings.Join(result.Unguarded(), ", "); got != c.want {
			t.Errorf("%s: %q is not guarded, want %q", name, got, c.want)
		}
		strict, want := c.policy, gate.StatusPassed
		if c.want != "" {
			want = gate.StatusActionRequired
		}
		strict.RequireBaseline = true
		if d := gate.Decide([]gate.Comparison{result}, strict); d.Status != want {
			t.Errorf("%s: %s, want %s: %+v", name, d.Status, want, result.Verdicts)
		}
	}
}
