package detect_test

import (
	"math"
	"math/rand/v2"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

var calm = []float64{100, 100.4, 99.7, 100.2, 100, 99.6, 100.3, 100.1, 99.8, 100.2, 99.9, 100}

func repeated(v float64, n int) []float64 {
	out := make([]float64, n)
	for i := range out {
		out[i] = v + 0.1*float64(i%3)
	}
	return out
}

func TestPlanSteps(t *testing.T) {
	t.Parallel()
	pairs := detect.Plan{Pairs: true}
	for _, c := range []struct {
		name      string
		plan      detect.Plan
		m         detect.Measured
		action    detect.Action
		n, cost   int
		verdict   detect.Verdict
		spent     float64
		transient bool
	}{
		{"nothing yet", detect.Plan{}, detect.Measured{History: calm}, detect.Repeat, 1, 0, detect.Untested, 0, false},
		{"fast", detect.Plan{}, detect.Measured{History: calm, Head: []float64{99.5}}, detect.Stop, 0, 1, detect.Unchanged, 0, false},
		{"slow", detect.Plan{}, detect.Measured{History: calm, Head: []float64{105}}, detect.Repeat, 3, 1, detect.Regressed, 0, false},
		{"slow thrice", detect.Plan{}, detect.Measured{History: calm, Head: repeated(105, 3)}, detect.Repeat, 5, 3, detect.Regressed, 0, false},
		{"slow to the end", detect.Plan{}, detect.Measured{History: calm, Head: repeated(105, 5)}, detect.Stop, 0, 5, detect.Regressed, 0, false},
		{"transient", detect.Plan{}, detect.Measured{History: calm, Head: []float64{105, 99, 99}}, detect.Stop, 0, 3, detect.Inconclusive, 0, true},
		{"slow, with pairs", pairs, detect.Measured{History: calm, Head: repeated(105, 3)}, detect.Pair, 7, 3, detect.Regressed, 0, false},
		{"no history", detect.Plan{}, detect.Measured{Head: []float64{105}}, detect.Stop, 0, 1, detect.Untested, 0, false},
		{"no history, with pairs", pairs, detect.Measured{Head: []float64{105}}, detect.Pair, 7, 1, detect.Untested, 0, false},
		{"useless", pairs, detect.Measured{History: calm, Head: []float64{0}}, detect.Stop, 0, 1, detect.Untested, 0, false},
		{"few pairs", pairs, detect.Measured{PairBase: repeated(100, 3), PairHead: repeated(105, 3)}, detect.Pair, 7, 6, detect.Regressed, 0, false},
		{"clear pairs", pairs, detect.Measured{PairBase: repeated(100, 7), PairHead: repeated(105, 7)}, detect.Stop, 0, 14, detect.Regressed, 0.003, false},
		{"equal pairs", pairs, detect.Measured{PairBase: repeated(100, 7), PairHead: repeated(100, 7)}, detect.Stop, 0, 14, detect.Inconclusive, 0.003, false},
		{"open pairs", pairs, detect.Measured{PairBase: repeated(100, 7), PairHead: repeated(100.6, 7)}, detect.Pair, 10, 14, detect.Inconclusive, 0.003, false},
		{"all pairs", pairs, detect.Measured{PairBase: repeated(100, 10), PairHead: repeated(100.6, 10)}, detect.Stop, 0, 20, detect.Inconclusive, 0.01, false},
		{"one look", detect.Plan{Pairs: true, FirstPairs: 5, LastPairs: 5}, detect.Measured{PairBase: repeated(100, 5), PairHead: repeated(105, 5)}, detect.Stop, 0, 10, detect.Regressed, 0.01, false},
	} {
		s := c.plan.Next(c.m, detect.Options{})
		if s.Action != c.action || s.N != c.n || s.Cost != c.cost || s.Evidence.Verdict != c.verdict || math.Abs(s.Spent-c.spent) > 1e-12 || s.Transient != c.transient || s.Reason == "" {
			t.Errorf("%s: %+v", c.name, s)
		}
	}
	m := detect.Measured{History: calm, Head: []float64{100.4}}
	if s := (detect.Plan{}).Next(m, detect.Options{}); s.Action != detect.Repeat {
		t.Errorf("%+v", s)
	}
	if s := (detect.Plan{}).Next(m, detect.Options{Tolerance: 0.2}); s.Action != detect.Stop {
		t.Errorf("far from a tolerance that is well resolved: %+v", s)
	}
	if s := (detect.Plan{PassFirst: 0.1}).Next(m, detect.Options{}); s.Action != detect.Stop {
		t.Errorf("%+v", s)
	}
}

// TestPlanEnds: whatever is measured, a plan ends, asks for more each time, and
// two looks at pairs spend no more than alpha.
func TestPlanEnds(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range 2000 {
		noise := math.Exp(-7 * rng.Float64())
		draw := func(n int) []float64 {
			v := make([]float64, n)
			for i := range v {
				v[i] = math.Exp(noise * rng.NormFloat64())
			}
			return v
		}
		p := detect.Plan{Pairs: rng.IntN(2) == 0, FirstPairs: rng.IntN(8), LastPairs: rng.IntN(12)}
		m := detect.Measured{History: draw(rng.IntN(20))}
		for steps := 0; ; steps++ {
			s := p.Next(m, detect.Options{})
			if s.Spent > detect.DefaultAlpha+1e-12 || steps > 6 {
				t.Fatalf("step %d: %+v", steps, s)
			}
			if s.Action == detect.Stop {
				break
			}
			switch {
			case s.Action == detect.Repeat && s.N > len(m.Head):
				m.Head = append(m.Head, draw(s.N-len(m.Head))...)
			case s.Action == detect.Pair && s.N > len(m.PairHead):
				m.PairBase, m.PairHead = append(m.PairBase, draw(s.N-len(m.PairBase))...), append(m.PairHead, draw(s.N-len(m.PairHead))...)
			default:
				t.Fatalf("asks for what is there: %+v", s)
			}
		}
	}
}

// TestTwoLooks: false alarms of both looks together.
func TestTwoLooks(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(8, 8))
	alarms := 0
	const trials = 4000
	for range trials {
		base, head := make([]float64, 10), make([]float64, 10)
		for i := range base {
			base[i], head[i] = math.Exp(0.03*rng.NormFloat64()), math.Exp(0.03*rng.NormFloat64())
		}
		n := 7
		for {
			s := detect.Plan{Pairs: true}.Next(detect.Measured{PairBase: base[:n], PairHead: head[:n]}, detect.Options{})
			if s.Action == detect.Stop {
				if s.Evidence.Verdict == detect.Regressed {
					alarms++
				}
				break
			}
			n = s.N
		}
	}
	if share := float64(alarms) / trials; share < 0.002 || share > 0.015 {
		t.Errorf("%.2f %% false alarms", 100*share)
	}
}
