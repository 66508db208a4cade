package gate_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
	"testing"
	"testing/quick"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// limiting returns the policy with the limits of one metric in the cells with these ids, or
// in all.
func limiting(p gate.Policy, metric string, l gate.Limit, ids ...string) gate.Policy {
	l.Metric = metric
	l.Selects = func(c bench.Cell) bool { return len(ids) == 0 || slices.Contains(ids, c.ID()) }
	p.Rules = append(slices.Clone(p.Rules), &l)
	return p
}

func TestLimitsByTheThreshold(t *testing.T) {
	ref := run(cell("a", "decode_tps", 100.0), cell("b", "decode_tps", 100.0))
	check := func(name string, now float64, l gate.Limit, want ...string) {
		t.Helper()
		got := run(cell("a", "decode_tps", now), cell("b", "decode_tps", now))
		c := gate.Compare("base", ref, got, limiting(fixed(), "decode_tps", l, "a"))
		if diff := cmp.Diff(want, lines(c)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
	check("a limit below the threshold blocks", 95, gate.Limit{Change: &gate.Change{Percent: 3.0}}, "a decode_tps regressed blocks -5", "b decode_tps unchanged -5")
	check("exactly the limit passes", 97, gate.Limit{Change: &gate.Change{Percent: 3.0}}, "a decode_tps unchanged -3", "b decode_tps unchanged -3")
	check("a limit above it passes", 80, gate.Limit{Change: &gate.Change{Percent: 30.0}}, "a decode_tps unchanged -20", "b decode_tps regressed blocks -20")
	check("a minimum", 95, gate.Limit{Min: &gate.Bound{Value: 96.0}}, "a decode_tps unchanged -5", "a decode_tps out_of_bounds blocks 0", "b decode_tps unchanged -5")
	check("a median on a bound", 95, gate.Limit{Min: &gate.Bound{Value: 95.0}, Max: &gate.Bound{Value: 95.0}}, "a decode_tps unchanged -5", "b decode_tps unchanged -5")
	check("a maximum of 0", 95, gate.Limit{Max: &gate.Bound{Value: 0.0}}, "a decode_tps unchanged -5", "a decode_tps out_of_bounds blocks 0", "b decode_tps unchanged -5")
}

// TestALimitIsExact but for the noise of binary arithmetic: a loss of exactly the limit passes, and one of a billionth more does not.
func TestALimitIsExact(t *testing.T) {
	finding := func(old, now, limit float64) gate.Finding {
		p := limiting(fixed(), "ttft_ms", gate.Limit{Change: &gate.Change{Percent: limit}})
		return gate.Compare("base", run(cell("a", "ttft_ms", old)), run(cell("a", "ttft_ms", now)), p).Verdicts[0].Finding
	}
	property := func(hundredths, tenths uint16) bool {
		old, limit := float64(hundredths)/100+1, float64(tenths)/10
		now, err := strconv.ParseFloat(fmt.Sprintf("%.5f", old*(1+limit/100)), 64) // exactly the limit, in decimals
		return err == nil && finding(old, now, limit) == gate.Unchanged && finding(old, now*(1+1e-9), limit) == gate.Regressed
	}
	if err := quick.Check(property, testtier.Quick(t, 2000)); err != nil {
		t.Error(err)
	}
	three := 0.1
	three += 0.2
	if finding(0.3, three, 0) != gate.Unchanged || finding(1e11, 1e11+1, 0) != gate.Regressed || finding(0.525, 0.52500525, 0) != gate.Regressed {
		t.Error("a limit of 0 %")
	}
}

// TestBoundsNeedNoBaseline: neither a baseline, nor a healthy host, nor a description of
// the metric is needed, and a metric that is only shown counts as well.
func TestBoundsNeedNoBaseline(t *testing.T) {
	got := run(cell("a", "model_load_ms", 9.5))
	got.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"hot"}}
	p := limiting(gate.DefaultPolicy(), "model_load_ms", gate.Limit{Min: &gate.Bound{Value: 1.0}, Max: &gate.Bound{Value: 8.1}})
	c := gate.Compare("", nil, got, p)
	v := c.Verdicts[len(c.Verdicts)-1]
	if v.Finding != gate.OutOfBounds || !v.Blocks || v.New != 9.5 || v.Reason != "9.5 is above the maximum 8.1" || *v.Evidence.Min != 1 || *v.Evidence.Max != 8.1 {
		t.Errorf("verdict %+v", v)
	}
	if d := gate.Decide([]gate.Comparison{c}, p); d.Status != gate.StatusFailed {
		t.Errorf("decision %+v, want failed", d)
	}
	got.Metrics, got.Results[0].Samples = nil, nil
	c = gate.Compare("", nil, got, p)
	if v := c.Verdicts[len(c.Verdicts)-1]; v.Finding != gate.Missing || !v.Blocks || !strings.Contains(v.Reason, "does not report it") {
		t.Errorf("without the metric: %+v", v)
	}
}

// TestLimitsOfEvidence: in pairs and against history, a loss blocks only if it is
// significant and at least the limit of the metric.
func TestLimitsOfEvidence(t *testing.T) {
	r := rand.New(rand.NewPCG(1, 2))
	base := noisy(r, 100, 0.002, 30)
	paired := func(level float64) (ref, got *bench.Run) {
		return nil, run(inTurns("a", noisy(r, level, 0.002, 30), base))
	}
	earlier := func(level float64) (ref, got *bench.Run) {
		got = run(inTurns("a", noisy(r, level, 0.002, 3), nil))
		got.Results[0].Sessions = 3
		return run(withHistory("a", 100, noisy(r, 100, 0.002, 12))), got
	}
	for name, road := range map[string]func(float64) (*bench.Run, *bench.Run){"pairs": paired, "history": earlier} {
		for _, c := range []struct {
			level, limit float64 // no limit is 0
			blocks       bool
		}{{101.2, 0, false}, {101.2, 0.5, true}, {106, 0, true}, {106, 10, false}, {100, 0.5, false}} {
			p := gate.DefaultPolicy()
			if c.limit > 0 {
				p = limiting(p, "ttft_ms", gate.Limit{Change: &gate.Change{Percent: c.limit}})
			}
			ref, got := road(c.level)
			v := verdictOf(t, gate.Compare("base", ref, got, p), "a")
			if (v.Blocks) != c.blocks || string(v.Evidence.Method) != name || c.limit > 0 && v.Evidence.Limit != c.limit {
				t.Errorf("%s: %v with limit %v: %s %s %+v", name, c.level, c.limit, v.Finding, standing(&v), v.Evidence)
			}
		}
	}
}

// TestADriftWithinTheLimit: what a metric may lose in one step is no drift.
func TestADriftWithinTheLimit(t *testing.T) {
	ref := run(cell("a", "decode_tps", 85.0))
	ref.Results[0].Samples[0].Anchor = 100
	p := fixed()
	p.Drift = 10
	if got := lines(gate.Compare("base", ref, run(cell("a", "decode_tps", 84.0)), p)); len(got) != 2 {
		t.Errorf("%q, want a drift", got)
	}
	p = limiting(p, "decode_tps", gate.Limit{Change: &gate.Change{Percent: 30.0}})
	if got := lines(gate.Compare("base", ref, run(cell("a", "decode_tps", 84.0)), p)); len(got) != 1 {
		t.Errorf("%q, want no drift", got)
	}
}

// TestALimitIsOfOneMetric: limits of one metric in some cells change no verdict on
// another number, on any road, whatever they are.
func TestALimitIsOfOneMetric(t *testing.T) {
	others := func(c gate.Comparison) (kept []gate.Verdict) {
		for _, v := range c.Verdicts {
			if v.Metric != "ttft_ms" || v.Cell != "c0" {
				kept = append(kept, v)
			}
		}
		return kept
	}
	property := func(seed uint64, percent, low uint8, pairs bool) bool {
		r := rand.New(rand.NewPCG(seed, 9))
		ref, got := &bench.Run{}, run()
		for i := range 24 {
			id, level := "c"+string(rune('0'+i)), 100*(1+0.05*r.Float64())
			one := inTurns(id, noisy(r, level, 0.01, 30), nil)
			if pairs {
				one.Samples[0].Base = noisy(r, 100, 0.01, 30)
			}
			one.Sessions = 3
			one.Samples = append(one.Samples, bench.Sample{Metric: "decode_tps", Values: []float64{100 - 20*r.Float64()}})
			old := withHistory(id, 100, noisy(r, 100, 0.01, 12))
			old.Samples = append(old.Samples, bench.Sample{Metric: "decode_tps", Values: []float64{100}})
			ref.Results, got.Results = append(ref.Results, old), append(got.Results, one)
		}
		ref.Schema, ref.Host, ref.Metrics = got.Schema, got.Host, got.Metrics
		l := gate.Limit{Change: &gate.Change{Percent: float64(percent%60)/4 + 0.25}, Min: &gate.Bound{Value: float64(low)}}
		p := gate.DefaultPolicy()
		limited := gate.Compare("base", ref, got, limiting(p, "ttft_ms", l, "c0"))
		diff := cmp.Diff(others(gate.Compare("base", ref, got, p)), others(limited))
		if diff != "" {
			t.Errorf("pairs %v, %v %% (-without +with):\n%s", pairs, *l.Change, diff)
		}
		return diff == ""
	}
	if err := quick.Check(property, testtier.Quick(t, 40)); err != nil {
		t.Error(err)
	}
}

// TestBoundsAreIndependentOfTheBaseline: whatever a baseline has, the verdict by bounds is
// that without any.
func TestBoundsAreIndependentOfTheBaseline(t *testing.T) {
	beyond := func(c gate.Comparison) (classes []string) {
		for _, v := range c.Verdicts {
			if v.Finding == gate.OutOfBounds {
				classes = append(classes, v.Metric+standing(&v)+v.Reason)
			}
		}
		return classes
	}
	property := func(old, now, low, high uint16, absent, other bool) bool {
		l := gate.Limit{Min: &gate.Bound{Value: float64(low)}, Max: &gate.Bound{Value: float64(low) + float64(high)}}
		p := limiting(gate.DefaultPolicy(), "decode_tps", l)
		got, ref := run(cell("a", "decode_tps", float64(now))), run(cell("a", "decode_tps", float64(old)))
		if absent {
			ref = run(cell("b"))
		}
		if other {
			ref.Host.CPU = "another"
		}
		found := beyond(gate.Compare("base", ref, got, p))
		return cmp.Equal(found, beyond(gate.Compare("", nil, got, p))) && (len(found) > 0) == (float64(now) < l.Min.Value || float64(now) > l.Max.Value)
	}
	if err := quick.Check(property, testtier.Quick(t, 2000)); err != nil {
		t.Error(err)
	}
}

// TestLimitsFromNoise: the limit is the noise of earlier runs, within its bounds; with
// too few runs, and on another machine, it is the ceiling.
func TestLimitsFromNoise(t *testing.T) {
	t.Parallel()
	steps := func(n int, step float64) (values []float64) { // successive runs differ by 2 steps, so the noise is 1.4826*2*step/sqrt 2
		for i := range n {
			values = append(values, 100*math.Exp(step*float64(1-2*(i%2))))
		}
		return values
	}
	other := run(withHistory("a", 100, steps(30, 0.01)))
	other.Host.CPU = "another"
	for name, c := range map[string]struct {
		ref            *bench.Run
		floor, ceiling float64
		want           string
	}{
		"between the bounds":       {run(withHistory("a", 100, steps(30, 0.01))), 1, 20, "2.2 2.1 30"},
		"the same for fewer runs":  {run(withHistory("a", 100, steps(12, 0.01))), 1, 20, "2.2 2.1 12"},
		"medians alone":            {run(withHistory("a", 100, steps(30, 0.01))), 1, 20, "6.5 2.1 30"},
		"the floor":                {run(withHistory("a", 100, steps(30, 0.0001))), 1, 20, "1 0.2 30"},
		"the ceiling":              {run(withHistory("a", 100, steps(30, 0.1))), 1, 20, "20 21 30"},
		"too few runs":             {run(withHistory("a", 100, steps(11, 0.01))), 1, 20, "20 0 11"},
		"no history":               {run(withHistory("a", 100, nil)), 1, 20, "20 0 0"},
		"noise of another machine": {other, 1, 20, "20 0 0"},
		"no baseline":              {nil, 1, 20, "20 0 0"},
	} {
		p := limiting(gate.DefaultPolicy(), "ttft_ms", gate.Limit{Change: &gate.Change{Noise: &gate.NoiseLimit{Floor: c.floor, Ceiling: c.ceiling}}})
		if name == "medians alone" {
			p.Method = gate.MethodThreshold
		}
		got := run(inTurns("a", []float64{100, 100, 100}, []float64{100, 100, 100}))
		v := verdictOf(t, gate.Compare("base", c.ref, got, p), "a")
		d := v.Evidence.Derived
		if d == nil || fmt.Sprintf("%.4g %.2g %d", v.Evidence.Limit, d.Noise, d.Runs) != c.want || d.Floor != c.floor || d.Ceiling != c.ceiling {
			t.Errorf("%s: limit %v, %+v, want %s", name, v.Evidence.Limit, d, c.want)
		}
		listed := gate.CellLimits(c.ref, got, p)
		i := slices.IndexFunc(listed, func(l gate.CellLimit) bool { return l.Metric == "ttft_ms" })
		if i < 0 || listed[i].Limit != v.Evidence.Limit || !cmp.Equal(listed[i].Derived, d) {
			t.Errorf("%s: listed as %+v", name, listed)
		}
	}
}

// TestLimitsFromNoiseIgnoreTheRun: the values under test and their base move no limit.
func TestLimitsFromNoiseIgnoreTheRun(t *testing.T) {
	t.Parallel()
	r := rand.New(rand.NewPCG(26, 3))
	ref := run(withHistory("a", 100, noisy(r, 100, 0.01, 20)))
	p := limiting(gate.DefaultPolicy(), "ttft_ms", gate.Limit{Change: &gate.Change{Noise: &gate.NoiseLimit{Floor: 0.1, Ceiling: 50}}})
	limit := func(values, base []float64) float64 {
		return verdictOf(t, gate.Compare("base", ref, run(inTurns("a", values, base)), p), "a").Evidence.Limit
	}
	want := limit([]float64{100}, nil)
	for range 50 {
		sd := r.Float64()
		if got := limit(noisy(r, 80+40*r.Float64(), sd, 5), nil); got != want {
			t.Fatalf("limit %v, want %v", got, want)
		}
		if got := limit(noisy(r, 80+40*r.Float64(), sd, 30), noisy(r, 100, sd, 30)); got != want {
			t.Fatalf("limit %v in pairs, want %v", got, want)
		}
	}
}
