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
		status  gate.CheckStatus
		want    []string
	}{
		{"both within", expect("a", initial, 10.0, 0.1, base, 10.0, 0.2), 10.5, gate.CheckPass,
			[]string{"a total_time_s unchanged -5"}},
		{"exactly the tolerance", expect("a", initial, 8.0, 0.125, base, 8.0, 0.125), 9, gate.CheckPass,
			[]string{"a total_time_s unchanged -12.5"}},
		{"exactly the tolerance, faster", expect("a", initial, 8.0, 0.125, base, 8.0, 0.125), 7, gate.CheckPass,
			[]string{"a total_time_s unchanged 12.5"}},
		{"no room for rounding", expect("a", base, 8.0, 0.125), 9.0000001, gate.CheckFailBase,
			[]string{"a total_time_s regressed blocks -12.5"}},
		{"too slow for the initial value", expect("a", initial, 10.0, 0.1, base, 10.0, 0.2), 11.5, gate.CheckFailInit,
			[]string{"a total_time_s regressed blocks -15"}},
		{"too fast for the baseline", expect("a", initial, 8.0, 0.1, base, 10.0, 0.1), 8, gate.CheckFailBase,
			[]string{"a total_time_s unrecorded blocks 20"}},
		{"too slow for both", expect("a", initial, 10.0, 0.1, base, 8.0, 0.1), 12, gate.CheckFailBoth,
			[]string{"a total_time_s regressed blocks -20", "a total_time_s regressed blocks -50"}},
		{"too slow for one and too fast for the other", expect("a", initial, 10.0, 0.1, base, 20.0, 0.1), 15, gate.CheckFailBoth,
			[]string{"a total_time_s regressed blocks -50", "a total_time_s unrecorded blocks 25"}},
		{"one reference", expect("a", initial, 10.0, 0.1), 12, gate.CheckFailInit, []string{"a total_time_s regressed blocks -20"}},
		{"a reference of 0 is none", expect("a", initial, 0.0, 0.1, base, 10.0, 0.1), 10, gate.CheckPass,
			[]string{"a total_time_s unchanged 0"}},
		{"no reference", expect("a"), 12, gate.CheckNoBaseline, []string{"a total_time_s untracked 0"}},
		{"a time of nothing", expect("a", base, 10.0, 0.1), 0, gate.CheckFailBase, []string{"a total_time_s unrecorded blocks 100"}},
		{"a tolerance of everything", expect("a", base, 10.0, 1.0), 0, gate.CheckPass, []string{"a total_time_s unchanged 100"}},
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

func TestMSModelingOperators(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		recorded []bench.Entry
		topN     int
		got      bench.Result
		status   gate.OperatorStatus
		rows     []string // name, change, status
		lines    []string
	}{
		{"equal", entries("mm", 0.5, 3, "add", 0.25, 1), 2, operating(timed("a", 1), "s", "mm", 0.5, 3, "add", 0.25, 1), gate.OperatorsPass,
			[]string{"mm  PASS", "add  PASS"}, nil},
		{"exactly the tolerance, to both sides", entries("mm", 0.5, 3, "add", 0.25, 1), 2,
			operating(timed("a", 1), "s", "mm", 0.5625, 3, "add", 0.21875, 1), gate.OperatorsPass,
			[]string{"mm  PASS", "add  PASS"}, nil},
		{"slower, faster", entries("mm", 0.5, 3, "add", 0.25, 1), 2, operating(timed("a", 1), "s", "mm", 0.75, 3, "add", 0.125, 1),
			gate.OperatorsWarn,
			[]string{"mm  WARN", "add  WARN"},
			[]string{"  mm: +50.00% (baseline=500.000ms, actual=750.000ms)", "  add: -50.00% (baseline=250.000ms, actual=125.000ms)"}},
		{"calls alone", entries("mm", 0.5, 92), 10, operating(timed("a", 1), "s", "mm", 0.5, 91), gate.OperatorsWarn,
			[]string{"mm  WARN"},
			[]string{"  mm: +0.00% (baseline=500.000ms, actual=500.000ms)", "  mm: #CALLS MISMATCH baseline=92, actual=91"}},
		{"calls that were not recorded", entries("mm", 0.5, 0), 10, operating(timed("a", 1), "s", "mm", 0.5, 91), gate.OperatorsPass,
			[]string{"mm  PASS"}, nil},
		{"missing ones by name, then the run's in their order", entries("z", 0.4, 1, "mm", 0.3, 2, "a", 0.2, 3), 3,
			operating(timed("a", 1), "s", "new", 0.5, 48, "mm", 0.3, 2), gate.OperatorsWarn,
			[]string{"a missing WARN", "z missing WARN", "new new WARN", "mm  PASS"},
			[]string{"  MISSING OPERATOR: a (baseline=200.000ms, #calls=3) - Not found in current results",
				"  MISSING OPERATOR: z (baseline=400.000ms, #calls=1) - Not found in current results",
				"  NEW OPERATOR: new (actual=500.000ms, #calls=48) - Not in baseline Top 3"}},
		{"the largest recorded, the first of the run", entries("small", 0.1, 1, "mm", 0.5, 1, "add", 0.4, 1), 2,
			operating(timed("a", 1), "s", "mm", 0.5, 1, "small", 0.1, 1, "add", 0.4, 1), gate.OperatorsWarn,
			[]string{"add missing WARN", "mm  PASS", "small new WARN"},
			[]string{"  MISSING OPERATOR: add (baseline=400.000ms, #calls=1) - Not found in current results",
				"  NEW OPERATOR: small (actual=100.000ms, #calls=1) - Not in baseline Top 2"}},
		{"equal ones stay in their order", entries("b", 0.1, 1, "a", 0.1, 1), 1, operating(timed("a", 1), "s", "b", 0.1, 1),
			gate.OperatorsPass, []string{"b  PASS"}, nil},
		{"named twice: the last counts, in the place of the first", entries("mm", 0.1, 1, "add", 0.2, 1, "mm", 0.2, 2), 1,
			operating(timed("a", 1), "s", "mm", 0.2, 2), gate.OperatorsPass, []string{"mm  PASS"}, nil},
		{"a recorded time of 0 passes whatever the run says", entries("mm", 0.0, 3), 10, operating(timed("a", 1), "s", "mm", 0.5, 4),
			gate.OperatorsPass, []string{"mm  PASS"}, nil},
		{"a recorded time of 0 that is missing", entries("mm", 0.0, 0), 10, operating(timed("a", 1), "s"), gate.OperatorsWarn,
			[]string{"mm missing WARN"}, []string{"  MISSING OPERATOR: mm (baseline=0.000ms, #calls=0) - Not found in current results"}},
		{"no breakdown", entries("mm", 0.5, 3), 10, timed("a", 1), gate.OperatorsWarn,
			[]string{"mm missing WARN"}, []string{"  MISSING OPERATOR: mm (baseline=500.000ms, #calls=3) - Not found in current results"}},
		{"the top 0", entries("mm", 0.5, 3), 0, operating(timed("a", 1), "s", "cat", 0.5, 3), gate.OperatorsPass, nil, nil},
		{"nothing recorded", nil, 10, operating(timed("a", 1), "s", "mm", 0.5, 4), gate.OperatorsNoBaseline, nil, nil},
		{"another quantity", entries("mm", 0.5, 3), 10, operating(timed("a", 1), "MiB", "mm", 0.5, 3), gate.OperatorsWarn,
			[]string{"mm missing WARN"}, []string{"  MISSING OPERATOR: mm (baseline=500.000ms, #calls=3) - Not found in current results"}},
		{"more than the total", entries("mm", 5.0, 3), 10, operating(timed("a", 1), "s", "mm", 5.0, 3), gate.OperatorsPass,
			[]string{"mm  PASS"}, nil},
	} {
		e := expect("a", bench.BaselineReference, 1.0, 0.1)
		e.Operators = bench.ExpectedOperators{Entries: tt.recorded, TopN: tt.topN, Tolerance: 0.125, MinShare: 0.5, Level: "fail"}
		p := policy(e)
		p.Compat = compat.MSModeling
		c := gate.Compare("", nil, withTotal(run(tt.got)), p)
		o := c.Checks[0].Operators
		var rows []string
		for _, r := range o.Rows {
			rows = append(rows, r.Name+" "+string(r.Change)+" "+string(r.Status))
		}
		if diff := cmp.Diff(tt.rows, rows); diff != "" || o.Status != tt.status {
			t.Errorf("%s: %s, want %s; rows (-want +got):\n%s", tt.name, o.Status, tt.status, diff)
		}
		if diff := cmp.Diff(tt.lines, o.Violations); diff != "" {
			t.Errorf("%s: violations (-want +got):\n%s", tt.name, diff)
		}
		differ := 0
		for _, v := range c.Verdicts {
			if v.Blocks {
				t.Errorf("%s: %+v, and operators never fail", tt.name, v)
			}
			if v.Finding == gate.PartsDiffer {
				differ++
			}
		}
		if want := min(1, len(tt.lines)); differ != want {
			t.Errorf("%s: %d verdicts on operators, want %d", tt.name, differ, want)
		}
	}
}

// TestMSModelingRows: what the original does not compute is there all the same.
func TestMSModelingRows(t *testing.T) {
	t.Parallel()
	e := expect("a", bench.BaselineReference, 0.75, 9.0)
	e.Operators = bench.ExpectedOperators{Entries: entries("add", 0.25, 1, "mm", 0.5, 2), TopN: 2, Tolerance: 0.1}
	p := policy(e)
	p.Compat = compat.MSModeling
	c := gate.Compare("", nil, withTotal(run(operating(timed("a", 1.25), "ms", "mm", 1250.0, 4))), p)
	want := gate.OperatorCheck{Status: gate.OperatorsWarn, TopN: 2, Tolerance: 0.1, Of: "baseline", DeltaPS: 5e11, Rows: []gate.OperatorRow{
		{Name: "add", Change: gate.OperatorMissing, Status: gate.OperatorsWarn, Old: 0.25,
			OldCalls: 1, OldRank: 2, DeltaPS: -25e10, ByCallsPS: -25e10, Share: -0.5},
		{Name: "mm", Status: gate.OperatorsWarn, Old: 0.5, New: 1.25,
			OldCalls: 2, NewCalls: 4, OldRank: 1, NewRank: 1, Diff: 1.5, DeltaPS: 75e10, ByCallsPS: 5e11, ByCostPS: 25e10, Share: 1.5},
	}, Violations: []string{
		"  MISSING OPERATOR: add (baseline=250.000ms, #calls=1) - Not found in current results",
		"  mm: +150.00% (baseline=500.000ms, actual=1250.000ms)",
		"  mm: #CALLS MISMATCH baseline=2, actual=4",
	}}
	if diff := cmp.Diff(want, c.Checks[0].Operators); diff != "" {
		t.Errorf("check (-want +got):\n%s", diff)
	}
	if v := c.Verdicts[1]; !v.Reserved() || v.Reason != "MISSING OPERATOR: add (baseline=250.000ms, #calls=1) - Not found in current results; "+
		"mm: +150.00% (baseline=500.000ms, actual=1250.000ms); mm: #CALLS MISMATCH baseline=2, actual=4: msmodeling only warns of it; refresh the case if that is meant" {
		t.Errorf("verdict %+v", v)
	}
	p.Expected["a"] = func() bench.Expected { e.Operators.Level = "off"; return e }()
	if o := gate.Compare("", nil, withTotal(run(operating(timed("a", 1), "s"))), p).Checks[0].Operators; o.Status != gate.OperatorsOff {
		t.Errorf("level off: %+v", o)
	}
}
