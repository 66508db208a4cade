package gate_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

func TestMSModelingTotal(t *testing.T) {
	t.Parallel()
	const base, initial = bench.BaselineReference, bench.InitialReference
	for _, tt := range []struct {
		name    string
		e       bench.Expected
		seconds float64
		status  compat.CheckStatus
		want    []string
	}{
		{"both within", expect("a", initial, 10.0, 0.1, base, 10.0, 0.2), 10.5, compat.CheckPass,
			[]string{"a total_time_s unchanged -5"}},
		{"exactly the tolerance", expect("a", initial, 8.0, 0.125, base, 8.0, 0.125), 9, compat.CheckPass,
			[]string{"a total_time_s unchanged -12.5"}},
		{"exactly the tolerance, faster", expect("a", initial, 8.0, 0.125, base, 8.0, 0.125), 7, compat.CheckPass,
			[]string{"a total_time_s unchanged 12.5"}},
		{"no room for rounding", expect("a", base, 8.0, 0.125), 9.0000001, compat.CheckFailBase,
			[]string{"a total_time_s regressed blocks -12.5"}},
		{"too slow for the initial value", expect("a", initial, 10.0, 0.1, base, 10.0, 0.2), 11.5, compat.CheckFailInit,
			[]string{"a total_time_s regressed blocks -15"}},
		{"too fast for the baseline", expect("a", initial, 8.0, 0.1, base, 10.0, 0.1), 8, compat.CheckFailBase,
			[]string{"a total_time_s unrecorded blocks 20"}},
		{"too slow for both", expect("a", initial, 10.0, 0.1, base, 8.0, 0.1), 12, compat.CheckFailBoth,
			[]string{"a total_time_s regressed blocks -20", "a total_time_s regressed blocks -50"}},
		{"too slow for one and too fast for the other", expect("a", initial, 10.0, 0.1, base, 20.0, 0.1), 15, compat.CheckFailBoth,
			[]string{"a total_time_s regressed blocks -50", "a total_time_s unrecorded blocks 25"}},
		{"one reference", expect("a", initial, 10.0, 0.1), 12, compat.CheckFailInit, []string{"a total_time_s regressed blocks -20"}},
		{"a reference of 0 is none", expect("a", initial, 0.0, 0.1, base, 10.0, 0.1), 10, compat.CheckPass,
			[]string{"a total_time_s unchanged 0"}},
		{"no reference", expect("a"), 12, compat.CheckNoBaseline, []string{"a total_time_s untracked 0"}},
		{"a time of nothing", expect("a", base, 10.0, 0.1), 0, compat.CheckFailBase, []string{"a total_time_s unrecorded blocks 100"}},
		{"a tolerance of everything", expect("a", base, 10.0, 1.0), 0, compat.CheckPass, []string{"a total_time_s unchanged 100"}},
	} {
		tt.e.Exact, tt.e.Drift, tt.e.NoReference = true, "warn", "fail" // which the original does not know
		p := policy(tt.e)
		p.Compat = compat.MSModeling
		c := gate.Compare("", nil, withTotal(run(timed("a", tt.seconds))), p)
		if diff := cmp.Diff(tt.want, lines(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if len(c.Checks) != 1 || c.Checks[0].Status != tt.status {
			t.Errorf("%s: checks %+v, want one that is %s", tt.name, c.Checks, tt.status)
		}
	}
}

// TestMSModelingIgnoresTheBaseline: cells of other suites are judged as ever.
func TestMSModelingIgnoresTheBaseline(t *testing.T) {
	t.Parallel()
	p := policy(expect("a", bench.BaselineReference, 10.0, 0.1), expect("b"), expect("c"))
	p.Compat, p.RequireBaseline = compat.MSModeling, true
	ref := withTotal(run(timed("a", 1), cell("b!failed"), cell("c!failed"), timed("z", 10)))
	c := gate.Compare("base", ref, withTotal(run(timed("a", 10), cell("b!failed"), timed("z", 12))), p)
	want := []string{"a total_time_s unchanged 0", "b crashed blocks -100", "z total_time_s regressed blocks -20",
		"c missing blocks 0"}
	if diff := cmp.Diff(want, lines(c)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if len(ref.Results) != 4 || ref.Results[0].Cell.ID() != "a" {
		t.Errorf("the baseline was changed: %+v", ref.Results)
	}

	// A baseline of other machines with nothing else in it does not matter, and
	// no baseline is needed for a case without a time.
	other := withTotal(run(timed("a", 1), timed("b", 1)))
	other.Host.Accelerators = []bench.Accelerator{{Vendor: "nvidia", Model: "H100"}}
	delete(p.Expected, "c")
	c = gate.Compare("base", other, withTotal(run(timed("a", 10), timed("b", 1))), p)
	if d := gate.Decide([]gate.Comparison{c}, p); d.Status != gate.StatusPassed || c.Unjudged != "" {
		t.Errorf("%+v, unjudged %q: %v", d, c.Unjudged, lines(c))
	}
	if c = gate.Compare("", nil, withTotal(run(timed("b", 1), cell("a!skipped"))), p); c.Unjudged == "" {
		t.Errorf("nothing was judged, and the comparison does not state so: %v", lines(c))
	}
}
