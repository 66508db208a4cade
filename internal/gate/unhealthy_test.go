package gate_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// unhealthyAmong puts n runs of an unhealthy host among those of a cell's history, with
// the values that draw returns.
func unhealthyAmong(r *rand.Rand, ref bench.Result, n int, draw func() float64) bench.Result {
	s := ref.Samples[0]
	s.History, s.Unhealthy = slices.Clone(s.History), make([]bool, len(s.History))
	for range n {
		at := r.IntN(len(s.History) + 1)
		s.History, s.Unhealthy = slices.Insert(s.History, at, []float64{draw()}), slices.Insert(s.Unhealthy, at, true)
	}
	ref.Samples = []bench.Sample{s}
	return ref
}

// TestUnhealthyRunsOnlyWiden holds the weight of an unhealthy run: whatever it
// measured, it moves no estimate, and a loss is never surer with it than without.
func TestUnhealthyRunsOnlyWiden(t *testing.T) {
	for seed := range uint64(300) {
		r := rand.New(rand.NewPCG(seed, 18))
		noise := 0.002 + 0.1*r.Float64()
		ref := withHistory("a", 100, noisy(r, 100, noise, 3+r.IntN(20)))
		got := run(inTurns("a", noisy(r, 100+20*r.Float64(), noise, 1+r.IntN(5)), nil))
		got.Results[0].Sessions = len(got.Results[0].Samples[0].Values)
		factor := math.Exp(2 * r.NormFloat64())
		mixed := unhealthyAmong(r, ref, 1+r.IntN(15), func() float64 { return noisy(r, 100*factor, 0.3*r.Float64(), 1)[0] })
		without := verdictOf(t, gate.Compare("b", run(ref), got, gate.DefaultPolicy()), "a")
		with := verdictOf(t, gate.Compare("b", run(mixed), got, gate.DefaultPolicy()), "a")
		if with.Delta != without.Delta {
			t.Errorf("seed %d: unhealthy runs move the estimate from %v to %v", seed, without.Delta, with.Delta)
		}
		if with.Delta < 0 && with.Evidence.P < without.Evidence.P {
			t.Errorf("seed %d: a loss of p %v has %v beside unhealthy runs", seed, without.Evidence.P, with.Evidence.P)
		}
		if with.Finding == gate.Regressed && without.Finding != gate.Regressed {
			t.Errorf("seed %d: unhealthy runs make a loss of %s", seed, without.Finding)
		}
		if with.Evidence.NoiseFloor < without.Evidence.NoiseFloor {
			t.Errorf("seed %d: the noise is %v, %v without unhealthy runs", seed, with.Evidence.NoiseFloor, without.Evidence.NoiseFloor)
		}
	}
}

// TestNoisyHostHasANoiseModel holds that a host which is never healthy is judged by the
// noise of its own runs, and not by the fixed threshold: it takes a loss beyond
// that noise to be suspected, and none blocks while the host is unhealthy.
func TestNoisyHostHasANoiseModel(t *testing.T) {
	r := rand.New(rand.NewPCG(18, 4))
	ref := unhealthyAmong(r, withHistory("a", 100, nil), 15, func() float64 { return noisy(r, 100, 0.08, 1)[0] })
	for _, value := range []float64{100, 115, 250} {
		got := run(inTurns("a", []float64{value}, nil))
		got.Results[0].Health = &bench.Health{Status: bench.Unhealthy, Reasons: []string{"other programs"}}
		v := verdictOf(t, gate.Compare("b", run(ref), got, gate.DefaultPolicy()), "a")
		if v.Evidence.Method != gate.MethodHistory || v.Evidence.NoiseFloor < 4 || v.Evidence.NoiseFloor > 16 {
			t.Errorf("%v: judged by %q with a noise of %v %%, want history and about 8 %%", value, v.Evidence.Method, v.Evidence.NoiseFloor)
		}
		if v.Blocks || value > 200 && !v.Undecided() {
			t.Errorf("%v: %s, %s", value, v.Finding, standing(&v))
		}
	}
}
