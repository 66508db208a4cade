package operators_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

func TestMSModelingOperators(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct {
		name     string
		recorded []bench.Entry
		topN     int
		got      bench.Result
		status   compat.OperatorStatus
		rows     []string // name, change, status
		lines    []string
	}{
		{"equal", entries("mm", 0.5, 3, "add", 0.25, 1), 2, operating(timed("a", 1), "s", "mm", 0.5, 3, "add", 0.25, 1), compat.OperatorsPass,
			[]string{"mm  PASS", "add  PASS"}, nil},
		{"exactly the tolerance, to both sides", entries("mm", 0.5, 3, "add", 0.25, 1), 2,
			operating(timed("a", 1), "s", "mm", 0.5625, 3, "add", 0.21875, 1), compat.OperatorsPass,
			[]string{"mm  PASS", "add  PASS"}, nil},
		{"slower, faster", entries("mm", 0.5, 3, "add", 0.25, 1), 2, operating(timed("a", 1), "s", "mm", 0.75, 3, "add", 0.125, 1),
			compat.OperatorsWarn,
			[]string{"mm  WARN", "add  WARN"},
			[]string{"  mm: +50.00% (baseline=500.000ms, actual=750.000ms)", "  add: -50.00% (baseline=250.000ms, actual=125.000ms)"}},
		{"calls alone", entries("mm", 0.5, 92), 10, operating(timed("a", 1), "s", "mm", 0.5, 91), compat.OperatorsWarn,
			[]string{"mm  WARN"},
			[]string{"  mm: +0.00% (baseline=500.000ms, actual=500.000ms)", "  mm: #CALLS MISMATCH baseline=92, actual=91"}},
		{"calls that were not recorded", entries("mm", 0.5, 0), 10, operating(timed("a", 1), "s", "mm", 0.5, 91), compat.OperatorsPass,
			[]string{"mm  PASS"}, nil},
		{"missing ones by name, then the run's in their order", entries("z", 0.4, 1, "mm", 0.3, 2, "a", 0.2, 3), 3,
			operating(timed("a", 1), "s", "new", 0.5, 48, "mm", 0.3, 2), compat.OperatorsWarn,
			[]string{"a missing WARN", "z missing WARN", "new new WARN", "mm  PASS"},
			[]string{"  MISSING OPERATOR: a (baseline=200.000ms, #calls=3) - Not found in current results",
				"  MISSING OPERATOR: z (baseline=400.000ms, #calls=1) - Not found in current results",
				"  NEW OPERATOR: new (actual=500.000ms, #calls=48) - Not in baseline Top 3"}},
		{"the largest recorded, the first of the run", entries("small", 0.1, 1, "mm", 0.5, 1, "add", 0.4, 1), 2,
			operating(timed("a", 1), "s", "mm", 0.5, 1, "small", 0.1, 1, "add", 0.4, 1), compat.OperatorsWarn,
			[]string{"add missing WARN", "mm  PASS", "small new WARN"},
			[]string{"  MISSING OPERATOR: add (baseline=400.000ms, #calls=1) - Not found in current results",
				"  NEW OPERATOR: small (actual=100.000ms, #calls=1) - Not in baseline Top 2"}},
		{"equal ones stay in their order", entries("b", 0.1, 1, "a", 0.1, 1), 1, operating(timed("a", 1), "s", "b", 0.1, 1),
			compat.OperatorsPass, []string{"b  PASS"}, nil},
		{"named twice: the last counts, in the place of the first", entries("mm", 0.1, 1, "add", 0.2, 1, "mm", 0.2, 2), 1,
			operating(timed("a", 1), "s", "mm", 0.2, 2), compat.OperatorsPass, []string{"mm  PASS"}, nil},
		{"a recorded time of 0 passes whatever the run says", entries("mm", 0.0, 3), 10, operating(timed("a", 1), "s", "mm", 0.5, 4),
			compat.OperatorsPass, []string{"mm  PASS"}, nil},
		{"a recorded time of 0 that is missing", entries("mm", 0.0, 0), 10, operating(timed("a", 1), "s"), compat.OperatorsWarn,
			[]string{"mm missing WARN"}, []string{"  MISSING OPERATOR: mm (baseline=0.000ms, #calls=0) - Not found in current results"}},
		{"no breakdown", entries("mm", 0.5, 3), 10, timed("a", 1), compat.OperatorsWarn,
			[]string{"mm missing WARN"}, []string{"  MISSING OPERATOR: mm (baseline=500.000ms, #calls=3) - Not found in current results"}},
		{"the top 0", entries("mm", 0.5, 3), 0, operating(timed("a", 1), "s", "cat", 0.5, 3), compat.OperatorsPass, nil, nil},
		{"nothing recorded", nil, 10, operating(timed("a", 1), "s", "mm", 0.5, 4), compat.OperatorsNoBaseline, nil, nil},
		{"another quantity", entries("mm", 0.5, 3), 10, operating(timed("a", 1), "MiB", "mm", 0.5, 3), compat.OperatorsWarn,
			[]string{"mm missing WARN"}, []string{"  MISSING OPERATOR: mm (baseline=500.000ms, #calls=3) - Not found in current results"}},
		{"more than the total", entries("mm", 5.0, 3), 10, operating(timed("a", 1), "s", "mm", 5.0, 3), compat.OperatorsPass,
			[]string{"mm  PASS"}, nil},
	} {
		e := expect("a", bench.BaselineReference, 1.0, 0.1)
		e.Operators = bench.ExpectedOperators{Entries: tt.recorded, TopN: tt.topN, Tolerance: 0.125, MinShare: 0.5, Level: "fail"}
		p := policy(e)
		p.Compat = compat.MSModeling
		c := judge(tt.got, p)
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
	c := judge(operating(timed("a", 1.25), "ms", "mm", 1250.0, 4), p)
	want := compat.OperatorCheck{Status: compat.OperatorsWarn, TopN: 2, Tolerance: 0.1, Of: "baseline", DeltaPS: 5e11, Rows: []compat.OperatorRow{
		{Name: "add", Change: compat.OperatorMissing, Status: compat.OperatorsWarn, Old: 0.25,
			OldCalls: 1, OldRank: 2, DeltaPS: -25e10, ByCallsPS: -25e10, Share: -0.5},
		{Name: "mm", Status: compat.OperatorsWarn, Old: 0.5, New: 1.25,
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
	if o := judge(operating(timed("a", 1), "s"), p).Checks[0].Operators; o.Status != compat.OperatorsOff {
		t.Errorf("level off: %+v", o)
	}
}
