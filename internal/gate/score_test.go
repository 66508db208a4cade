package gate_test

import (
	"math/rand/v2"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// estimate is a score with a standard error; 0 is none.
type estimate struct{ value, stderr float64 }

// scoring is a run of one cell for each score.
func scoring(scores ...estimate) *bench.Run {
	r := run()
	r.Metrics = []bench.Metric{{Name: "acc", Better: bench.Higher, Kind: bench.Score}}
	for i, s := range scores {
		sample := bench.Sample{Metric: "acc", Values: []float64{s.value}}
		if s.stderr > 0 {
			sample.Estimates = []bench.Estimate{bench.StdErrEstimate(s.value, s.stderr)}
		}
		r.Results = append(r.Results, bench.Result{Cell: bench.Cell{Suite: "s", Raw: string(rune('a' + i))}, Outcome: bench.Passed, Samples: []bench.Sample{sample}})
	}
	return r
}

func TestScoresAreTested(t *testing.T) {
	one, two := gate.Limit{Test: gate.TestOneSided}, gate.Limit{Test: gate.TestTwoSided}
	sure := estimate{0.76, 0.004} // a difference has the standard error 0.00566, and 2 % are 2.05 of it
	for name, c := range map[string]struct {
		ref, got estimate
		limit    gate.Limit
		want     string
	}{
		"equal":                      {sure, sure, one, "a acc unchanged 0"},
		"within":                     {sure, estimate{0.749, 0.004}, one, "a acc unchanged -1.447"},
		"significant":                {sure, estimate{0.748, 0.004}, one, "a acc regressed blocks -1.579"},
		"better":                     {sure, estimate{0.8, 0.004}, one, "a acc unchanged 5.263"},
		"two-sided, within":          {sure, estimate{0.748, 0.004}, two, "a acc unchanged -1.579"},
		"two-sided, worse":           {sure, estimate{0.746, 0.004}, two, "a acc regressed blocks -1.842"},
		"two-sided, better":          {sure, estimate{0.774, 0.004}, two, "a acc incorrect blocks 1.842"},
		"less than change":           {sure, estimate{0.748, 0.004}, gate.Limit{Test: gate.TestOneSided, Change: &gate.Change{Percent: 2.0}}, "a acc unchanged -1.579"},
		"as much as change":          {sure, estimate{0.74, 0.004}, gate.Limit{Test: gate.TestOneSided, Change: &gate.Change{Percent: 2.0}}, "a acc regressed blocks -2.632"},
		"unsure baseline":            {estimate{0.76, 0.04}, estimate{0.7, 0.004}, one, "a acc unchanged -7.895"},
		"baseline of an old version": {estimate{0.76, 0}, estimate{0.748, 0.004}, one, "a acc regressed blocks -1.579"},
		"no standard error":          {sure, estimate{0.76, 0}, one, "a acc missing blocks 0"},
	} {
		got := lines(gate.Compare("base", scoring(c.ref), scoring(c.got), limiting(fixed(), "acc", c.limit)))
		if diff := cmp.Diff([]string{c.want}, got); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

// TestScoresOfAnUnhealthyHost: heat makes no answer wrong.
func TestScoresOfAnUnhealthyHost(t *testing.T) {
	got := scoring(estimate{0.7, 0.004})
	got.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"hot"}}
	c := gate.Compare("base", scoring(estimate{0.76, 0.004}), got, limiting(gate.DefaultPolicy(), "acc", gate.Limit{Test: gate.TestOneSided}))
	if v := c.Verdicts[len(c.Verdicts)-1]; v.Finding != gate.Regressed || !v.Blocks {
		t.Errorf("verdict %+v, want a regression", v)
	}
}

// TestScoresInPairs: the base has no standard error of its own.
func TestScoresInPairs(t *testing.T) {
	got := scoring(estimate{0.748, 0.004})
	got.Results[0].Samples[0].Base = []float64{0.76}
	got.Base = "abc"
	c := gate.Compare("", nil, got, limiting(gate.DefaultPolicy(), "acc", gate.Limit{Test: gate.TestOneSided}))
	if v := c.Verdicts[len(c.Verdicts)-1]; v.Finding != gate.Regressed || v.Reference != "base" {
		t.Errorf("verdict %+v, want a regression against the base", v)
	}
}

// TestFalseAlarmsOfScores: on unchanged code, at most 2 % of the reports block, whatever the number of scores.
func TestFalseAlarmsOfScores(t *testing.T) {
	r := rand.New(rand.NewPCG(3, 4))
	const reports, scores = 2000, 5
	for _, test := range []string{gate.TestOneSided, gate.TestTwoSided} {
		red := 0
		for range reports {
			var old, now []estimate
			for range scores {
				old = append(old, estimate{0.5 + 0.01*r.NormFloat64(), 0.01})
				now = append(now, estimate{0.5 + 0.01*r.NormFloat64(), 0.01})
			}
			p := limiting(fixed(), "acc", gate.Limit{Test: test})
			c := gate.Compare("base", scoring(old...), scoring(now...), p)
			if gate.Decide([]gate.Comparison{c}, p).Status == gate.StatusFailed {
				red++
			}
		}
		if share := float64(red) / reports; share > 0.03 || share < 0.01 {
			t.Errorf("%s: %.1f %% of the reports block, want 2 %%", test, 100*share)
		}
	}
}

// TestRunToRunKeepsTheRate: scores of unchanged code whose runs differ twice as much as their standard error says block in about
// the promised share of reports where 3 or more earlier runs show it, and in many more without them.
func TestRunToRunKeepsTheRate(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(38, 7))
	const sd, stderr, reports = 0.0455, 0.0215, 4000
	blocks := func(runs int) float64 {
		n := 0
		for range reports {
			draw := func() float64 { return 0.525 + sd*rng.NormFloat64() }
			ref, got := scoring(estimate{draw(), stderr}), scoring(estimate{draw(), stderr})
			for range runs {
				s := &ref.Results[0].Samples[0]
				s.History = append(s.History, []float64{draw()})
			}
			c := gate.Compare("base", ref, got, limiting(gate.DefaultPolicy(), "acc", gate.Limit{Test: gate.TestOneSided}))
			if c.Verdicts[0].Blocks {
				n++
			}
		}
		return 100 * float64(n) / reports
	}
	for _, c := range []struct {
		runs int
		max  float64 // of 2 % promised
	}{{3, 4}, {8, 2.7}, {30, 2.4}} {
		if rate := blocks(c.runs); rate > c.max {
			t.Errorf("%d earlier runs: %.2f %% of unchanged reports block", c.runs, rate)
		} else {
			t.Logf("%d earlier runs: %.2f %%", c.runs, rate)
		}
	}
	if rate := blocks(0); rate < 10 {
		t.Errorf("without earlier runs: %.2f %%, so the runs show nothing", rate)
	} else {
		t.Logf("without earlier runs: %.2f %%", rate)
	}
}
