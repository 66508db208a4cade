package gate_test

import (
	"fmt"
	"strings"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var host = bench.Host{Label: "h", Fingerprint: bench.Fingerprint{CPU: "c", Cores: 2}}

var metrics = []bench.Metric{
	{Name: "prefill_tps", Unit: "tok/s", Better: bench.Higher, FallbackFor: "decode_tps"},
	{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher},
	{Name: "ttft_ms", Unit: "ms", Better: bench.Lower},
	{Name: "checksum", Better: bench.Higher, Exact: true},
	{Name: "model_load_ms", Unit: "ms", Better: bench.Lower, Informational: true},
}

// cell makes a result: "id", then metric and value in turn. An outcome other
// than passed stands behind the id: "id!incorrect".
func cell(id string, numbers ...any) bench.Result {
	id, outcome, ok := strings.Cut(id, "!")
	r := bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Outcome(outcome), Reason: "because"}
	if !ok {
		r.Outcome, r.Reason = bench.Passed, ""
	}
	for i := 0; i < len(numbers); i += 2 {
		r.Samples = append(r.Samples, bench.Sample{Metric: numbers[i].(string), Values: []float64{numbers[i+1].(float64)}})
	}
	return r
}

func run(results ...bench.Result) *bench.Run {
	return &bench.Run{Schema: bench.RunSchema, Host: host, Metrics: metrics, Results: results}
}

// lines writes verdicts shortly: "cell metric finding standing delta", see standing.
func lines(c gate.Comparison) []string {
	var lines []string
	for _, v := range c.Verdicts {
		lines = append(lines, strings.Join(strings.Fields(fmt.Sprintf("%s %s %s %s %.4g", v.Cell, v.Metric, v.Finding, standing(&v), v.Delta+0)), " ")) // without minus zero
	}
	return lines
}

// standing is "blocks", what would decide the finding, as in "?pairs", or the kind of its excuse.
func standing(v *gate.Verdict) string {
	var words []string
	if v.Blocks {
		words = append(words, "blocks")
	}
	if v.Undecided() {
		words = append(words, "?"+string(v.DecidedBy))
	}
	return strings.Join(append(words, string(v.Excused())), " ")
}

// fixed judges by the threshold alone, which the tests of other rules rest on.
func fixed() gate.Policy {
	p := gate.DefaultPolicy()
	p.Method = gate.MethodThreshold
	return p
}

func TestCompare(t *testing.T) {
	check := func(name string, ref, got []bench.Result, want ...string) {
		t.Helper()
		c := gate.Compare("base", run(ref...), run(got...), fixed())
		if diff := cmp.Diff(want, lines(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	one := func(r bench.Result) []bench.Result { return []bench.Result{r} }

	// TensorSharp's rule and its boundaries.
	check("exactly -10 % passes", one(cell("a", "decode_tps", 100.0)), one(cell("a", "decode_tps", 90.0)),
		"a decode_tps unchanged -10")
	check("-10.01 % does not", one(cell("a", "decode_tps", 100.0)), one(cell("a", "decode_tps", 89.99)),
		"a decode_tps regressed blocks -10.01")
	check("decode if either side has decode", one(cell("a", "prefill_tps", 100.0, "decode_tps", 50.0)),
		one(cell("a", "prefill_tps", 10.0, "decode_tps", 50.0)), "a decode_tps unchanged 0")
	check("else prefill", one(cell("a", "prefill_tps", 100.0)), one(cell("a", "prefill_tps", 89.0)),
		"a prefill_tps regressed blocks -11")
	check("decode disappears", one(cell("a", "prefill_tps", 100.0, "decode_tps", 50.0)), one(cell("a", "prefill_tps", 100.0)),
		"a decode_tps missing blocks -100")
	check("decode appears", one(cell("a", "prefill_tps", 100.0)), one(cell("a", "prefill_tps", 100.0, "decode_tps", 50.0)),
		"a decode_tps untracked 0")
	check("current is 0", one(cell("a", "decode_tps", 50.0)), one(cell("a", "decode_tps", 0.0)),
		"a decode_tps regressed blocks -100")
	check("baseline is 0", one(cell("a", "decode_tps", 0.0)), one(cell("a", "decode_tps", 50.0)),
		"a decode_tps incomparable ?new_baseline 0")
	check("both are 0", one(cell("a", "decode_tps", 0.0)), one(cell("a", "decode_tps", 0.0)),
		"a decode_tps unchanged 0")

	check("decode is 0 on both sides: prefill", one(cell("a", "prefill_tps", 100.0, "decode_tps", 0.0)),
		one(cell("a", "prefill_tps", 10.0, "decode_tps", 0.0)), "a prefill_tps regressed blocks -90", "a decode_tps unchanged 0")
	check("decode is 0 in the run", one(cell("a", "prefill_tps", 100.0, "decode_tps", 50.0)),
		one(cell("a", "prefill_tps", 100.0, "decode_tps", 0.0)), "a decode_tps regressed blocks -100")
	check("decode is 0 in the baseline", one(cell("a", "prefill_tps", 100.0, "decode_tps", 0.0)),
		one(cell("a", "prefill_tps", 10.0, "decode_tps", 50.0)), "a decode_tps incomparable ?new_baseline 0")

	// Direction, exactness, and metrics that are only shown.
	check("lower is better", one(cell("a", "ttft_ms", 100.0)), one(cell("a", "ttft_ms", 111.0)),
		"a ttft_ms regressed blocks -11")
	check("improved", one(cell("a", "ttft_ms", 100.0)), one(cell("a", "ttft_ms", 80.0)),
		"a ttft_ms improved 20")
	check("a time of nothing", one(cell("a", "ttft_ms", 100.0)), one(cell("a", "ttft_ms", 0.0)),
		"a ttft_ms implausible blocks 100")
	check("exactly -10 % in decimals", one(cell("a", "decode_tps", 0.8)), one(cell("a", "decode_tps", 0.72)),
		"a decode_tps unchanged -10")
	check("growth from zero", one(cell("a", "ttft_ms", 0.0)), one(cell("a", "ttft_ms", 1.0)),
		"a ttft_ms regressed blocks -100")
	check("exact", one(cell("a", "checksum", 7.0)), one(cell("a", "checksum", 7.5)),
		"a checksum incorrect blocks 0")
	check("informational", one(cell("a", "model_load_ms", 1.0)), one(cell("a", "model_load_ms", 99.0)),
		"a unchanged 0")

	// Outcomes.
	check("new failures", []bench.Result{cell("a"), cell("b"), cell("c")},
		[]bench.Result{cell("a!failed"), cell("b!incorrect"), cell("c!timeout")},
		"a crashed blocks -100", "b incorrect blocks -100", "c crashed blocks -100")
	check("known failures", []bench.Result{cell("z"), cell("a!failed"), cell("b!failed")},
		[]bench.Result{cell("z"), cell("a!failed"), cell("b")},
		"z unchanged 0", "a crashed known_failure 0", "b fixed 0")
	check("untracked", one(cell("z")), []bench.Result{cell("z"), cell("a", "decode_tps", 1.0), cell("b!incorrect"), cell("c!skipped")},
		"z unchanged 0", "a untracked 0", "b incorrect blocks -100", "c skipped 0")
	check("vanished and newly skipped", []bench.Result{cell("a"), cell("b"), cell("c!failed")}, one(cell("b!skipped")),
		"b missing blocks 0", "a missing blocks 0", "c missing known_failure 0")
}

func TestUnselectedCellsAreNotMissing(t *testing.T) {
	got := run(cell("a"))
	got.Unselected = []string{"b"}
	c := gate.Compare("base", run(cell("a"), cell("b"), cell("c")), got, gate.DefaultPolicy())
	if diff := cmp.Diff([]string{"a unchanged 0", "c missing blocks 0"}, lines(c)); diff != "" || c.Unselected != 1 {
		t.Errorf("verdicts (-want +got):\n%s unselected = %d, want 1", diff, c.Unselected)
	}
}

func TestAnotherMachineJudgesCorrectnessOnly(t *testing.T) {
	ref := run(cell("a", "decode_tps", 100.0, "checksum", 1.0), cell("b"))
	ref.Host.CPU = "another"
	c := gate.Compare("base", ref, run(cell("a", "decode_tps", 10.0, "checksum", 2.0), cell("b!incorrect")), gate.DefaultPolicy())
	want := []string{"other_host rule 0", "a decode_tps untracked 0", "a checksum incorrect blocks 0", "b incorrect blocks -100"}
	if diff := cmp.Diff(want, lines(c)); diff != "" {
		t.Errorf("verdicts (-want +got):\n%s", diff)
	}
	if !strings.Contains(c.Unjudged, "another") {
		t.Errorf("Unjudged = %q, want the reason", c.Unjudged)
	}
}

func TestTheReferenceDescribesItsMetrics(t *testing.T) {
	for _, change := range []func(*bench.Metric){
		func(m *bench.Metric) { m.FallbackFor = "checksum" },
		func(m *bench.Metric) { m.Unit = "" },
	} {
		got := run(cell("a", "decode_tps", 10.0, "checksum", 1.0))
		got.Metrics = append([]bench.Metric(nil), metrics...)
		change(&got.Metrics[1])
		c := gate.Compare("base", run(cell("a", "decode_tps", 100.0, "checksum", 1.0)), got, gate.DefaultPolicy())
		if got := lines(c)[0]; got != "a decode_tps regressed blocks -90" {
			t.Errorf("got %s, want regressed", got)
		}
	}
}

// TestNoFallbackSwitchesAMetricOff: a fallback for itself, in a circle, or for a
// metric that is only shown, is gated all the same.
func TestNoFallbackSwitchesAMetricOff(t *testing.T) {
	check := func(described ...bench.Metric) {
		t.Helper()
		ref, got := run(cell("a", "x", 100.0, "y", 1.0)), run(cell("a", "x", 1.0, "y", 1.0))
		ref.Metrics, got.Metrics = described, described
		if got := lines(gate.Compare("base", ref, got, gate.DefaultPolicy())); got[0] != "a x regressed blocks -99" {
			t.Errorf("%+v: %q, want x regressed", described, got)
		}
	}
	check(bench.Metric{Name: "x", FallbackFor: "x"})
	check(bench.Metric{Name: "x", FallbackFor: "y"}, bench.Metric{Name: "y", FallbackFor: "x"})
	check(bench.Metric{Name: "x", FallbackFor: "y"}, bench.Metric{Name: "y", Informational: true})
	check(bench.Metric{Name: "x", FallbackFor: "y"})
}

// TestContradictionsBlock: one name with two meanings cannot be compared.
func TestContradictionsBlock(t *testing.T) {
	for _, change := range []func(*bench.Metric){
		func(m *bench.Metric) { m.Informational = true },
		func(m *bench.Metric) { m.Better = bench.Lower },
		func(m *bench.Metric) { m.Unit = "tok/min" },
		func(m *bench.Metric) { m.Exact = true },
	} {
		ref, got := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 100.0))
		got.Metrics = append([]bench.Metric(nil), metrics...)
		change(&got.Metrics[1])
		for range 2 { // either side may have changed
			if got := lines(gate.Compare("base", ref, got, gate.DefaultPolicy())); got[0] != "a decode_tps incomparable blocks 0" {
				t.Errorf("got %q, want a blocking contradiction", got)
			}
			ref, got = got, ref
		}
	}
}

func TestExactJudgesASummaryToo(t *testing.T) {
	got := run(cell("a", "checksum", 0.0))
	got.Results[0].Samples[0] = bench.Sample{Metric: "checksum", Summary: &bench.Summary{Median: 7.5}}
	if got := lines(gate.Compare("base", run(cell("a", "checksum", 7.0)), got, gate.DefaultPolicy())); got[0] != "a checksum incorrect blocks 0" {
		t.Errorf("verdict %q, want a correctness failure", got)
	}
}

func TestEvidence(t *testing.T) {
	ref, got := run(cell("a")), run(cell("a"))
	ref.Results[0].Samples = []bench.Sample{{Metric: "decode_tps", Summary: &bench.Summary{Median: 100, MAD: 3, N: 5}}}
	got.Results[0].Samples = []bench.Sample{{Metric: "decode_tps", Values: []float64{80, 85, 99}}}
	v := gate.Compare("base", ref, got, fixed()).Verdicts[0]
	mad, median := 5.0, 85.0 // of 80, 85, 99
	want := gate.Verdict{Cell: "a", Metric: "decode_tps", Reference: "base", Finding: gate.Regressed, Blocks: true,
		Old: 100, New: 85, Delta: -15, Interval: [2]float64{-20, -1},
		Evidence: gate.Evidence{Method: "threshold", Limit: 10, OldN: 5, NewN: 3, Noise: mad / median * 100}}
	if diff := cmp.Diff(want, v); diff != "" {
		t.Errorf("verdict (-want +got):\n%s", diff)
	}
}

func TestDecide(t *testing.T) {
	good, bad := run(cell("a", "decode_tps", 100.0)), run(cell("a", "decode_tps", 1.0))
	check := func(want gate.Status, p gate.Policy, comparisons ...gate.Comparison) {
		t.Helper()
		if got := gate.Decide(comparisons, p); got.Status != want {
			t.Errorf("Decide() = %+v, want %s", got, want)
		}
	}
	p := gate.DefaultPolicy()
	strict := p
	strict.RequireBaseline = true
	compare := func(ref, got *bench.Run) gate.Comparison { return gate.Compare("base", ref, got, p) }

	check(gate.StatusPassed, strict, compare(good, good))
	check(gate.StatusFailed, p, compare(good, bad))
	check(gate.StatusFailed, p, compare(good, good), compare(good, bad))
	check(gate.StatusWarned, p, compare(nil, good))
	check(gate.StatusActionRequired, strict, compare(nil, good))
	check(gate.StatusActionRequired, strict, compare(run(), run(cell("new"))))
	check(gate.StatusFailed, strict, compare(nil, run(cell("a!incorrect"))))
	check(gate.StatusActionRequired, strict, compare(run(cell("a", "decode_tps", 0.0)), good))
	check(gate.StatusActionRequired, strict, compare(run(cell("a")), good))
	check(gate.StatusActionRequired, strict, compare(run(cell("a")), run(cell("a"))))

	// Never green without evidence.
	check(gate.StatusNoEvidence, p)
	check(gate.StatusNoEvidence, p, compare(nil, run()))
	check(gate.StatusNoEvidence, p, compare(nil, run(cell("a!skipped"))))
	check(gate.StatusNoEvidence, p, compare(run(cell("a!failed")), run(cell("a!failed"))))
	check(gate.StatusNoEvidence, p, compare(good, good), compare(nil, run(cell("a!skipped"))))
}

// TestProperties holds for any two numbers: the rule scales, turns with the
// direction, and is monotone.
func TestProperties(t *testing.T) {
	policy := fixed()
	policy.Implausible = 1e9 // another rule
	class := func(metric string, old, new float64) gate.Finding {
		c := gate.Compare("base", run(cell("a", metric, old)), run(cell("a", metric, new)), policy)
		return c.Verdicts[0].Finding
	}
	property := func(a, b uint16, shift uint8) bool {
		old, new, scale := float64(a)+1, float64(b)+1, float64(uint64(1)<<(shift%30))
		up := class("decode_tps", old, new)
		if up != class("decode_tps", old*scale, new*scale) {
			return false
		}
		if up == gate.Regressed && class("decode_tps", old, new/2) != gate.Regressed {
			return false
		}
		down := class("ttft_ms", old, new)
		return (up == gate.Regressed) == (down == gate.Improved) && (up == gate.Improved) == (down == gate.Regressed)
	}
	if err := quick.Check(property, testtier.Quick(t, 2000)); err != nil {
		t.Error(err)
	}
}
