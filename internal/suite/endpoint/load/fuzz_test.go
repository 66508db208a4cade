package load

import (
	"math"
	"slices"
	"testing"
	"time"
)

// FuzzPlan lays out plans as hostile configurations would make them: they are
// refused or keep to the limits.
func FuzzPlan(f *testing.F) {
	f.Add("closed", 4, 0.0, 0.0, 0, int64(0), 10, int64(0), 8, int64(0), int64(time.Second), uint64(1), int64(0), int64(0), 0.0, false)
	f.Add("gamma", 0, 100.0, 0.5, 0, int64(0), 10, int64(time.Second), 8, int64(0), int64(time.Second), uint64(1), int64(0), int64(0), 0.0, false)
	f.Add("gamma", 0, 1e-320, 1e300, 0, int64(0), 0, int64(time.Second), 0, int64(0), int64(0), uint64(1), int64(0), int64(0), 0.0, false)
	f.Add("constant", 0, math.SmallestNonzeroFloat64, 0.0, 0, int64(0), 0, int64(1), 0, int64(0), int64(0), uint64(0), int64(0), int64(0), 0.0, false)
	f.Add("burst", 2, 10.0, 0.0, 5, int64(0), 10, int64(0), 1, int64(0), int64(0), uint64(1), int64(0), int64(0), 0.0, false)
	f.Add("trace", 0, 0.0, 0.0, 0, int64(0), 0, int64(0), 1, int64(0), int64(0), uint64(1), int64(5), int64(math.MaxInt64), 0.0, false)
	f.Add("gamma", 0, 100.0, 0.5, 0, int64(0), 0, int64(time.Second), 8, int64(0), int64(time.Second), uint64(1), int64(0), int64(0), 300.0, false)
	f.Add("constant", 0, 1e5, 0.0, 0, int64(0), 0, int64(time.Second), 8, int64(0), int64(time.Second), uint64(1), int64(0), int64(0), 1e-300, true)
	f.Fuzz(func(t *testing.T, mode string, c int, rate, burstiness float64, burst int, ramp int64, requests int, duration int64,
		warm int, warmFor, drain int64, seed uint64, t1, t2 int64, end float64, exponential bool) {
		p := Plan{Mode: Mode(mode), Concurrency: c, Rate: rate, Burstiness: burstiness, Burst: burst, Ramp: time.Duration(ramp), Requests: requests,
			Duration: time.Duration(duration), Warmup: WarmupRule{warm, time.Duration(warmFor)}, Drain: time.Duration(drain), Seed: seed}
		if p.RateEnd = end; end != 0 {
			p.Curve = map[bool]Curve{false: Linear, true: Exponential}[exponential]
		}
		if p.Mode == Trace {
			p.Trace = []time.Duration{time.Duration(t1), time.Duration(t1), time.Duration(t2)}
		}
		s, err := p.Schedule()
		if err != nil || p.Mode == Closed {
			return
		}
		n := len(s.arrivals)
		if n == 0 || n > maxRequests || !slices.IsSorted(s.arrivals) || s.arrivals[0] != 0 || s.arrivals[n-1] > 2*maxSpan {
			t.Fatalf("%+v: %d arrivals", p, n)
		}
		if s.first < 0 || s.end <= s.first || s.end > n || s.to < s.from || len(s.Digest()) != 64 {
			t.Fatalf("%+v: window %d to %d, %v to %v", p, s.first, s.end, s.from, s.to)
		}
	})
}
