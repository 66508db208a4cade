package energy

import (
	"encoding/json"
	"math"
	"math/rand/v2"
	"strings"
	"testing"
	"time"
)

// random is a track of some samples at irregular times, as a power or a counter.
func random(rng *rand.Rand, constant bool) track {
	s := series{scope: "x", gap: time.Hour}
	at := time.Duration(rng.Int64N(1e9))
	watts, total := 1+1000*rng.Float64(), 0.0
	p, c := &power{s}, &counter{s}
	for range 2 + rng.IntN(50) {
		p.add(at, watts)
		c.add(at, total)
		step := time.Duration(1 + rng.Int64N(1e9))
		at += step
		total += watts * step.Seconds()
		if !constant {
			watts = 1000 * rng.Float64()
		}
	}
	if rng.IntN(2) == 0 {
		return p
	}
	return c
}

func ends(t track) Span {
	var points []point
	switch t := t.(type) {
	case *power:
		points = t.points
	case *counter:
		points = t.points
	}
	return Span{points[0].at, points[len(points)-1].at}
}

// TestEnergyAddsUp: the energies of two parts are that of the whole, and lie
// between the lowest and the highest power.
func TestEnergyAddsUp(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(1, 2))
	for range 2000 {
		one := random(rng, false)
		whole := ends(one)
		at := func() time.Duration { return whole.Start + time.Duration(rng.Int64N(int64(whole.End-whole.Start)+1)) }
		a, b, c := at(), at(), at()
		a, b, c = min(a, b, c), max(min(a, b), min(max(a, b), c)), max(a, b, c)
		if a == b || b == c {
			continue
		}
		if told([]track{one}, Span{a, c}) != "" {
			t.Fatalf("the span %v of %v is not told", Span{a, c}, whole)
		}
		sum, all := one.joules(Span{a, b})+one.joules(Span{b, c}), one.joules(Span{a, c})
		if math.Abs(sum-all) > 1e-9*(1+all) {
			t.Fatalf("parts use %v J, the whole %v J", sum, all)
		}
		if limit := peak([]track{one}, Span{a, c}) * (c - a).Seconds(); all < -1e-9 || all > limit*(1+1e-9)+1e-9 {
			t.Fatalf("%v J in %v, above the peak's %v J", all, c-a, limit)
		}
	}
}

// TestConstantPower: however often and whenever it is looked at, constant
// power times time is the energy, and average and peak are that power.
func TestConstantPower(t *testing.T) {
	t.Parallel()
	rng := rand.New(rand.NewPCG(3, 4))
	for range 500 {
		tracks := []track{random(rng, true), random(rng, true), random(rng, true)}
		span := Span{0, 1 << 62}
		var watts float64
		for _, one := range tracks {
			span.Start, span.End = max(span.Start, ends(one).Start), min(span.End, ends(one).End)
			watts += one.watts(ends(one).Start)
		}
		if span.End <= span.Start {
			continue
		}
		m := &Meter{tracks: tracks, stopped: make(chan struct{})}
		close(m.stopped)
		r := m.Read(span, span)
		ok := r.Measured && close9(r.Joules, watts*span.seconds()) && close9(r.AverageW, watts) && close9(r.IdleW, watts)
		if !ok || math.Abs(r.PeakW-watts) > 1e-3*watts { // a counter's steps may be nanoseconds long
			t.Fatalf("%v W for %v read as %+v", watts, span.End-span.Start, r)
		}
	}
}

func close9(a, b float64) bool { return math.Abs(a-b) <= 1e-6*math.Abs(b)+1e-9 }

func TestTold(t *testing.T) {
	t.Parallel()
	ms := time.Millisecond
	s := series{scope: "x", gap: 300 * ms, points: []point{{100 * ms, 1}, {200 * ms, 1}, {600 * ms, 1}, {700 * ms, 1}}}
	for _, tt := range []struct {
		start, end time.Duration
		want       string
	}{
		{100, 200, ""}, {600, 700, ""}, {650, 700, ""}, {100, 150, ""},
		{100, 201, "no sample of x for 400ms"}, {300, 400, "no sample of x for 400ms"}, {599, 700, "no sample"},
		{99, 200, "came 1ms after the start"}, {600, 701, "came 1ms before the end"}, {150, 150, "empty"}, {200, 100, "empty"},
	} {
		got := told([]track{&power{s}}, Span{tt.start * ms, tt.end * ms})
		if (got == "") != (tt.want == "") || !strings.Contains(got, tt.want) || got != "" && !strings.Contains(got, ": ") {
			t.Errorf("%d to %d: %q, want %q", tt.start, tt.end, got, tt.want)
		}
	}
	if told(nil, Span{0, 1}) == "" {
		t.Error("no track tells a span")
	}
}

func TestTotal(t *testing.T) {
	t.Parallel()
	span := Span{0, 2 * time.Second}
	gpu := Reading{Measured: true, Span: span, Joules: 100, AverageW: 50, PeakW: 60, IdleW: 10, Scope: []string{"GPU-1"}, Method: "smi"}
	cpu := Reading{Measured: true, Span: span, Joules: 40, AverageW: 20, PeakW: 30, IdleW: 5, Scope: []string{"cpu-package-0"}, Method: "rapl"}
	sum := Total(gpu, cpu)
	if !sum.Measured || sum.Joules != 140 || sum.AverageW != 70 || !math.IsNaN(sum.PeakW) || sum.NetJoules() != 110 ||
		sum.Method != "rapl+smi" || strings.Join(sum.Scope, " ") != "GPU-1 cpu-package-0" {
		t.Errorf("total is %+v", sum)
	}
	if one := Total(gpu); one.PeakW != 60 {
		t.Errorf("total of one is %+v", one)
	}
	cpu.IdleW = math.NaN()
	if sum := Total(gpu, cpu); !sum.Measured || !math.IsNaN(sum.NetJoules()) {
		t.Errorf("without one idle power the total is %+v", sum)
	}
	other := cpu
	other.Span.End++
	for name, readings := range map[string][]Reading{"none": nil, "lost": {gpu, notMeasured(span, "the GPU was lost: replace it")}, "spans": {gpu, other}} {
		r := Total(readings...)
		if r.Measured || !math.IsNaN(r.Joules) || !strings.Contains(r.Reason, ": ") {
			t.Errorf("%s: %+v", name, r)
		}
		if _, err := json.Marshal(r); err == nil {
			t.Errorf("%s: a number that was not measured was written", name)
		}
	}
}
