package gate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"unicode"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// noisy returns n values around a level with the relative noise sd.
func noisy(r *rand.Rand, level, sd float64, n int) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = level * math.Exp(sd*r.NormFloat64())
	}
	return values
}

// inTurns is a cell with values of a time, and a base where it was measured in
// pairs.
func inTurns(id string, values, base []float64) bench.Result {
	return bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Passed,
		Samples: []bench.Sample{{Metric: "ttft_ms", Values: values, Base: base}}}
}

// withHistory is a cell of a baseline with earlier runs of one value each.
func withHistory(id string, median float64, history []float64) bench.Result {
	s := bench.Sample{Metric: "ttft_ms", Summary: &bench.Summary{Median: median, MAD: median / 100, N: 5}}
	for _, v := range history {
		s.History = append(s.History, []float64{v})
	}
	return bench.Result{Cell: bench.Cell{Raw: id}, Outcome: bench.Passed, Samples: []bench.Sample{s}}
}

// verdictOf returns the verdict on the time of a cell.
func verdictOf(t *testing.T, c gate.Comparison, id string) gate.Verdict {
	t.Helper()
	i := slices.IndexFunc(c.Verdicts, func(v gate.Verdict) bool { return v.Cell == id && v.Metric == "ttft_ms" })
	if i < 0 {
		t.Fatalf("no verdict on %s: %v", id, lines(c))
	}
	return c.Verdicts[i]
}

func TestPairsNeedNoBaseline(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	base := noisy(r, 100, 0.005, 30)
	c := gate.Compare("", nil, run(inTurns("same", noisy(r, 100, 0.005, 30), base), inTurns("slow", noisy(r, 106, 0.005, 30), base)), gate.DefaultPolicy())
	if c.Unjudged != "" {
		t.Errorf("Unjudged = %q", c.Unjudged)
	}
	slow, same := verdictOf(t, c, "slow"), verdictOf(t, c, "same")
	if slow.Finding != gate.Regressed || !slow.Blocks || slow.Evidence.Method != gate.MethodPairs || slow.Reference != "base" {
		t.Errorf("slow: %+v", slow)
	}
	if slow.Delta > -4 || slow.Delta < -8 || slow.Interval[0] > slow.Delta || slow.Interval[1] < slow.Delta || slow.Evidence.P > 0.01 {
		t.Errorf("slow: change %v in %v, p %v", slow.Delta, slow.Interval, slow.Evidence.P)
	}
	if same.Finding == gate.Regressed || same.Evidence.MDE <= 0 {
		t.Errorf("same: %+v", same)
	}
	if d := gate.Decide([]gate.Comparison{c}, gate.Policy{RequireBaseline: true}); d.Status != gate.StatusFailed || d.Judged != 2 {
		t.Errorf("decision %+v", d)
	}
}

// TestHistoryDecides holds where evidence takes over from the fixed limit: a loss
// of 6 % is within a limit of 10 %, and plain to see in a quiet history.
func TestHistoryDecides(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	history := noisy(r, 100, 0.004, 12)
	got := run(inTurns("a", noisy(r, 106, 0.004, 3), nil))
	got.Results[0].Sessions = 3
	for _, test := range []struct {
		name    string
		history []float64
		method  gate.Method
		class   gate.Finding
		says    gate.Method
	}{
		{"a quiet history", history, "", gate.Regressed, gate.MethodHistory},
		{"by the threshold alone", history, gate.MethodThreshold, gate.Unchanged, gate.MethodThreshold},
		{"two runs are no history", history[:2], "", gate.Unchanged, gate.MethodSessions},
		{"none at all", nil, "", gate.Unchanged, gate.MethodSessions},
	} {
		p := gate.DefaultPolicy()
		p.Method = test.method
		v := verdictOf(t, gate.Compare("b", run(withHistory("a", 100, test.history)), got, p), "a")
		if v.Finding != test.class || v.Evidence.Method != test.says {
			t.Errorf("%s: %s by %q, want %s by %q: %+v", test.name, v.Finding, v.Evidence.Method, test.class, test.says, v)
		}
	}
	// 6 % are too little for whoever says that 8 % are the limit.
	p := gate.DefaultPolicy()
	p.MinEffect, p.Threshold = 8, 8
	if v := verdictOf(t, gate.Compare("b", run(withHistory("a", 100, history)), got, p), "a"); v.Finding == gate.Regressed {
		t.Errorf("with a limit of 8 %%: %+v", v)
	}
}

// TestOpenIsNoPass holds that noise which could hide the limit is never called
// unchanged, and that a policy can make it block.
func TestOpenIsNoPass(t *testing.T) {
	r := rand.New(rand.NewPCG(5, 6))
	ref := run(withHistory("a", 100, noisy(r, 100, 0.12, 12)))
	got := run(inTurns("a", []float64{104}, nil))
	for _, level := range []string{"warn", gate.InconclusiveFail} {
		p := gate.DefaultPolicy()
		p.Inconclusive = level
		v := verdictOf(t, gate.Compare("b", ref, got, p), "a")
		if !v.Undecided() || v.Blocks != (level == gate.InconclusiveFail) || v.Evidence.MDE < 10 || v.Reason == "" {
			t.Errorf("%s: %+v", level, v)
		}
	}
}

// TestSelectionDoesNotCount holds that the value that made a cell suspect is not
// used against it, under either method.
func TestSelectionDoesNotCount(t *testing.T) {
	r := rand.New(rand.NewPCG(7, 8))
	for _, history := range [][]float64{nil, noisy(r, 100, 0.005, 12)} {
		ref := run(withHistory("a", 100, history))
		got := run(inTurns("a", []float64{150, 100.1, 99.9, 100.2}, nil))
		if v := verdictOf(t, gate.Compare("b", ref, run(inTurns("a", []float64{150}, nil)), gate.DefaultPolicy()), "a"); v.Finding != gate.Regressed && !v.Undecided() {
			t.Fatalf("the first value does not look slow: %+v", v)
		}
		got.Results[0].Selected = 1
		v := verdictOf(t, gate.Compare("b", ref, got, gate.DefaultPolicy()), "a")
		if v.Finding != gate.Unchanged || v.New > 101 || v.Evidence.Again != 3 {
			t.Errorf("history %v: %+v", history != nil, v)
		}
		if len(got.Results[0].Samples[0].Values) != 4 {
			t.Error("the run was changed")
		}
	}
}

// TestUnhealthyHost holds that a loss on an unhealthy host is undecided, whether a baseline
// is required or not.
func TestUnhealthyHost(t *testing.T) {
	ref, slow := run(withHistory("a", 100, nil)), inTurns("a", []float64{150}, nil)
	slow.Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"nvidia:0 is throttled by heat\x1b[31m"}}
	for _, required := range []bool{false, true} {
		p := gate.DefaultPolicy()
		p.RequireBaseline = required
		c := gate.Compare("b", ref, run(slow), p)
		v := verdictOf(t, c, "a")
		if v.Finding != gate.Regressed || v.DecidedBy != gate.ByHealthyHost || v.Blocks || v.Health == "" {
			t.Errorf("%+v", v)
		}
		if d := gate.Decide([]gate.Comparison{c}, p); d.Status != gate.StatusUndecided || d.Losses != 1 {
			t.Errorf("%+v", d)
		}
		if strings.ContainsFunc(v.Reason, unicode.IsControl) {
			t.Errorf("control characters in %q", v.Reason)
		}
	}
	p := gate.DefaultPolicy()
	p.Unhealthy = gate.UnhealthyIgnore
	if v := verdictOf(t, gate.Compare("b", ref, run(slow), p), "a"); !v.Blocks {
		t.Errorf("ignored: %+v", v)
	}
	slow.Health.Status = bench.HealthUnknown
	if v := verdictOf(t, gate.Compare("b", ref, run(slow), gate.DefaultPolicy()), "a"); !v.Blocks {
		t.Errorf("unknown: %+v", v)
	}
}

// TestPairsStandOnAnUnhealthyHost: health is shown beside a loss by pairs, and takes nothing back.
func TestPairsStandOnAnUnhealthyHost(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 1))
	slow := inTurns("a", noisy(r, 130, 0.004, 30), noisy(r, 100, 0.004, 30))
	slow.Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"other programs used 49 % of the processors"}}
	got := run(slow)
	got.Calibration = &bench.Calibration{Before: []float64{100, 100.1, 100}, After: []float64{200, 200.1, 200}}
	c := gate.Compare("", nil, got, gate.DefaultPolicy())
	if v := verdictOf(t, c, "a"); v.Finding != gate.Regressed || v.Undecided() || !v.Blocks || !strings.Contains(v.Health, "other programs used 49 %") {
		t.Errorf("%+v", v)
	}
	if d := gate.Decide([]gate.Comparison{c}, gate.DefaultPolicy()); d.Status != gate.StatusFailed {
		t.Errorf("%+v", d)
	}
}

// TestManyCells holds that 100 unchanged cells rarely raise an alarm, that few
// changed ones among them are found, and that what slows all of them is not lost.
func TestManyCells(t *testing.T) {
	alarms, found := 0, 0
	const trials = 30
	for trial := range trials {
		r := rand.New(rand.NewPCG(uint64(trial), 9))
		var ref, null, slow, all []bench.Result
		for i := range 100 {
			id := fmt.Sprint("c", i)
			ref = append(ref, withHistory(id, 100, noisy(r, 100, 0.01, 15)))
			value := noisy(r, 100, 0.01, 3)
			null = append(null, inTurns(id, value, nil))
			factor := 1.0
			if i < 3 {
				factor = 1.15
			}
			slow = append(slow, inTurns(id, []float64{factor * value[0], factor * value[1], factor * value[2]}, nil))
			all = append(all, inTurns(id, []float64{1.15 * value[0], 1.15 * value[1], 1.15 * value[2]}, nil))
			null[i].Sessions, slow[i].Sessions, all[i].Sessions = 3, 3, 3
		}
		regressed := func(results []bench.Result) int {
			return gate.Decide([]gate.Comparison{gate.Compare("b", run(ref...), run(results...), gate.DefaultPolicy())}, gate.DefaultPolicy()).Counts[gate.Regressed]
		}
		alarms += regressed(null)
		found += regressed(slow)
		c := gate.Compare("b", run(ref...), run(all...), gate.DefaultPolicy())
		if c.Verdicts[0].Cell != "" || c.Verdicts[0].Finding != gate.Regressed || !c.Verdicts[0].Blocks || c.Verdicts[0].Delta > -10 {
			t.Errorf("trial %d: all cells slower: %+v", trial, c.Verdicts[0])
		}
		if n := regressed(all); n < 80 {
			t.Errorf("trial %d: all cells slower, and %d are named", trial, n)
		}
	}
	if alarms > 6 { // of 3,000: 0.2 %
		t.Errorf("%d alarms in %d unchanged reports", alarms, trials)
	}
	if found < 80 { // of 90, alarms of others included
		t.Errorf("%d of %d slow cells found", found, 3*trials)
	}
}

func TestOpen(t *testing.T) {
	r := rand.New(rand.NewPCG(11, 12))
	history := noisy(r, 100, 0.01, 12)
	for _, test := range []struct {
		name   string
		ref    bench.Result
		values []float64
		want   gate.Request
	}{
		{"slower by the limit", withHistory("a", 100, nil), []float64{120}, gate.Confirm},
		{"slower by evidence", withHistory("a", 100, history), []float64{106}, gate.Confirm},
		{"perhaps slower", withHistory("a", 100, history), []float64{102.1}, gate.Confirm},
		{"faster", withHistory("a", 100, history), []float64{95}, ""},
		{"on the limit", withHistory("a", 100, nil), []float64{105, 109, 112}, gate.Resolve},
		{"well within", withHistory("a", 100, nil), []float64{101, 102, 103}, ""},
	} {
		ids, why := gate.Open(gate.Compare("b", run(test.ref), run(inTurns("a", test.values, nil)), gate.DefaultPolicy()))
		if why["a"] != test.want || (len(ids) > 0) != (test.want != "") {
			t.Errorf("%s: %v %v, want %q", test.name, ids, why, test.want)
		}
		again := inTurns("a", append([]float64{130}, test.values...), nil)
		again.Selected = 1
		if ids, _ := gate.Open(gate.Compare("b", run(test.ref), run(again), gate.DefaultPolicy())); len(ids) > 0 {
			t.Errorf("%s: a third look is asked for", test.name)
		}
	}
}

// TestEvidenceProperties holds what must not matter, and what must.
func TestEvidenceProperties(t *testing.T) {
	for seed := range uint64(200) {
		r := rand.New(rand.NewPCG(seed, 13))
		sd := math.Exp(-2 - 4*r.Float64())
		history, head := noisy(r, 50, sd, 14), noisy(r, 50*(1+0.2*r.Float64()), sd, 1)
		verdict := func(scale float64, invert bool, slower float64) gate.Verdict {
			turn := func(values []float64, factor float64) []float64 {
				out := slices.Clone(values)
				for i := range out {
					if out[i] *= scale * factor; invert {
						out[i] = 1 / out[i]
					}
				}
				return out
			}
			ref, got := withHistory("a", turn([]float64{50}, 1)[0], turn(history, 1)), inTurns("a", turn(head, slower), nil)
			name := "ttft_ms"
			if invert {
				name = "decode_tps"
			}
			ref.Samples[0].Metric, got.Samples[0].Metric = name, name
			c := gate.Compare("b", run(ref), run(got), gate.DefaultPolicy())
			return c.Verdicts[0]
		}
		plain, scaled, inverse, worse := verdict(1, false, 1), verdict(1e6, false, 1), verdict(1, true, 1), verdict(1, false, 1.05)
		if plain.Evidence.Method != gate.MethodHistory || plain.Finding != scaled.Finding || math.Abs(plain.Delta-scaled.Delta) > 1e-6 {
			t.Errorf("seed %d: in another unit %+v, %+v", seed, plain, scaled)
		}
		if math.Abs(plain.Evidence.P-inverse.Evidence.P) > 1e-9 {
			t.Errorf("seed %d: as a rate p %v, as a time %v", seed, inverse.Evidence.P, plain.Evidence.P)
		}
		if worse.Evidence.P > plain.Evidence.P+1e-12 || worse.Delta > plain.Delta {
			t.Errorf("seed %d: slower looks better: %+v, %+v", seed, plain, worse)
		}
		if plain.Finding == gate.Regressed && worse.Finding != gate.Regressed {
			t.Errorf("seed %d: regressed, and not when slower still", seed)
		}
	}
}

// TestHostMoved holds that a loss which the machine's own piece of work shows as
// well is not blamed on the code, that a larger one is, and that both block.
func TestHostMoved(t *testing.T) {
	quiet, slower := []float64{100, 100.2, 99.9, 100.1, 100}, []float64{108, 108.2, 107.9, 108.1, 108}
	for _, test := range []struct {
		name     string
		ref, now *bench.Calibration
		value    float64
		base     []float64
		want     gate.Decider
	}{
		{"health unknown", nil, nil, 115, nil, gate.Certain},
		{"it stayed", &bench.Calibration{Before: quiet[:1]}, &bench.Calibration{Before: quiet, After: quiet}, 115, nil, gate.Certain},
		{"it became slower meanwhile", nil, &bench.Calibration{Before: quiet, After: slower}, 115, nil, gate.ByHealthyHost},
		{"it is slower than it was", &bench.Calibration{Before: quiet[:1]}, &bench.Calibration{Before: slower, After: slower}, 115, nil, gate.ByHealthyHost},
		{"it is faster than it was", &bench.Calibration{Before: slower[:1]}, &bench.Calibration{Before: quiet, After: quiet}, 115, nil, gate.Certain},
		{"the loss is far larger", nil, &bench.Calibration{Before: quiet, After: slower}, 130, nil, gate.Certain},
		{"pairs", nil, &bench.Calibration{Before: quiet, After: slower}, 112, slices.Repeat(quiet, 6), gate.Certain},
	} {
		values := []float64{test.value, test.value * 1.001, test.value * 0.999, test.value, test.value * 1.002}
		if test.base != nil {
			values = slices.Repeat(values, 6)
		}
		ref, got := run(withHistory("a", 100, nil)), run(inTurns("a", values, test.base))
		ref.Calibration, got.Calibration = test.ref, test.now
		if v := verdictOf(t, gate.Compare("b", ref, got, gate.DefaultPolicy()), "a"); v.Finding != gate.Regressed || v.DecidedBy != test.want || v.Blocks != (test.want == gate.Certain) {
			t.Errorf("%s: %+v", test.name, v)
		}
	}
}

// TestCostOfUnchangedCells holds that second looks are rare where nothing has
// changed: at most 1.5 measurements a cell with one value and 3 more for suspects.
func TestCostOfUnchangedCells(t *testing.T) {
	for _, noise := range []struct {
		name string
		draw func(r *rand.Rand) float64
	}{
		{"normal", (*rand.Rand).NormFloat64},
		{"heavy tails", func(r *rand.Rand) float64 { return r.NormFloat64() / math.Sqrt(r.ExpFloat64()) }},
		{"two modes", func(r *rand.Rand) float64 { return r.NormFloat64()/3 + float64(r.IntN(2)) }},
	} {
		r := rand.New(rand.NewPCG(17, 18))
		const cells, confirm = 1000, 3
		var ref, got []bench.Result
		for i := range cells {
			sd := math.Exp(-5 + 2*r.Float64()) // 0.7 to 5 %
			values := make([]float64, 16)
			for k := range values {
				values[k] = 100 * math.Exp(sd*noise.draw(r))
			}
			id := fmt.Sprint("c", i)
			ref, got = append(ref, withHistory(id, 100, values[:15])), append(got, inTurns(id, values[15:], nil))
		}
		ids, _ := gate.Open(gate.Compare("b", run(ref...), run(got...), gate.DefaultPolicy()))
		cost := 1 + confirm*float64(len(ids))/cells
		t.Logf("%s: %.2f measurements of an unchanged cell", noise.name, cost)
		if cost > 1.5 {
			t.Errorf("%s: %.2f measurements of an unchanged cell, want at most 1.5", noise.name, cost)
		}
	}
}

// TestRunsThatLackTheCell holds that what a number is compared with is what the
// score took, though the newest runs have none.
func TestRunsThatLackTheCell(t *testing.T) {
	ref := withHistory("a", 100, []float64{100, 101, 99, 100.5})
	ref.Samples[0].History = append(ref.Samples[0].History, nil, nil, nil, nil)
	v := verdictOf(t, gate.Compare("b", run(ref), run(inTurns("a", []float64{130}, nil)), gate.DefaultPolicy()), "a")
	if !v.Undecided() || v.Old < 99 || v.Old > 101 || v.Evidence.OldN != 4 {
		t.Errorf("%+v", v)
	}
}
