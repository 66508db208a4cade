package load

import (
	"container/heap"
	"slices"
	"testing"
	"time"
)

func TestSaturatedNeedsMoreThanOneServiceTime(t *testing.T) {
	t.Parallel()
	ramp := func(last time.Duration) []Delay {
		var d []Delay
		for i := range 9 {
			d = append(d, Delay{Due: time.Duration(i), Delay: last * time.Duration(i/3) / 2})
		}
		slices.Reverse(d) // the order in which requests ended is any
		return d
	}
	for name, c := range map[string]struct {
		delays  []Delay
		service time.Duration
		want    bool
	}{
		"grows by more":             {ramp(101 * ms), 100 * ms, true},
		"grows by one service time": {ramp(100 * ms), 100 * ms, false},
		"shrinks":                   {ramp(-500 * ms), 100 * ms, false},
		"two delays":                {ramp(time.Hour)[:2], ms, false},
		"none":                      {nil, ms, false},
		"no service time":           {ramp(time.Hour), 0, false},
	} {
		if got := Saturated(c.delays, c.service); got != c.want {
			t.Errorf("%s: saturated is %t, want %t", name, got, c.want)
		}
	}
}

// moments are the ends of requests, soonest first.
type moments []time.Duration

func (m moments) Len() int           { return len(m) }
func (m moments) Less(i, j int) bool { return m[i] < m[j] }
func (m moments) Swap(i, j int)      { m[i], m[j] = m[j], m[i] }
func (m *moments) Push(x any)        { *m = append(*m, x.(time.Duration)) }
func (m *moments) Pop() any {
	last := (*m)[len(*m)-1]
	*m = (*m)[:len(*m)-1]
	return last
}

// queue simulates a server of 8 slots and exponential service times of mean 1 s
// under a Poisson load, a share of its capacity.
func queue(t *testing.T, share float64, requests int, seed uint64) []Sample {
	const slots = 8
	s := lay(t, Plan{Mode: Gamma, Burstiness: 1, Rate: share * slots, Requests: requests, Seed: seed})
	service, free, inside := newRandom(seed+1000), make(moments, slots), moments{}
	var samples []Sample
	for _, due := range s.arrivals[:requests] {
		for len(inside) > 0 && inside[0] <= due {
			heap.Pop(&inside)
		}
		start := max(due, heap.Pop(&free).(time.Duration))
		end := start + time.Duration(-ln(uniform(service))*1e9)
		heap.Push(&free, end)
		heap.Push(&inside, end)
		samples = append(samples, Sample{Due: due, Outstanding: len(inside), Latency: start - due + 50*ms})
	}
	return samples
}

// TestOverSaturationIsToldFromAQueueInBalance simulates queues of known load,
// 50 of each, and bounds both kinds of error.
func TestOverSaturationIsToldFromAQueueInBalance(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		share    float64
		min, max int
	}{{0.3, 0, 0}, {0.7, 0, 1}, {0.9, 0, 4}, {1.25, 45, 50}, {1.5, 50, 50}, {3, 50, 50}} {
		flagged := 0
		for seed := range uint64(50) {
			if OverSaturated(queue(t, c.share, 1000, seed)) {
				flagged++
			}
		}
		t.Logf("load %v: flagged %d of 50", c.share, flagged)
		if flagged < c.min || flagged > c.max {
			t.Errorf("load %v: flagged %d of 50, want %d to %d", c.share, flagged, c.min, c.max)
		}
	}
}

func TestOverSaturationNeedsTimeAndRequests(t *testing.T) {
	t.Parallel()
	grow := func(n int, span time.Duration) []Sample {
		var s []Sample
		for i := range n {
			s = append(s, Sample{Due: span * time.Duration(i) / time.Duration(n-1), Outstanding: i, Latency: time.Duration(i) * ms})
		}
		return s
	}
	for name, c := range map[string]struct {
		samples []Sample
		want    bool
	}{
		"enough":      {grow(100, 30*time.Second), true},
		"too short":   {grow(100, 30*time.Second-1), false},
		"too few":     {grow(99, time.Hour), false},
		"none":        {nil, false},
		"one moment":  {make([]Sample, 500), false},
		"no backlog":  {slices.Collect(func(yield func(Sample) bool) { each(grow(500, time.Hour), yield, Sample{Outstanding: 1}) }), false},
		"flat server": {slices.Collect(func(yield func(Sample) bool) { each(grow(500, time.Hour), yield, Sample{Latency: ms}) }), false},
	} {
		if got := OverSaturated(c.samples); got != c.want {
			t.Errorf("%s: over-saturated is %t, want %t", name, got, c.want)
		}
	}
}

// each yields the samples with what fixed holds in place of their own.
func each(samples []Sample, yield func(Sample) bool, fixed Sample) {
	for _, s := range samples {
		if fixed.Outstanding > 0 {
			s.Outstanding = fixed.Outstanding
		} else {
			s.Latency = fixed.Latency
		}
		if !yield(s) {
			return
		}
	}
}
