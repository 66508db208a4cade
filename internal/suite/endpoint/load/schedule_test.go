package load

import (
	"flag"
	"fmt"
	"math"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var update = flag.Bool("update", false, "rewrite the golden files")

func lay(t testing.TB, p Plan) Schedule {
	t.Helper()
	s, err := p.Schedule()
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// plans are of every mode; their digests are a golden file.
var plans = []struct {
	name string
	plan Plan
}{
	{"closed", Plan{Mode: Closed, Concurrency: 16, Duration: time.Minute,
		Warmup: WarmupRule{Requests: 32, Duration: 10 * time.Second}, AutoRamp: true, Drain: time.Minute, Seed: 42}},
	{"closed, another seed", Plan{Mode: Closed, Concurrency: 16, Duration: time.Minute,
		Warmup: WarmupRule{Requests: 32, Duration: 10 * time.Second}, AutoRamp: true, Drain: time.Minute, Seed: 43}},
	{"closed, ramp", Plan{Mode: Closed, Concurrency: 16, Requests: 200, Ramp: time.Second}},
	{"constant", Plan{Mode: Constant, Rate: 3, Requests: 1000, Warmup: WarmupRule{Requests: 10}, Drain: time.Minute}},
	{"constant, capped", Plan{Mode: Constant, Rate: 3, Concurrency: 4, Requests: 1000, Warmup: WarmupRule{Requests: 10}, Drain: time.Minute}},
	{"poisson", Plan{Mode: Gamma, Rate: 100, Burstiness: 1, Requests: 20000,
		Warmup: WarmupRule{Requests: 100, Duration: 3 * time.Second}, Drain: time.Second, Seed: 1}},
	{"poisson, another seed", Plan{Mode: Gamma, Rate: 100, Burstiness: 1, Requests: 20000,
		Warmup: WarmupRule{Requests: 100, Duration: 3 * time.Second}, Drain: time.Second, Seed: 2}},
	{"clusters", Plan{Mode: Gamma, Rate: 100, Burstiness: 0.25, Requests: 20000, Seed: 1}},
	{"nearly even", Plan{Mode: Gamma, Rate: 100, Burstiness: 16, Duration: 100 * time.Second, Seed: 1}},
	{"even", Plan{Mode: Gamma, Rate: 100, Burstiness: math.Inf(1), Duration: 100 * time.Second}},
	{"burst", Plan{Mode: Burst, Rate: 10, Burst: 8, Requests: 80, Warmup: WarmupRule{Requests: 3}}},
	{"linear ramp", Plan{Mode: Gamma, Rate: 20, RateEnd: 200, Curve: Linear, Burstiness: 1, Duration: 100 * time.Second, Seed: 1}},
	{"exponential ramp", Plan{Mode: Constant, Rate: 200, RateEnd: 20, Curve: Exponential, Duration: 100 * time.Second, Warmup: WarmupRule{Requests: 10}}},
	{"trace", Plan{Mode: Trace, Trace: []time.Duration{5, 5, 7, 1e9, 1e9, 2e9}, Warmup: WarmupRule{Requests: 1}}},
}

// TestDigestsStayTheSame holds the schedules of every seed: recorded results
// name them by these digests, and a change makes them incomparable.
func TestDigestsStayTheSame(t *testing.T) {
	t.Parallel()
	var got strings.Builder
	seen := map[string]string{}
	for _, c := range plans {
		d := lay(t, c.plan).Digest()
		if seen[d] != "" {
			t.Errorf("%s and %s have one digest", c.name, seen[d])
		}
		seen[d] = c.name
		fmt.Fprintf(&got, "%s  %s\n", d, c.name)
	}
	const golden = "testdata/digests.txt"
	if *update {
		if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(golden)
	if err != nil {
		t.Fatal(err)
	}
	if got.String() != string(want) {
		t.Errorf("got\n%swant\n%s", got.String(), want)
	}
}

// TestSchedulesKeepTheirRules checks what holds for every open loop.
func TestSchedulesKeepTheirRules(t *testing.T) {
	t.Parallel()
	for _, c := range plans {
		if c.plan.Mode == Closed {
			continue
		}
		s := lay(t, c.plan)
		if !slices.Equal(s.arrivals, lay(t, c.plan).arrivals) {
			t.Errorf("%s: two schedules of one plan differ", c.name)
		}
		p := c.plan
		switch {
		case !slices.IsSorted(s.arrivals) || s.arrivals[0] != 0:
			t.Errorf("%s: arrivals are not in order from 0", c.name)
		case s.first < p.Warmup.Requests || s.from < p.Warmup.Duration || s.arrivals[s.first] != s.from:
			t.Errorf("%s: the window starts with request %d at %v", c.name, s.first, s.from)
		case s.first > p.Warmup.Requests+max(p.Burst, 2) && s.arrivals[s.first-1] >= p.Warmup.Duration:
			t.Errorf("%s: warm-up takes %d requests", c.name, s.first)
		case p.Requests > 0 && p.Duration == 0 && s.measured() != p.Requests:
			t.Errorf("%s: %d requests are measured", c.name, s.measured())
		case p.Duration > 0 && s.to != s.from+p.Duration:
			t.Errorf("%s: the window is %v long", c.name, s.to-s.from)
		case s.arrivals[s.end-1] >= s.to:
			t.Errorf("%s: the last measured request is due at %v, the window ends at %v", c.name, s.arrivals[s.end-1], s.to)
		case s.arrivals[len(s.arrivals)-1] > s.to+p.Drain:
			t.Errorf("%s: requests go on until %v", c.name, s.arrivals[len(s.arrivals)-1])
		}
	}
}

func TestGapsHaveTheRateAndTheDeviationOfTheirMode(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	const n, rate = 100_000, 250.0
	for _, burstiness := range []float64{0.1, 0.5, 1, 3, 100} {
		for seed := range uint64(3) {
			s := lay(t, Plan{Mode: Gamma, Rate: rate, Burstiness: burstiness, Requests: n, Seed: seed})
			mean, cv := (s.to-s.from).Seconds()/n, 0.0
			for i := 1; i < n; i++ {
				d := (s.arrivals[i]-s.arrivals[i-1]).Seconds()/mean - 1
				cv += d * d / n
			}
			want := 1 / math.Sqrt(burstiness)
			if got := math.Sqrt(cv); math.Abs(got/want-1) > 0.03 {
				t.Errorf("burstiness %v: the gaps vary by %v, want %v", burstiness, got, want)
			}
			if got := 1 / mean; math.Abs(got/rate-1) > 4.5*want/math.Sqrt(n) { // 4.5 standard errors
				t.Errorf("burstiness %v: rate %v, want %v", burstiness, got, rate)
			}
		}
	}
}

func TestConstantRatesDoNotDrift(t *testing.T) {
	t.Parallel()
	s := lay(t, Plan{Mode: Constant, Rate: 3, Requests: 300_000})
	if got := s.arrivals[299_999] - s.arrivals[0]; got != 99_999_666_666_667 {
		t.Errorf("request 299999 is due after %d ns", got)
	}
	if got := s.to - s.from; got != 100_000*time.Second {
		t.Errorf("300000 requests at 3/s last %v", got)
	}
}

func TestBurstsComeInGroupsAtTheRate(t *testing.T) {
	t.Parallel()
	s := lay(t, Plan{Mode: Burst, Rate: 10, Burst: 5, Requests: 10, Warmup: WarmupRule{Requests: 2}})
	half := 500 * time.Millisecond
	want := slices.Repeat([]time.Duration{0, half}, 5)
	slices.Sort(want)
	if !slices.Equal(s.arrivals[:10], want) {
		t.Errorf("got %v", s.arrivals)
	}
	if s.first != 5 || s.to-s.from != time.Second {
		t.Errorf("the window starts with request %d and lasts %v: a group was divided", s.first, s.to-s.from)
	}
}

func TestTracesEndOneMeanGapAfterTheirLastRequest(t *testing.T) {
	t.Parallel()
	s := lay(t, Plan{Mode: Trace, Trace: []time.Duration{100, 110, 120, 140}})
	if s.from != 0 || s.to != 40+13 || s.measured() != 4 {
		t.Errorf("window from %d to %d with %d requests", s.from, s.to, s.measured())
	}
}

func TestWhicheverIsReachedFirstEndsTheWindow(t *testing.T) {
	t.Parallel()
	for rate, want := range map[float64]int{5: 50, 50: 100} {
		s := lay(t, Plan{Mode: Constant, Rate: rate, Requests: 100, Duration: 10 * time.Second})
		if s.measured() != want {
			t.Errorf("at %v/s %d requests are measured, want %d", rate, s.measured(), want)
		}
	}
}

func BenchmarkSchedule(b *testing.B) {
	for _, burstiness := range []float64{1, 0.5, 4} {
		b.Run(fmt.Sprintf("burstiness=%v/requests=1e6", burstiness), func(b *testing.B) {
			for b.Loop() {
				s := lay(b, Plan{Mode: Gamma, Rate: 1000, Burstiness: burstiness, Requests: 1_000_000})
				if s.measured() != 1_000_000 {
					b.Fatal(s.measured())
				}
			}
		})
	}
	b.Run("digest/requests=1e6", func(b *testing.B) {
		s := lay(b, Plan{Mode: Constant, Rate: 1000, Requests: 1_000_000})
		for b.Loop() {
			s.Digest()
		}
	})
}
