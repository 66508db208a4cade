package load

import (
	"math"
	"testing"
	"time"
)

// TestRampsHaveTheRateOfTheirCurve counts the arrivals of each tenth of a ramp
// and compares them with the integral of its rate.
func TestRampsHaveTheRateOfTheirCurve(t *testing.T) {
	t.Parallel()
	const length = 100.0
	integral := map[Curve]func(a, b, t float64) float64{
		Linear:      func(a, b, t float64) float64 { return a*t + (b-a)*t*t/(2*length) },
		Exponential: func(a, b, t float64) float64 { k := math.Log(b/a) / length; return a * (math.Exp(k*t) - 1) / k },
	}
	for curve, count := range integral {
		for _, ends := range [][2]float64{{20, 400}, {400, 20}} {
			for _, burstiness := range []float64{0, 1, 0.25} {
				p := Plan{Mode: Gamma, Rate: ends[0], RateEnd: ends[1], Curve: curve, Burstiness: burstiness, Duration: 100 * time.Second,
					Warmup: WarmupRule{Duration: 5 * time.Second}, Seed: 7}
				spread := 4.5 / math.Sqrt(burstiness)
				if burstiness == 0 {
					p.Mode, spread = Constant, 0
				}
				checkRamp(t, lay(t, p), func(from, to float64) float64 {
					return count(ends[0], ends[1], to) - count(ends[0], ends[1], from)
				}, spread)
			}
		}
	}
}

func checkRamp(t *testing.T, s Schedule, want func(from, to float64) float64, spread float64) {
	t.Helper()
	var got [10]float64
	for _, at := range s.arrivals[s.first:s.end] {
		got[min(int((at-5*time.Second).Seconds()/10), 9)]++
	}
	for i, n := range got {
		expected := want(float64(10*i), float64(10*i+10))
		if math.Abs(n-expected) > spread*math.Sqrt(expected)+2 {
			t.Errorf("%+v: %v requests in tenth %d, want about %.1f", s.plan, n, i, expected)
		}
	}
}
