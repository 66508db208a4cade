package detect_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// sessions are runs of m processes each, and a head like them. ratio is how much
// larger the variance of their means is than the noise of processes explains.
func sessions(rng *rand.Rand, runs, m int, noise, ratio float64) (history [][]float64, head []float64) {
	between := noise * math.Sqrt((ratio-1)/float64(m))
	for range runs + 1 {
		level := between * rng.NormFloat64()
		values := make([]float64, m)
		for i := range values {
			values[i] = 100 * math.Exp(level+noise*rng.NormFloat64())
		}
		history = append(history, values)
	}
	return history[:runs], history[runs]
}

// TestSessionsRates: sessions that differ raise no more false alarms than they
// may, however much they do, and where they do not, slow-downs are found.
func TestSessionsRates(t *testing.T) {
	if testtier.Race {
		t.Skip("numbers of one goroutine")
	}
	t.Parallel()
	const trials = 1000
	for _, m := range []int{2, 5} {
		for _, runs := range []int{6, 11, 12} {
			for _, ratio := range []float64{1, 3, 10, 100} {
				rng := rand.New(rand.NewPCG(uint64(m), uint64(runs)))
				var false0, found float64
				for range trials {
					history, head := sessions(rng, runs, m, 0.01, ratio)
					base, samples := detect.Sessions(history, head, true)
					false0 += regressed(base, samples) / trials
					base, samples = detect.Sessions(history, times(head, 1.06), true)
					found += regressed(base, samples) / trials
				}
				name := fmt.Sprintf("%d runs of %d, ratio %v", runs, m, ratio)
				if false0 > 0.01 {
					t.Errorf("%s: %.2f %% false alarms", name, 100*false0)
				}
				if ratio == 1 && m > 2 && found < 0.6 {
					t.Errorf("%s: %.0f %% found", name, 100*found)
				}
			}
		}
	}
}

func regressed(base, head []float64) float64 {
	if detect.Judge(base, head, detect.Options{}).Verdict == detect.Regressed {
		return 1
	}
	return 0
}

func times(values []float64, factor float64) []float64 {
	out := slices.Clone(values)
	for i := range out {
		out[i] *= factor
	}
	return out
}

func TestSessions(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for _, c := range []struct {
		name          string
		runs          [][]float64
		head          []float64
		oneSession    bool
		base, samples []float64
	}{
		{"runs of one value", [][]float64{{1}, {2}, {3}}, []float64{4, 5}, false, []float64{1, 2, 3}, []float64{4, 5}},
		{"runs of one value, a head of one session", [][]float64{{1}, {2}, {3}}, []float64{9, 4, 5}, true, []float64{1, 2, 3}, []float64{5}},
		{"one value, of one session", [][]float64{{1}, {2}}, []float64{4}, true, []float64{1, 2}, []float64{4}},
		{"first values only", [][]float64{{1, 7, 2, 100}, {5}, {4, 9}}, []float64{3, 8, 4}, false, []float64{2, 5, 6}, []float64{4}},
		{"one value against several", [][]float64{{1, 7}, {5, 2}}, []float64{3}, false, []float64{1, 5}, []float64{3}},
		{"nothing", nil, nil, false, []float64{}, nil},
		{"no head", [][]float64{{1, 2, 3}}, nil, true, []float64{2}, nil},
		{"no history", nil, []float64{3, 1, 2}, true, []float64{}, []float64{2}},
		{"unusable", [][]float64{{1, 0}, {}, {nan, 2}, {-1}, {3, 3}}, []float64{3, 1}, true, []float64{nan, nan, nan, nan, 3}, []float64{math.Sqrt(3)}},
		{"an unusable head", [][]float64{{1, 2}}, []float64{3, 0, 5}, true, []float64{math.Sqrt(2)}, []float64{3, 0, 5}},
		{"sessions that do not differ", [][]float64{{10, 11}, {11, 10}, {10, 11}, {11, 10}, {10, 11}, {11, 10, 99}}, []float64{11, 10}, true,
			[]float64{10, 11, 10, 11, 10, 11, 11, 10, 11, 10, 11, 10}, []float64{11, 10}},
		{"and some that lack values", [][]float64{{10, 11}, {11, 10}, {10, 11}, {12}, {11, 10}, {}, {10, 11}, {11, 10}}, []float64{11, 10}, true,
			[]float64{10, 11, 10, 11, 10, 11, 11, 10, 11, 12, 10, nan, 11, 10}, []float64{11, 10}},
		{"too few of them", [][]float64{{10, 11}, {11, 10}, {10, 11}, {11, 10}, {10, 10}}, []float64{10, 10}, true,
			[]float64{math.Sqrt(110), math.Sqrt(110), math.Sqrt(110), math.Sqrt(110), 10}, []float64{10}},
		{"one odd session", [][]float64{{10, 11, 10}, {11, 10, 11}, {10, 11, 10}, {30, 29, 30}, {10, 11, 10}, {11, 10, 11}, {10, 11, 10}}, []float64{11, 10, 10}, true,
			[]float64{10, 11, 10, 30, 10, 11, 10}, []float64{10}},
	} {
		base, samples := detect.Sessions(c.runs, c.head, c.oneSession)
		equal := func(got, want []float64) bool {
			return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) < 1e-12 || math.IsNaN(a) && math.IsNaN(b) })
		}
		if !equal(base, c.base) || !equal(samples, c.samples) {
			t.Errorf("%s: %v and %v, want %v and %v", c.name, base, samples, c.base, c.samples)
		}
	}
}

// TestSessionsProperties: neither the unit nor the direction changes what becomes
// of runs, and what is measured of one session may be in any order where it is
// one sample.
func TestSessionsProperties(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range examples {
		m, runs := 1+rng.IntN(6), rng.IntN(20)
		history, head := sessions(rng, runs, m, 0.01, 1+4*rng.Float64())
		one := rng.IntN(2) == 0
		base, samples := detect.Sessions(history, head, one)
		if len(samples) != 1 && len(samples) != m || len(base) != runs && len(base) != runs*m || len(base) < runs {
			t.Fatalf("%d and %d of %d runs of %d", len(base), len(samples), runs, m)
		}
		want := detect.Judge(base, samples, detect.Options{})
		mapped := func(f func(float64) float64) (base, samples []float64) {
			var turned [][]float64
			for _, r := range history {
				turned = append(turned, mapAll(r, f))
			}
			return detect.Sessions(turned, mapAll(head, f), one)
		}
		base, samples = mapped(func(v float64) float64 { return 1024 * v })
		same(t, "scaled", detect.Judge(base, samples, detect.Options{}), want)
		base, samples = mapped(func(v float64) float64 { return 1 / v })
		same(t, "turned", detect.Judge(base, samples, detect.Options{HigherIsBetter: true}), want)
		if runs >= 12 { // with fewer, the order within a run says whether sessions differ
			for _, r := range append(history, head) {
				shuffle(rng, r)
			}
			base, samples = detect.Sessions(history, head, one)
			same(t, "shuffled", detect.Judge(base, samples, detect.Options{}), want)
		}
	}
}

func mapAll(values []float64, f func(float64) float64) []float64 {
	out := make([]float64, len(values))
	for i, v := range values {
		out[i] = f(v)
	}
	return out
}
