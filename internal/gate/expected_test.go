package gate_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/suite/cases/operators"
	"github.com/accelgate/accelgate/internal/testing/operatortest"
)

const totalTime = "total_time_s"

// withTotal describes the metric of cases beside the others.
func withTotal(r *bench.Run) *bench.Run {
	r.Metrics = append([]bench.Metric{{Name: totalTime, Unit: "s", Better: bench.Lower}}, metrics...)
	return r
}

// expect makes an Expected of recorded totals: name, value and tolerance in turn.
func expect(id string, references ...any) bench.Expected {
	e := bench.Expected{Cell: id, Description: "what " + id + " is", Metric: totalTime}
	for i := 0; i < len(references); i += 3 {
		e.References = append(e.References, bench.Reference{Name: references[i].(string), Value: references[i+1].(float64), Tolerance: references[i+2].(float64)})
	}
	return e
}

func policy(expected ...bench.Expected) gate.Policy {
	p := fixed()
	p.Expected = map[string]bench.Expected{}
	p.Operators = map[string]gate.OperatorJudge{"": operators.Judge}
	for _, e := range expected {
		p.Expected[e.Cell] = e
	}
	return p
}

var entries, operating = operatortest.Entries, operatortest.Operating

// timed is a cell that took so many seconds.
func timed(id string, seconds ...float64) bench.Result {
	r := cell(id)
	r.Samples = []bench.Sample{{Metric: totalTime, Values: seconds}}
	return r
}

func TestExpectedTotal(t *testing.T) {
	t.Parallel()
	const base, initial = bench.BaselineReference, bench.InitialReference
	with := func(e bench.Expected, change func(*bench.Expected)) bench.Expected {
		change(&e)
		return e
	}
	exactly := func(e *bench.Expected) { e.Exact = true }
	for _, tt := range []struct {
		name    string
		e       bench.Expected
		seconds float64
		status  compat.CheckStatus
		want    []string
	}{
		{"within", expect("a", base, 10.0, 0.1), 10.5, compat.CheckPass, []string{"a total_time_s unchanged -5"}},
		{"exactly the tolerance", expect("a", base, 10.0, 0.1), 11, compat.CheckPass, []string{"a total_time_s unchanged -10"}},
		{"slower", expect("a", base, 10.0, 0.1), 11.01, compat.CheckFailBase, []string{"a total_time_s regressed blocks -10.1"}},
		{"faster by exactly the tolerance", expect("a", base, 10.0, 0.1), 9, compat.CheckPass, []string{"a total_time_s unchanged 10"}},
		{"faster is not a failure", expect("a", base, 10.0, 0.1), 8, compat.CheckImproved, []string{"a total_time_s improved 20"}},
		{"a tolerance of nothing", expect("a", base, 10.0, 0.0), 10.01, compat.CheckFailBase, []string{"a total_time_s regressed blocks -0.1"}},
		{"the initial value decides where there is no baseline", expect("a", initial, 10.0, 0.1), 12, compat.CheckFailInit,
			[]string{"a total_time_s regressed blocks -20"}},
		{"a reference of 0 is none", expect("a", initial, 10.0, 0.1, base, 0.0, 0.1), 12, compat.CheckFailInit,
			[]string{"a total_time_s regressed blocks -20"}},
		{"both, within", expect("a", initial, 10.0, 0.1, base, 10.0, 0.2), 10.5, compat.CheckPass,
			[]string{"a total_time_s unchanged -5"}},
		{"drift", expect("a", initial, 10.0, 0.1, base, 12.0, 0.2), 12, compat.CheckFailInit,
			[]string{"a total_time_s unchanged 0", "a total_time_s drifted blocks -20"}},
		{"drift while improving", expect("a", initial, 10.0, 0.1, base, 20.0, 0.2), 12, compat.CheckFailInit,
			[]string{"a total_time_s improved 40", "a total_time_s drifted blocks -20"}},
		{"drift that warns", with(expect("a", initial, 10.0, 0.1, base, 12.0, 0.2), func(e *bench.Expected) { e.Drift = "warn" }), 12,
			compat.CheckFailInit,
			[]string{"a total_time_s unchanged 0", "a total_time_s drifted rule -20"}},
		{"drift that is off", with(expect("a", initial, 10.0, 0.1, base, 12.0, 0.2), func(e *bench.Expected) { e.Drift = "off" }), 12,
			compat.CheckFailInit,
			[]string{"a total_time_s unchanged 0"}},
		{"slower than both", expect("a", initial, 10.0, 0.1, base, 10.0, 0.2), 15, compat.CheckFailBoth,
			[]string{"a total_time_s regressed blocks -50", "a total_time_s drifted blocks -50"}},
		{"faster than the initial value only", expect("a", initial, 20.0, 0.1, base, 10.0, 0.2), 10, compat.CheckPass,
			[]string{"a total_time_s unchanged 0"}},
		{"a time of nothing", expect("a", initial, 10.0, 0.1, base, 10.0, 0.2), 0, compat.CheckFailBoth,
			[]string{"a total_time_s implausible blocks 100"}},
		{"no reference", expect("a"), 12, compat.CheckNoBaseline, []string{"a total_time_s untracked 0"}},
		{"no reference fails", with(expect("a"), func(e *bench.Expected) { e.NoReference = "fail" }), 12, compat.CheckNoBaseline,
			[]string{"a total_time_s missing blocks 0"}},
		{"no reference is off", with(expect("a"), func(e *bench.Expected) { e.NoReference = "off" }), 12, compat.CheckNoBaseline,
			[]string{"a total_time_s untracked 0"}},
		{"no reference and a typo", with(expect("a"), func(e *bench.Expected) { e.NoReference = "warning" }), 12, compat.CheckNoBaseline,
			[]string{"a total_time_s untracked 0"}},
		{"exact", with(expect("a", base, 10.0, 0.5), exactly), 10, compat.CheckPass, []string{"a total_time_s unchanged 0"}},
		{"exact to nine digits", with(expect("a", base, 10.0, 0.5), exactly), 10.000000001, compat.CheckPass,
			[]string{"a total_time_s unchanged -1e-08"}},
		{"not exact", with(expect("a", base, 10.0, 0.5), exactly), 10.0001, compat.CheckFailBase,
			[]string{"a total_time_s incorrect blocks -0.001"}},
		{"faster is not exact", with(expect("a", base, 10.0, 0.5), exactly), 9, compat.CheckFailBase,
			[]string{"a total_time_s incorrect blocks 10"}},
		{"exact, and the references differ", with(expect("a", initial, 9.0, 0.5, base, 10.0, 0.5), exactly), 10, compat.CheckFailInit,
			[]string{"a total_time_s unchanged 0", "a total_time_s incorrect blocks -11.11"}},
		{"hostile", expect("a", base, math.SmallestNonzeroFloat64, math.MaxFloat64), math.MaxFloat64, compat.CheckFailBase,
			[]string{"a total_time_s implausible blocks -1.798e+308"}},
		{"a thousandth of the time", expect("a", base, 10.0, 0.1), 0.01, compat.CheckFailBase, []string{"a total_time_s implausible blocks 99.9"}},
	} {
		c := gate.Compare("", nil, withTotal(run(timed("a", tt.seconds))), policy(tt.e))
		if diff := cmp.Diff(tt.want, lines(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
		if len(c.Checks) != 1 || c.Checks[0].Status != tt.status || c.Checks[0].Actual != tt.seconds {
			t.Errorf("%s: checks %+v, want one that is %s", tt.name, c.Checks, tt.status)
		}
	}
}

func TestExpectedEvidence(t *testing.T) {
	t.Parallel()
	e := expect("a", bench.InitialReference, 8.0, 0.1, bench.BaselineReference, 10.0, 0.2)
	e.Operators = bench.ExpectedOperators{TopN: 10, Tolerance: 0.1}
	c := gate.Compare("", nil, withTotal(run(timed("a", 13))), policy(e))
	single := "rests on a single measurement: measure the cell again with --only and --repeats 5"
	want := []gate.Verdict{
		{Cell: "a", Metric: totalTime, Reference: "baseline", Finding: gate.Regressed, Blocks: true, Old: 10, New: 13, Delta: -30,
			Interval: [2]float64{-30, -30}, Evidence: gate.Evidence{Method: "threshold", Limit: 20, OldN: 1, NewN: 1}, Reason: single},
		{Cell: "a", Metric: totalTime, Reference: "initial", Finding: gate.Drifted, Blocks: true, Old: 8, New: 13, Delta: -62.5,
			Interval: [2]float64{-62.5, -62.5}, Evidence: gate.Evidence{Method: "threshold", Limit: 10, OldN: 1, NewN: 1},
			Reason: "slower than the initial value by more than 10 %: make it faster, or record a new initial value if that is meant; " + single},
	}
	if diff := cmp.Diff(want, c.Verdicts); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	check := []compat.Check{{Cell: "a", Description: "what a is", Metric: totalTime, Unit: "s", Actual: 13, Status: compat.CheckFailBoth,
		References: []compat.ReferenceCheck{{Name: "initial", Value: 8, Tolerance: 0.1, Diff: 0.625}, {Name: "baseline", Value: 10, Tolerance: 0.2, Diff: 0.3}},
		Operators:  compat.OperatorCheck{Status: compat.OperatorsNoBaseline, TopN: 10, Tolerance: 0.1}}}
	if diff := cmp.Diff(check, c.Checks); diff != "" {
		t.Errorf("checks (-want +got):\n%s", diff)
	}

	several := gate.Compare("", nil, withTotal(run(timed("a", 13, 10, 14))), policy(e)).Verdicts[0]
	if several.New != 13 || several.Interval != [2]float64{-40, 0} || several.Reason != "" || several.Evidence.NewN != 3 {
		t.Errorf("verdict on three values: %+v", several)
	}
	e.Exact = true
	exact := gate.Compare("", nil, withTotal(run(timed("a", 10, 10, 10.125000000001))), policy(e)).Verdicts[0]
	if exact.Reason != "must equal 10, is 10.125000000001: refresh the case if that is meant" || exact.New != 10.125000000001 ||
		!reflect.DeepEqual(exact.Evidence, gate.Evidence{Method: "exact", OldN: 1, NewN: 3}) {
		t.Errorf("one of three values is another: %+v", exact)
	}
}

// TestExpectedLossesAreOpen: what blocks by a loss is measured again.
func TestExpectedLossesAreOpen(t *testing.T) {
	t.Parallel()
	const base, initial = bench.BaselineReference, bench.InitialReference
	exact := expect("exact", base, 1.0, 0.1)
	exact.Exact = true
	differs := expect("differs", base, 1.0, 0.1)
	differs.Operators.Entries = []bench.Entry{{Name: "mm", Total: 1, Calls: 1}}
	got := withTotal(run(timed("slow", 2), timed("exact", 2), timed("drifted", 2), timed("often", 2, 2, 2), timed("fine", 1),
		operating(timed("differs", 1), "s", "mm", 1.0, 2)))
	c := gate.Compare("", nil, got, policy(expect("slow", base, 1.0, 0.1), exact, expect("drifted", initial, 1.0, 0.1, base, 2.0, 0.1),
		expect("often", base, 1.0, 0.1), expect("fine", base, 1.0, 0.1), differs))
	if ids, _ := gate.Open(c); !cmp.Equal([]string{"slow", "drifted", "often", "differs"}, ids) {
		t.Errorf("Open = %q", ids)
	}
}

// TestExpectedBesideTheBaseline: outcomes come first, then what the suite's
// files say, then the host's baseline.
func TestExpectedBesideTheBaseline(t *testing.T) {
	t.Parallel()
	one := func(r ...bench.Result) []bench.Result { return r }
	none, known := expect("a"), expect("a", bench.BaselineReference, 10.0, 0.1)
	for _, tt := range []struct {
		name     string
		e        bench.Expected
		ref, got []bench.Result
		want     []string
	}{
		{"both judge", known, one(timed("a", 8)), one(timed("a", 10.5)),
			[]string{"a total_time_s unchanged -5", "a total_time_s regressed blocks -31.25"}},
		{"the baseline judges other metrics", known, one(cell("a", "decode_tps", 10.0)), one(cell("a", totalTime, 10.0, "decode_tps", 5.0)),
			[]string{"a total_time_s unchanged 0", "a total_time_s untracked 0", "a decode_tps regressed blocks -50"}},
		{"the baseline does not have the cell", known, one(timed("z", 1)), one(timed("z", 1), timed("a", 10)),
			[]string{"z total_time_s unchanged 0", "a total_time_s unchanged 0"}},
		{"the baseline alone has a time", none, one(timed("a", 10)), one(timed("a", 10)), []string{"a total_time_s unchanged 0"}},
		{"neither has a time", none, one(timed("z", 1)), one(timed("z", 1), timed("a", 10)),
			[]string{"z total_time_s unchanged 0", "a total_time_s untracked 0"}},
		{"failed in the baseline", none, one(cell("a!failed")), one(timed("a", 10)),
			[]string{"a total_time_s untracked 0", "a fixed 0"}},
		{"fails", known, nil, one(cell("a!failed")), []string{"a crashed blocks -100"}},
		{"wrong", known, nil, one(cell("a!incorrect")), []string{"a incorrect blocks -100"}},
		{"fails as in the baseline", known, one(cell("a!failed")), one(cell("a!failed")), []string{"a crashed known_failure 0"}},
		{"skipped", known, nil, one(cell("a!skipped")), []string{"a missing blocks 0"}},
		{"skipped, without a time", none, one(timed("z", 1)), one(timed("z", 1), cell("a!skipped")),
			[]string{"z total_time_s unchanged 0", "a missing blocks 0"}},
		{"newly skipped", known, one(cell("a")), one(cell("a!skipped")), []string{"a missing blocks 0"}},
		{"skipped, a known failure", known, one(cell("a!failed")), one(cell("a!skipped")), []string{"a skipped 0"}},
		{"no total", known, nil, one(cell("a", "decode_tps", 1.0)), []string{"a total_time_s missing blocks -100"}},
		{"no total and nothing recorded", none, nil, one(cell("a")), []string{"a total_time_s missing blocks -100"}},
		{"not in the run", known, one(timed("z", 1)), one(timed("z", 1)), []string{"z total_time_s unchanged 0", "a missing blocks 0"}},
		{"vanished", known, one(timed("a", 1)), one(), []string{"a missing blocks 0"}},
		{"vanished, a known failure", known, one(cell("a!failed")), one(), []string{"a missing known_failure 0"}},
	} {
		c := gate.Compare("base", withTotal(run(tt.ref...)), withTotal(run(tt.got...)), policy(tt.e))
		if diff := cmp.Diff(tt.want, lines(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestExpectedCellsOutOfTheRun: a filter excuses a cell of a suite's files, and
// a limit does so only if the policy says it.
func TestExpectedCellsOutOfTheRun(t *testing.T) {
	t.Parallel()
	got := withTotal(run(timed("a", 1)))
	got.Unselected = []string{"b"}
	got.LeftOut = []bench.LeftOut{{Cell: "c", Reason: "over the budget"}}
	p := policy(expect("a", bench.BaselineReference, 1.0, 0.1), expect("b"), expect("c"), expect("e"), expect("d"))
	want := []string{"a total_time_s unchanged 0", "c missing blocks left_out 0", "d missing blocks 0", "e missing blocks 0"}
	c := gate.Compare("", nil, got, p)
	if diff := cmp.Diff(want, lines(c)); diff != "" || c.Unselected != 0 {
		t.Errorf("verdicts (-want +got):\n%s unselected %d", diff, c.Unselected)
	}
	p.LeftOut = gate.LeftOutWarn
	if got := lines(gate.Compare("", nil, got, p))[1]; got != "c missing left_out 0" {
		t.Errorf("with left_out: warn: %q", got)
	}
	p.Compat = compat.TensorSharp
	if diff := cmp.Diff([]string{"a untracked 0", "c skipped 0"}, lines(gate.Compare("", nil, got, p))); diff != "" {
		t.Errorf("by TensorSharp's rules (-want +got):\n%s", diff)
	}
}

// TestExpectedEvidenceOfSpeed: cells that suites' files judge need no baseline of
// the host, and cells without any reference are no evidence.
func TestExpectedEvidenceOfSpeed(t *testing.T) {
	t.Parallel()
	known := expect("a", bench.BaselineReference, 10.0, 0.1)
	exact := known
	exact.Exact = true
	byMSModeling := func(p gate.Policy) gate.Policy {
		p.Compat = compat.MSModeling
		return p
	}
	called := expect("a")
	called.NoReference = "off"
	called.Operators.Entries = []bench.Entry{{Name: "mm", Calls: 3}}
	other := withTotal(run(timed("z", 1)))
	other.Host.CPU = "another"
	for _, tt := range []struct {
		name string
		ref  *bench.Run
		got  []bench.Result
		p    gate.Policy
		want gate.Status
	}{
		{"judged", nil, []bench.Result{timed("a", 10)}, policy(known), gate.StatusPassed},
		{"judged beside one that failed", nil, []bench.Result{timed("a", 10), cell("b!failed")}, policy(known), gate.StatusFailed},
		{"beside a cell without a reference", nil, []bench.Result{timed("a", 10), timed("b", 1)}, policy(known), gate.StatusActionRequired},
		{"beside a case without a time", nil, []bench.Result{timed("a", 10), timed("b", 1)}, policy(known, expect("b")),
			gate.StatusActionRequired},
		{"without a time", nil, []bench.Result{timed("a", 10)}, policy(expect("a")), gate.StatusActionRequired},
		{"not in the baseline", withTotal(run(timed("z", 1))), []bench.Result{timed("a", 10), cell("z!skipped")},
			policy(known, expect("z")), gate.StatusFailed},
		{"only judged by the case", withTotal(run()), []bench.Result{timed("a", 10)}, policy(known), gate.StatusPassed},
		{"calls that agree", nil, []bench.Result{operating(timed("a", 10), "s", "mm", 9.0, 3)}, policy(called), gate.StatusActionRequired},
		{"msmodeling passes operators without a time", nil, []bench.Result{timed("k", 10), operating(timed("a", 10), "s", "mm", 9.0, 3)},
			byMSModeling(policy(expect("k", bench.BaselineReference, 10.0, 0.1), called)), gate.StatusPassed},
		{"calls and nothing to compare them with", nil, []bench.Result{timed("a", 10)}, policy(called), gate.StatusFailed},
		{"exactly equal", nil, []bench.Result{timed("a", 10)}, policy(exact), gate.StatusPassed},
		{"another machine's baseline", other, []bench.Result{timed("a", 10), timed("z", 1)}, policy(known), gate.StatusActionRequired},
		{"slower on another host", other, []bench.Result{timed("a", 12), timed("z", 1)}, policy(known), gate.StatusFailed},
	} {
		tt.p.RequireBaseline = true
		c := gate.Compare("base", tt.ref, withTotal(run(tt.got...)), tt.p)
		if d := gate.Decide([]gate.Comparison{c}, tt.p); d.Status != tt.want {
			t.Errorf("%s: %s (%v, unjudged: %q), want %s", tt.name, d.Status, lines(c), c.Unjudged, tt.want)
		}
	}
}

// TestExpectedExactly: an equal total was compared, although it has no limit.
func TestExpectedExactly(t *testing.T) {
	t.Parallel()
	e := expect("a", bench.InitialReference, 10.0, 0.1, bench.BaselineReference, 10.0, 0.1)
	e.Exact = true
	p := policy(e)
	c := gate.Compare("", nil, withTotal(run(timed("a", 10))), p)
	if d := gate.Decide([]gate.Comparison{c}, p); d.Judged != 1 || d.Unjudged != 0 || c.Unjudged != "" {
		t.Errorf("decision %+v of %v, unjudged %q: want one number judged", d, lines(c), c.Unjudged)
	}
}

// TestExpectedOfAnotherHost: recorded numbers are of one host, and the cell is
// expected on all.
func TestExpectedOfAnotherHost(t *testing.T) {
	t.Parallel()
	gold := expect("a", bench.BaselineReference, 1.0, 0.1)
	gold.Operators = bench.ExpectedOperators{Entries: entries("mm", 1.0, 3), TopN: 10, Tolerance: 0.1}
	gold.Host, gold.Exact, gold.NoReference = "gold", true, "fail"
	one := func(r ...bench.Result) []bench.Result { return r }
	slow := operating(timed("a", 2), "s", "mm", 2.0, 9)
	for _, tt := range []struct {
		name, host string
		compat     compat.Tool
		ref, got   []bench.Result
		want       []string
		unjudged   bool
	}{
		{"its own", "gold", "", nil, one(slow), []string{"a total_time_s incorrect blocks -100", "a operators parts_differ blocks -100"}, false},
		{"another", "silver", "", nil, one(slow), []string{"a total_time_s missing blocks 0"}, true},
		{"another, whose baseline has it", "silver", "", one(timed("a", 2)), one(slow), []string{"a total_time_s unchanged 0"}, false},
		{"another, slower than its baseline", "silver", "", one(timed("a", 1)), one(slow), []string{"a total_time_s regressed blocks -100"}, false},
		{"another, skipped", "silver", "", nil, one(cell("a!skipped")), []string{"a missing blocks 0"}, true},
		{"another, not in the run", "silver", "", nil, one(timed("z", 1)), []string{"z untracked 0", "a missing blocks 0"}, true},
		{"another, without its total", "silver", "", nil, one(cell("a")), []string{"a total_time_s missing blocks -100"}, true},
		{"its own, by msmodeling's rules", "gold", compat.MSModeling, one(timed("a", 2)), one(slow),
			[]string{"a total_time_s regressed blocks -100", "a operators parts_differ rule 0"}, false},
		{"another, by msmodeling's rules", "silver", compat.MSModeling, nil, one(slow), []string{"a total_time_s missing blocks 0"}, true},
		{"another, by msmodeling's rules, whose baseline has it", "silver", compat.MSModeling, one(timed("a", 1)), one(slow),
			[]string{"a total_time_s regressed blocks -100"}, false},
	} {
		p := policy(gold)
		p.Compat = tt.compat
		got, ref := withTotal(run(tt.got...)), (*bench.Run)(nil)
		if got.Host.Label = tt.host; tt.ref != nil {
			ref = withTotal(run(tt.ref...))
		}
		c := gate.Compare("base", ref, got, p)
		if diff := cmp.Diff(tt.want, lines(c)); diff != "" || (c.Unjudged != "") != tt.unjudged {
			t.Errorf("%s: unjudged %q; verdicts (-want +got):\n%s", tt.name, c.Unjudged, diff)
		}
		const reason = `the recorded times are of host "gold": record this host's with baseline update`
		if v := c.Verdicts[0]; v.Finding == gate.Untracked && v.Metric != "" && v.Reason != reason {
			t.Errorf("%s: reason %q, want %q", tt.name, v.Reason, reason)
		}
		if diff := cmp.Diff(gold, p.Expected["a"]); diff != "" {
			t.Errorf("%s: the policy was changed (-want +got):\n%s", tt.name, diff)
		}
	}
}

// TestReasonsEndInANextStep: whoever reads why must learn what to do.
func TestReasonsEndInANextStep(t *testing.T) {
	t.Parallel()
	got := withTotal(run(timed("none", 1), cell("missing"), operating(timed("differs", 1), "s", "mm", 1.0, 2),
		operating(timed("unit", 1), "tokens", "mm", 1.0, 2)))
	differs, unit := expect("differs", bench.BaselineReference, 1.0, 0.1), expect("unit", bench.BaselineReference, 1.0, 0.1)
	differs.Operators.Entries = []bench.Entry{{Name: "mm", Total: 1, Calls: 1}}
	unit.Operators.Entries = differs.Operators.Entries
	c := gate.Compare("", nil, got, policy(expect("none"), expect("missing"), expect("gone"), differs, unit))
	reasons := 0
	for _, v := range c.Verdicts {
		if !v.Listed() {
			continue
		}
		reasons++
		if !strings.Contains(v.Reason, ": ") {
			t.Errorf("%s %s: %q has no next step", v.Cell, v.Metric, v.Reason)
		}
	}
	if reasons != 5 {
		t.Errorf("%d reasons, want 5: %v", reasons, lines(c))
	}
}
