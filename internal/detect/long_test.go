package detect_test

import (
	"math"
	"math/rand/v2"
	"reflect"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
)

func noisy(seed uint64, noise float64, levels ...[2]float64) (values []float64) {
	rng := rand.New(rand.NewPCG(seed, 4))
	for _, l := range levels {
		for range int(l[1]) {
			values = append(values, l[0]*math.Exp(noise*rng.NormFloat64()))
		}
	}
	return values
}

func TestChangePoints(t *testing.T) {
	t.Parallel()
	values := noisy(1, 0.01, [2]float64{100, 60}, [2]float64{107, 45}, [2]float64{103, 70})
	points := detect.ChangePoints(values, detect.Search{})
	if len(points) != 2 || near0(points[0].Index, 60) || near0(points[1].Index, 105) {
		t.Fatalf("%+v", points)
	}
	if math.Abs(points[0].Change-0.07) > 0.01 || math.Abs(points[1].Change+0.037) > 0.01 || points[0].P > 0.001 {
		t.Errorf("%+v", points)
	}
	if !reflect.DeepEqual(points, detect.ChangePoints(values, detect.Search{})) {
		t.Error("the second time it is different")
	}

	// Rates, and a unit.
	rates := make([]float64, len(values))
	for i, v := range values {
		rates[i] = 4096 / v
	}
	for i, p := range detect.ChangePoints(rates, detect.Search{HigherIsBetter: true}) {
		if p.Index != points[i].Index || math.Abs(p.Change-points[i].Change) > 1e-9 {
			t.Errorf("%+v, want %+v", p, points[i])
		}
	}

	// What is unusable does not move the others.
	gaps := append([]float64{math.NaN(), 0}, values...)
	if got := detect.ChangePoints(gaps, detect.Search{}); len(got) != 2 || got[0].Index != points[0].Index+2 {
		t.Errorf("%+v", got)
	}
	if got := detect.ChangePoints(values, detect.Search{MinEffect: 0.04}); len(got) != 1 {
		t.Errorf("%+v", got)
	}
	if got := detect.ChangePoints([]float64{1}, detect.Search{}); len(got) != 0 {
		t.Errorf("%+v", got)
	}
}

func near0(got, want int) bool { return got < want-1 || got > want+1 }

// TestFarthest: the first cut of a window is where the energy distance, by its
// definition, is largest.
func TestFarthest(t *testing.T) {
	t.Parallel()
	rng := source(t)
	for range 300 {
		values := make([]float64, 4+rng.IntN(12))
		for i := range values {
			values[i] = math.Exp(rng.NormFloat64() + float64(i/5))
		}
		first := 0
		detect.ChangePoints(values, detect.Search{Significance: func(left, _ []float64) float64 {
			if first == 0 {
				first = len(left)
			}
			return 1
		}})
		if want := farthest(values); first != want {
			t.Fatalf("%v: cut at %d, want %d", values, first, want)
		}
	}
}

func farthest(values []float64) (at int) {
	within := func(a, b []float64) (sum float64) {
		for _, x := range a {
			for _, y := range b {
				sum += math.Abs(math.Log(x) - math.Log(y))
			}
		}
		return sum
	}
	best := math.Inf(-1)
	for cut := 1; cut < len(values); cut++ {
		for end := cut + 1; end <= len(values); end++ {
			l, r := values[:cut], values[cut:end]
			n, m := float64(len(l)), float64(len(r))
			q := 2/(m*n)*within(l, r) - within(l, l)/max(1, n*(n-1)) - within(r, r)/max(1, m*(m-1))
			if q *= m * n / (m + n); q > best+1e-12 {
				best, at = q, cut
			}
		}
	}
	return at
}

// TestFewFalseChangePoints: on one level there are hardly any.
func TestFewFalseChangePoints(t *testing.T) {
	t.Parallel()
	false0 := 0
	for seed := range uint64(100) {
		false0 += len(detect.ChangePoints(noisy(seed, 0.02, [2]float64{100, 150}), detect.Search{}))
	}
	if false0 > 2 {
		t.Errorf("%d change points in 100 level histories", false0)
	}
}

func TestDrift(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(2, 2))
	drifting := make([]float64, 120)
	for i := range drifting {
		drifting[i] = 100 * math.Exp(0.005*rng.NormFloat64()+0.0003*max(0, float64(i-30)))
	}
	c, ok := detect.Drift(drifting, false)
	if !ok || c.Alarm < 35 || c.Alarm > 80 || c.Since > c.Alarm || math.Abs(c.Change-0.026) > 0.008 {
		t.Errorf("%+v, %v", c, ok)
	}
	if c, _ := detect.Drift(drifting, true); c.Alarm >= 0 {
		t.Errorf("what gets better: %+v", c)
	}
	false0 := 0
	for seed := range uint64(100) {
		values := noisy(seed, 0.01, [2]float64{100, 90})
		values[60] *= 1.5 // one bad night
		if c, _ := detect.Drift(values, false); c.Alarm >= 0 {
			false0++
		}
	}
	if false0 > 8 {
		t.Errorf("%d alarms in 100 level histories", false0)
	}
	if c, ok := detect.Drift(drifting[:11], false); ok || c.Alarm != -1 {
		t.Errorf("%+v of too few", c)
	}
}

func TestWarmup(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name   string
		values []float64
		min    int
		max    int
		steady bool
	}{
		{"none", noisy(1, 0.01, [2]float64{10, 30}), 0, 0, true},
		{"one slow", noisy(2, 0.01, [2]float64{15, 1}, [2]float64{10, 29}), 1, 1, true},
		{"three fast", noisy(3, 0.01, [2]float64{8, 3}, [2]float64{10, 27}), 3, 3, true},
		{"falling to the end", ramp(40, 0.97), 1, 20, false},
		{"short", []float64{9, 1, 1}, 0, 0, true},
		{"equal", []float64{9, 1, 1, 1, 1, 1, 1, 1}, 1, 1, true},
		{"unusable", []float64{9, 0, 1, 1, 1, 1, 1, 1}, 0, 0, false},
	} {
		first, steady := detect.Warmup(c.values)
		if first < c.min || first > c.max || steady != c.steady {
			t.Errorf("%s: %d, %v", c.name, first, steady)
		}
	}
}

func ramp(n int, factor float64) []float64 {
	values := make([]float64, n)
	for i := range values {
		values[i] = 100 * math.Pow(factor, float64(i)) * (1 + 0.001*float64(i%2))
	}
	return values
}
