package gate_test

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestAllSlowerAfterFewRuns holds that a slow-down of all cells is not blamed on the
// host where nothing was recorded of the host.
func TestAllSlowerAfterFewRuns(t *testing.T) {
	r := rand.New(rand.NewPCG(21, 22))
	for runs := 3; runs <= 8; runs++ {
		var ref, got []bench.Result
		for i := range 40 {
			id := fmt.Sprint("c", i)
			ref = append(ref, withHistory(id, 100, noisy(r, 100, 0.01, runs)))
			got = append(got, inTurns(id, noisy(r, 150, 0.01, 4), nil))
			got[i].Samples[0].Values = got[i].Samples[0].Values[:1]
		}
		if ids, _ := gate.Open(gate.Compare("b", run(ref...), run(got...), gate.DefaultPolicy())); len(ids) != len(got) {
			t.Errorf("after %d runs, %d of %d suspects are measured again", runs, len(ids), len(got))
		}
		for i := range got {
			got[i].Samples[0].Values, got[i].Selected = got[i].Samples[0].Values[:4], 1
		}
		c := gate.Compare("b", run(ref...), run(got...), gate.DefaultPolicy())
		if d := gate.Decide([]gate.Comparison{c}, gate.DefaultPolicy()); d.Status != gate.StatusFailed || d.Counts[gate.Unchanged] > 0 {
			t.Errorf("after %d runs, all 50 %% slower: %s, %v", runs, d.Status, d.Counts)
		}
	}
}

// TestAllOpenIsSaid holds that a loss which all cells share, and which is taken out
// of them, is reported where earlier runs differ too much to call it one.
func TestAllOpenIsSaid(t *testing.T) {
	r := rand.New(rand.NewPCG(23, 24))
	nights := noisy(r, 1, 0.05, 15)
	var ref, got []bench.Result
	for i := range 40 {
		id := fmt.Sprint("c", i)
		history := noisy(r, 100, 0.003, len(nights))
		for k := range history {
			history[k] *= nights[k]
		}
		ref = append(ref, withHistory(id, 100, history))
		got = append(got, inTurns(id, noisy(r, 108, 0.003, 1), nil))
	}
	c := gate.Compare("b", run(ref...), run(got...), gate.DefaultPolicy())
	if v := c.Verdicts[0]; v.Cell != "" || !v.Undecided() || v.Delta > -4 || v.Reason == "" {
		t.Errorf("all cells look 8 %% slower: %+v", v)
	}
	// The common part is judged by a limit of the configuration as well.
	p := gate.DefaultPolicy()
	p.Threshold, p.MinEffect = 20, 20
	if v := gate.Compare("b", run(ref...), run(got...), p).Verdicts[0]; v.Cell == "" {
		t.Errorf("with a limit of 20 %%: %+v", v)
	}
}

// TestOneRunAgainstHistory holds that one run is a suspicion, but for a loss that
// is beyond the threshold and beyond what two sessions differ by.
func TestOneRunAgainstHistory(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	r := rand.New(rand.NewPCG(25, 26))
	ref := run(withHistory("a", 100, noisy(r, 100, 0.08, 12)))
	for _, test := range []struct {
		value float64
		want  string
	}{{108, "?pairs "}, {150, "?pairs "}, {350, "blocks "}} {
		v := verdictOf(t, gate.Compare("b", ref, run(inTurns("a", []float64{test.value, test.value, test.value}, nil)), gate.DefaultPolicy()), "a")
		if standing(&v) != test.want {
			t.Errorf("%v: %+v", test.value, v)
		}
	}
	// Unchanged cells, however noisy, are rarely hit by that after a second look.
	blocked := 0
	const cells = 4000
	for _, sd := range []float64{0.03, 0.1, 0.3} {
		for range cells {
			history, values := noisy(r, 100, sd, 12), noisy(r, 100, sd, 4)
			got := run(inTurns("a", values[:1], nil))
			if ids, _ := gate.Open(gate.Compare("b", run(withHistory("a", 100, history)), got, gate.DefaultPolicy())); len(ids) > 0 {
				got = run(inTurns("a", values, nil))
				got.Results[0].Selected = 1
			}
			if v := verdictOf(t, gate.Compare("b", run(withHistory("a", 100, history)), got, gate.DefaultPolicy()), "a"); v.Blocks {
				blocked++
			}
		}
	}
	t.Logf("%.2f %% of unchanged cells block", 100*float64(blocked)/(3*cells))
	if blocked > 3*cells/200 {
		t.Errorf("%d of %d unchanged cells block", blocked, 3*cells)
	}
}

// TestPairsThatCannotBeTested holds that what pairs have and statistics cannot
// use is compared all the same.
func TestPairsThatCannotBeTested(t *testing.T) {
	base := []float64{100, 100, 101, 100, 99}
	pairs := func(metric string, values, base []float64) bench.Result {
		return bench.Result{Cell: bench.Cell{Raw: "a"}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: metric, Values: values, Base: base}}}
	}
	threshold := gate.DefaultPolicy()
	threshold.Method = gate.MethodThreshold
	for _, test := range []struct {
		name   string
		got    bench.Result
		policy gate.Policy
		class  gate.Finding
		want   string
	}{
		{"a speed of nothing", pairs("decode_tps", make([]float64, 5), base), gate.DefaultPolicy(), gate.Regressed, "blocks "},
		{"a time of nothing", pairs("ttft_ms", make([]float64, 5), base), gate.DefaultPolicy(), gate.Implausible, "blocks "},
		{"two pairs", pairs("ttft_ms", []float64{150, 151}, base[:2]), gate.DefaultPolicy(), gate.Regressed, "blocks "},
		{"two equal pairs", pairs("ttft_ms", []float64{100, 99}, base[:2]), gate.DefaultPolicy(), gate.Unchanged, ""},
		{"by the threshold", pairs("ttft_ms", []float64{120, 121, 120, 120, 120}, base), threshold, gate.Regressed, "blocks "},
		{"within the threshold", pairs("ttft_ms", []float64{105, 105, 105, 105, 105}, base), threshold, gate.Unchanged, ""},
		{"what must be equal", pairs("checksum", []float64{1, 1}, []float64{2, 2}), gate.DefaultPolicy(), gate.Incorrect, "blocks "},
		{"what is equal", pairs("checksum", []float64{2, 2}, []float64{2, 2}), gate.DefaultPolicy(), gate.Unchanged, ""},
	} {
		c := gate.Compare("", nil, run(test.got), test.policy)
		if v := c.Verdicts[0]; len(c.Verdicts) != 1 || v.Finding != test.class || standing(&v) != test.want || v.Reference != "base" {
			t.Errorf("%s: %+v", test.name, c.Verdicts)
		}
		if test.want == "" && c.Unjudged != "" {
			t.Errorf("%s: Unjudged %q", test.name, c.Unjudged)
		}
	}
	// A cell that the baseline has as failing is judged by its pairs.
	failing := run(cell("a!failed"))
	c := gate.Compare("b", failing, run(pairs("ttft_ms", slices.Repeat([]float64{150, 151, 150, 152, 150}, 6), slices.Repeat(base, 6))), gate.DefaultPolicy())
	if v := verdictOf(t, c, "a"); v.Finding != gate.Regressed || c.Verdicts[0].Finding != gate.Fixed {
		t.Errorf("failed in the baseline: %+v", c.Verdicts)
	}
}

// TestFewUsableRunsAreNoHistory holds that the limit decides where most earlier
// runs hold no number that can be used.
func TestFewUsableRunsAreNoHistory(t *testing.T) {
	v := verdictOf(t, gate.Compare("b", run(withHistory("a", 100, []float64{0, 100, 101})), run(inTurns("a", []float64{150}, nil)), gate.DefaultPolicy()), "a")
	if v.Finding != gate.Regressed || v.Evidence.Method != "threshold" {
		t.Errorf("%+v", v)
	}
}

// TestPairsAreAskedForInStages holds that cells which look slower are measured in
// more pairs, that others are not, and that the pairs of the looks convict of nothing: a
// loss that is hardly seen takes all stages, and fresh pairs decide a large one early.
func TestPairsAreAskedForInStages(t *testing.T) {
	stages := detect.DefaultStages()
	early := stages.Looks[0].Pairs + stages.Early.Pairs
	for _, c := range []struct {
		level float64
		want  map[int]int // by the pairs that there are
	}{
		{102, map[int]int{2: stages.Looks[1].Pairs, 5: stages.Looks[2].Pairs, 10: stages.Total()}},
		{107, map[int]int{2: early, 5: early, 10: 0}},
	} {
		for pairs, want := range c.want {
			r := rand.New(rand.NewPCG(27, 27))
			var got []bench.Result
			for i := range 40 {
				level := 100.0
				if i == 0 {
					level = c.level
				}
				got = append(got, inTurns(fmt.Sprint("c", i), noisy(r, level, 0.007, 10)[:pairs], noisy(r, 100, 0.007, 10)[:pairs]))
			}
			compared := gate.Compare("", nil, run(got...), gate.DefaultPolicy())
			need := gate.Pairs(compared)
			v := verdictOf(t, compared, "c0")
			if need["c0"] != want || v.Finding != gate.Regressed && want == 0 || v.Blocks != (want == 0) || v.Undecided() == v.Blocks {
				t.Errorf("%v, %d pairs: needs %v, want %d: %+v", c.level, pairs, need["c0"], want, v)
			}
			if len(need) > 25 {
				t.Errorf("after %d pairs: %d of 40 cells go on", pairs, len(need))
			}
		}
	}
}

// TestMorePairsAtFirst holds that the pairs which every cell was measured in at first
// are all used, so that more of them make intervals narrower, and that a run which
// claims more pairs than it has proves nothing.
func TestMorePairsAtFirst(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 28))
	got := run(inTurns("a", noisy(r, 100, 0.05, 12), noisy(r, 101, 0.05, 12)))
	few := verdictOf(t, gate.Compare("", nil, got, gate.DefaultPolicy()), "a")
	got.Context = map[string]string{bench.FirstPairs: "12"}
	all := verdictOf(t, gate.Compare("", nil, got, gate.DefaultPolicy()), "a")
	if few.Evidence.Pairs >= 12 || all.Evidence.Pairs != 12 || all.Interval[1]-all.Interval[0] >= few.Interval[1]-few.Interval[0] {
		t.Errorf("%+v, with 12 pairs %+v", few, all)
	}
	slow := run(inTurns("a", noisy(r, 130, 0.01, 30), noisy(r, 100, 0.01, 30)))
	slow.Context = map[string]string{bench.FirstPairs: "99999999999999999999"}
	if v := verdictOf(t, gate.Compare("", nil, slow, gate.DefaultPolicy()), "a"); !v.Blocks {
		t.Errorf("an absurd number of pairs: %+v", v)
	}
	slow.Context[bench.FirstPairs] = "90"
	if v := verdictOf(t, gate.Compare("", nil, slow, gate.DefaultPolicy()), "a"); !v.Blocks || v.Evidence.Need != 90 {
		t.Errorf("a claim of 90 pairs: %+v", v)
	}
}

// TestLossOnAnUnwellMachineIsLookedAtAgain holds it for fixed limits, too.
func TestLossOnAnUnwellMachineIsLookedAtAgain(t *testing.T) {
	slow := inTurns("a", []float64{150}, nil)
	slow.Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"busy"}}
	if _, why := gate.Open(gate.Compare("b", run(withHistory("a", 100, nil)), run(slow), gate.DefaultPolicy())); why["a"] != gate.Confirm {
		t.Errorf("%v", why)
	}
}

// TestWaivedByEvidence holds that a waiver is about a loss, however that was shown.
func TestWaivedByEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(28, 29))
	p := gate.DefaultPolicy()
	p.Today = 20000
	p.Waivers = []waiver.Entry{{Cell: "a", Metric: "ttft_ms", Ceiling: 8, Expires: 20030, Reason: "known"}}
	for _, test := range []struct {
		level float64
		want  string
	}{{106, "waiver"}, {115, "blocks "}} {
		c := gate.Compare("", nil, run(inTurns("a", noisy(r, test.level, 0.003, 30), noisy(r, 100, 0.003, 30))), p)
		if v := verdictOf(t, c, "a"); v.Finding != gate.Regressed || standing(&v) != test.want {
			t.Errorf("%v: %+v, %+v", test.level, v, c.Waivers)
		}
	}
}

// TestAcceptedLossEnds holds that a loss which was recorded in the baseline is not
// held against a cell by the runs before it, of one cell or of all.
func TestAcceptedLossEnds(t *testing.T) {
	for _, cells := range []int{1, 40} {
		r := rand.New(rand.NewPCG(30, 31))
		var ref, got, worse []bench.Result
		for i := range cells {
			id := fmt.Sprint("c", i)
			ref = append(ref, withHistory(id, 106, noisy(r, 100, 0.004, 12)))
			got = append(got, inTurns(id, noisy(r, 106, 0.004, 1), nil))
			worse = append(worse, inTurns(id, noisy(r, 112, 0.004, 3), nil))
			worse[i].Sessions = 3
		}
		p := gate.DefaultPolicy()
		if d := gate.Decide([]gate.Comparison{gate.Compare("b", run(ref...), run(got...), p)}, p); d.Status != gate.StatusWarned {
			t.Errorf("%d cells that one run suspects: %s, %v", cells, d.Status, d.Blocking)
		}
		if d := gate.Decide([]gate.Comparison{gate.Compare("b", run(ref...), run(worse...), p)}, p); d.Status != gate.StatusFailed {
			t.Errorf("%d cells that are slower still: %s", cells, d.Status)
		}
	}
}

// TestPairsAndAnchors holds that pairs on another host know no anchor, and that
// a baseline that never moved is one.
func TestPairsAndAnchors(t *testing.T) {
	r := rand.New(rand.NewPCG(32, 33))
	p := gate.DefaultPolicy()
	p.Drift = 10
	ref, got := run(withHistory("a", 100, nil)), run(inTurns("a", noisy(r, 130, 0.003, 5), noisy(r, 130, 0.003, 5)))
	ref.Results[0].Samples[0].Anchor = 100
	find := func() (v *gate.Verdict) {
		c := gate.Compare("b", ref, got, p)
		if i := slices.IndexFunc(c.Verdicts, func(v gate.Verdict) bool { return v.Metric != "" && v.Reference != "base" }); i >= 0 {
			v = &c.Verdicts[i]
		}
		return v
	}
	if v := find(); v == nil || v.Finding != gate.Regressed || v.DecidedBy != gate.ByNewBaseline || !v.UndecidedLoss() {
		t.Errorf("of unknown noise: %+v", v)
	}
	ref.Results[0].Samples[0].Summary.Noise = 0.01
	if v := find(); v == nil || v.Finding != gate.Drifted || !v.Blocks {
		t.Errorf("of little noise: %+v", v)
	}
	ref.Host.CPU = "another"
	if v := find(); v != nil {
		t.Errorf("on another host: %+v", v)
	}
}

// TestPairsSettleEachCellOnce holds that one cell that was judged in two ways does
// not stand for another one that was not.
func TestPairsSettleEachCellOnce(t *testing.T) {
	r := rand.New(rand.NewPCG(34, 35))
	p := gate.DefaultPolicy()
	p.Expected = map[string]bench.Expected{"a": {Cell: "a", Metric: "ttft_ms", References: []bench.Reference{{Name: bench.InitialReference, Value: 100, Tolerance: 0.1}}}}
	ref := run(withHistory("a", 100, nil), withHistory("c", 100, nil))
	ref.Host.CPU = "another"
	got := run(inTurns("a", noisy(r, 100, 0.003, 5), noisy(r, 100, 0.003, 5)), inTurns("c", noisy(r, 300, 0.003, 5), nil))
	if c := gate.Compare("b", ref, got, p); c.Unjudged == "" {
		t.Errorf("a cell that nothing judged passes for one that was: %v", lines(c))
	}
}

// TestPairsOfCases holds that a case without a recorded time is judged by the pairs
// that it was measured in.
func TestPairsOfCases(t *testing.T) {
	r := rand.New(rand.NewPCG(36, 37))
	p := gate.DefaultPolicy()
	p.Expected = map[string]bench.Expected{"a": {Cell: "a", Metric: "ttft_ms"}}
	c := gate.Compare("", nil, run(inTurns("a", noisy(r, 130, 0.003, 30), noisy(r, 100, 0.003, 30))), p)
	if d := gate.Decide([]gate.Comparison{c}, p); d.Status != gate.StatusFailed || d.Blocking[gate.Regressed] != 1 {
		t.Errorf("%s: %v", d.Status, lines(c))
	}
}
