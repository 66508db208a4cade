package latency

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"testing/quick"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestPercentile checks both ways of computing one against the definition: the
// value at (n-1)p of the sorted list, on the line between its neighbours.
func TestPercentile(t *testing.T) {
	t.Parallel()
	property := func(raw []uint16, p8 uint8) bool {
		p := float64(p8) / 255
		durations, sorted := make([]time.Duration, len(raw)), make([]float64, len(raw))
		for i, v := range raw {
			durations[i], sorted[i] = time.Duration(v%50), float64(v%50)
		}
		slices.Sort(sorted)
		exact, selected := percentile(sorted, p), selectPercentile(durations, p)
		if len(raw) == 0 {
			return math.IsNaN(exact) && math.IsNaN(selected)
		}
		at := float64(len(raw)-1) * p
		low, high := sorted[int(math.Floor(at))], sorted[int(math.Ceil(at))]
		naive := low*(math.Floor(at)+1-at) + high*(at-math.Floor(at))
		return math.Abs(exact-naive) < 1e-9 && exact == selected
	}
	if err := quick.Check(property, testtier.Quick(t, 3000)); err != nil {
		t.Error(err)
	}
	if got := percentile([]float64{1, 2, 3, 4}, 0.99); math.Abs(got-3.97) > 1e-12 { // numpy.percentile([1, 2, 3, 4], 99)
		t.Errorf("p99 of 1 to 4 = %v", got)
	}
}

// TestOrderStatistics checks from how many values on an interval exists, and
// checks the ranks against sums of binomial chances in plain floating point.
func TestOrderStatistics(t *testing.T) {
	t.Parallel()
	for q, minimum := range map[float64]int{.5: 6, .95: 72, .99: 368} {
		for _, n := range []int{0, 1, 5, 6, 7, 71, 72, 100, 367, 368, 369, 1000} {
			low, high := ranks(n, q)
			if exists := low >= 0 && high < n; exists != (n >= minimum) || minCount(q) != minimum {
				t.Errorf("%v of %d: ranks %d to %d; least count %d, want %d", q, n, low, high, minCount(q), minimum)
			}
			if n >= minimum && (below(n, low, q) > tail || below(n, low+1, q) <= tail || below(n, high, q) < 1-tail || below(n, high-1, q) >= 1-tail) {
				t.Errorf("%v of %d: ranks %d to %d are not the narrowest: %v, %v", q, n, low, high, below(n, low, q), below(n, high, q))
			}
		}
	}
	// By the normal approximation the median of 1e6 lies within 980 ranks.
	if low, high := ranks(1_000_000, .5); low < 499_017 || low > 499_023 || high < 500_977 || high > 500_983 {
		t.Errorf("median of a million: ranks %d to %d", low, high)
	}
}

// below is P(B <= k) for the binomial B of n and q.
func below(n, k int, q float64) float64 {
	sum := 0.0
	for i := 0; i <= k; i++ {
		chance := math.Pow(1-q, float64(n-i))
		for j := range i {
			chance *= q * float64(n-j) / float64(j+1)
		}
		if chance == 0 || math.IsInf(chance, 0) || math.IsNaN(chance) {
			chance = math.Exp(logChoose(n, i) + float64(i)*math.Log(q) + float64(n-i)*math.Log1p(-q))
		}
		sum += chance
	}
	return sum
}

// TestCoverage draws from known distributions: an interval of 95 % holds the
// truth in about 95 of 100 draws.
func TestCoverage(t *testing.T) {
	t.Parallel()
	const draws = 2000
	rng := rand.New(rand.NewPCG(7, 7))
	median, p99, share, mean := 0, 0, 0, 0
	for range draws {
		values, k := make([]float64, 400), 0
		for i := range values {
			values[i] = rng.ExpFloat64()
			if rng.Float64() < .9 {
				k++
			}
		}
		_, m := estimateMean(values)
		slices.Sort(values)
		_, a := estimatePercentile(values, 50)
		_, b := estimatePercentile(values, 99)
		_, s := estimateShare(k, len(values))
		median += within(math.Ln2, a.Low, a.High)
		p99 += within(-math.Log(.01), b.Low, b.High)
		share += within(.9, s.Low, s.High)
		mean += within(1, m.Low, m.High)
	}
	for name, covered := range map[string]int{"median": median, "p99": p99, "share": share, "mean": mean} {
		if rate := float64(covered) / draws; rate < .93 || rate > .985 {
			t.Errorf("the interval of a %s held the truth in %.3f of all draws", name, rate)
		}
	}
}

func within(v, low, high float64) int {
	if v < low || v > high {
		return 0
	}
	return 1
}

func TestMean(t *testing.T) {
	t.Parallel()
	values := make([]float64, 30)
	for i := range values {
		values[i] = float64(i % 2)
	}
	half := 1.959964 * math.Sqrt(7.5/29) / math.Sqrt(30)
	if v, e := estimateMean(values); v != .5 || math.Abs(e.High-.5-half) > 1e-12 || math.Abs(.5-e.Low-half) > 1e-12 || e.N != 30 {
		t.Errorf("mean %v, %+v, want .5 and %v on each side", v, e, half)
	}
	if v, e := estimateMean(values[:28]); e.Low != v || e.High != v || e.Method != "none: n < 30" {
		t.Errorf("mean of 28: %v, %+v", v, e)
	}
}

func TestShare(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		k, n      int
		low, high float64
	}{{0, 10, 0, .2775}, {10, 10, .7225, 1}, {5, 10, .2366, .7634}, {81, 263, .2553, .3662}} { // the last: Newcombe 1998, table I
		_, e := estimateShare(test.k, test.n)
		if math.Abs(e.Low-test.low) > 1e-4 || math.Abs(e.High-test.high) > 1e-4 {
			t.Errorf("%d of %d: %v to %v, want %v to %v", test.k, test.n, e.Low, e.High, test.low, test.high)
		}
	}
	if v, _ := estimateShare(0, 0); !math.IsNaN(v) {
		t.Errorf("0 of 0 is %v", v)
	}
}

// TestRateCoverage draws requests of a known rate.
func TestRateCoverage(t *testing.T) {
	t.Parallel()
	const draws = 2000
	rng := rand.New(rand.NewPCG(8, 8))
	window, covered := load.Window{Start: time.Second, End: 11 * time.Second}, 0
	for range draws {
		m := newMeasurement(Input{Window: window})
		m.exact("e2e_p50_ms", 900)
		requests := tally{window: window}
		for at := 0.0; at < 12; at += rng.ExpFloat64() / 50 {
			requests.add(time.Duration(at*1e9), 1)
		}
		m.rate("req_per_s_all", &requests)
		e := m.figures["req_per_s_all"].estimate
		covered += within(50, e.Low, e.High)
	}
	if rate := float64(covered) / draws; rate < .93 || rate > .97 {
		t.Errorf("the interval of a rate held the truth in %.3f of all draws", rate)
	}

	m := newMeasurement(Input{Window: window})
	m.exact("e2e_p50_ms", 1001)
	m.rate("req_per_s_all", &tally{window: window, parts: [batches]float64{5}})
	f := m.figures["req_per_s_all"]
	if f.value != .5 || f.estimate.Low != .5 || f.estimate.High != .5 || !strings.HasPrefix(f.estimate.Method, "none: ") {
		t.Errorf("answers as long as a sub-window: %v, %+v, want no interval", f.value, f.estimate)
	}
}
