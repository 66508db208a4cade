package gate_test

import (
	"fmt"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// sides are reports of so many cells without pairs and history, of which the first
// became slower: 5 values with a spread of 5 % in the baseline, 3 in the run.
func sides(r *rand.Rand, cells int, slower float64, h *bench.Health) (ref, got *bench.Run) {
	ref, got = run(), run()
	for i := range cells {
		level := 100.0
		if i == 0 {
			level *= slower
		}
		ref.Results = append(ref.Results, recordedOnce(fmt.Sprint("c", i), noisy(r, 100, 0.05, 5)))
		now := inTurns(fmt.Sprint("c", i), noisy(r, level, 0.05, 3), nil)
		now.Health = h
		got.Results = append(got.Results, now)
	}
	return ref, got
}

// TestALargeLossBlocksWithoutPairs: a plain run was nearly blind, because it allowed
// two sessions to differ by any amount.
func TestALargeLossBlocksWithoutPairs(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	healthy, unhealthy := &bench.Health{Status: bench.Healthy}, &bench.Health{Status: bench.Unhealthy, Reasons: []string{"throttled"}}
	const trials = 200
	for _, c := range []struct {
		name             string
		slower           float64
		health           *bench.Health
		minimum, maximum int // of the trials that block
	}{
		{"+50 %, healthy", 1.5, healthy, 155, trials},
		{"2 times, healthy", 2, healthy, 190, trials},
		{"2 times, unwatched", 2, nil, 90, trials},
		{"3 times, unwatched", 3, nil, 170, trials},
		{"+12 %", 1.12, healthy, 0, 4},
		{"unchanged", 1, healthy, 0, 4},
		{"2 times, unhealthy", 2, unhealthy, 0, 0},
	} {
		r := rand.New(rand.NewPCG(18, 5))
		blocked := 0
		for range trials {
			ref, got := sides(r, 20, c.slower, c.health)
			compared := gate.Compare("b", ref, got, gate.DefaultPolicy())
			if gate.Decide([]gate.Comparison{compared}, gate.DefaultPolicy()).Status == gate.StatusFailed {
				blocked++
			}
		}
		if blocked < c.minimum || blocked > c.maximum {
			t.Errorf("%s: %d of %d runs block, want %d to %d", c.name, blocked, trials, c.minimum, c.maximum)
		}
	}
}

// TestALossWithinChanceSaysHowToDecideIt names the size of the loss and the way to
// more evidence.
func TestALossWithinChanceSaysHowToDecideIt(t *testing.T) {
	t.Parallel()
	ref, got := sides(rand.New(rand.NewPCG(1, 1)), 1, 1.3, nil)
	v := gate.Compare("b", ref, got, gate.DefaultPolicy()).Verdicts[0]
	if !v.Undecided() || !v.Reserved() || !strings.Contains(v.Reason, "a loss blocks from ") || !strings.Contains(v.Reason, "--ab") {
		t.Errorf("%+v", v)
	}
}

// TestALossOfCodeThatEqualsItsBase is certain only if it is so large that hardly any host makes it: that
// code lost nothing, and the noise of two sessions does not show how much hosts differ from one to the other.
func TestALossOfCodeThatEqualsItsBase(t *testing.T) {
	t.Parallel()
	for slower, want := range map[float64]bool{1.3: true, 1.7: true, 3: false} {
		ref, got := sides(rand.New(rand.NewPCG(1, 1)), 1, slower, &bench.Health{Status: bench.Healthy})
		for i := range ref.Results[0].Samples[0].Values { // hardly any noise
			ref.Results[0].Samples[0].Values[i] = 50 + 0.01*float64(i)
		}
		for i := range got.Results[0].Samples[0].Values {
			got.Results[0].Samples[0].Values[i] = 50*slower + 0.01*float64(i)
		}
		if v := gate.Compare("b", ref, got, gate.DefaultPolicy()).Verdicts[0]; v.Undecided() || v.Finding != gate.Regressed {
			t.Fatalf("%g: not certain without a base: %+v", slower, v)
		}
		got.Context = map[string]string{bench.SameAsBase: "HEAD"}
		v := gate.Compare("b", ref, got, gate.DefaultPolicy()).Verdicts[0]
		if v.Finding != gate.Regressed || v.Undecided() != want || want && !strings.Contains(v.Reason, "nothing differs from the base") {
			t.Errorf("%g: %+v", slower, v)
		}
	}
}
