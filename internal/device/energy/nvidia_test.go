package energy

import (
	"math"
	"os"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
)

const (
	gpuA = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
	gpuB = "GPU-11111111-d72c-4106-c12f-20bd9faed9f6"
)

var instantFields = []string{"power.draw", "power.draw.instant"}

func probe(rows ...string) string { return strings.Join(rows, "\n") + "\n" }

// hand is a clock that shows what a test sets it to. It begins at noon.
type hand struct{ now atomic.Int64 }

func (h *hand) clock() Clock {
	now := func() time.Duration { return time.Duration(h.now.Load()) }
	return Clock{Now: now, Wall: func() time.Time { return noon.Add(now()) }}
}

func devices(ids ...string) (list []bench.Device) {
	for _, id := range ids {
		list = append(list, bench.Device{Vendor: "nvidia", ID: id})
	}
	return list
}

func TestDetectNVIDIA(t *testing.T) {
	t.Parallel()
	both := probe("0, "+gpuA+", 71.35", "1, "+gpuB+", 80")
	for name, tt := range map[string]struct {
		fake   fake
		ids    []string
		scope  []string
		method string
		absent map[string]string // part of the reason
	}{
		"one of two":    {fake: fake{Fields: instantFields, Probe: both}, ids: []string{"1"}, scope: []string{gpuB}, method: "nvidia-smi-power-draw-instant-100ms"},
		"under 2 names": {fake: fake{Fields: instantFields, Probe: both}, ids: []string{"0", "GPU-8932", gpuB}, scope: []string{gpuB, gpuA}, method: "nvidia-smi-power-draw-instant-100ms"},
		"old driver":    {fake: fake{Fields: []string{"power.draw"}, Probe: both}, ids: []string{"0"}, scope: []string{gpuA}, method: "nvidia-smi-power-draw-100ms"},
		"no power": {fake: fake{Fields: instantFields, Probe: probe("0, "+gpuA+", [N/A]", "1, "+gpuB+", 80")}, ids: []string{"0", "1"},
			absent: map[string]string{"nvidia:0": "reports no power", "nvidia:1": "nvidia:0 cannot be measured"}},
		"not supported": {fake: fake{Fields: instantFields, Probe: probe("0, " + gpuA + ", [Not Supported]")}, ids: []string{"0"},
			absent: map[string]string{"nvidia:0": "reports no power"}},
		"unlisted":  {fake: fake{Fields: instantFields, Probe: both}, ids: []string{"7"}, absent: map[string]string{"nvidia:7": "lists no such GPU"}},
		"ambiguous": {fake: fake{Fields: instantFields, Probe: both}, ids: []string{"GPU-"}, absent: map[string]string{"nvidia:GPU-": "or several"}},
		"partition": {fake: fake{Fields: instantFields, Probe: both}, ids: []string{"MIG-GPU-1/2/3"}, absent: map[string]string{"nvidia:MIG-GPU-1/2/3": "whole GPUs only"}},
		"broken":    {fake: fake{}, ids: []string{"0"}, absent: map[string]string{"nvidia:0": "exit code 2: Field \"power.draw\" is not a valid"}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			opts := Options{Clock: new(hand).clock(), Devices: devices(tt.ids...), Environ: install(t, &tt.fake)}
			meters, absent, err := Detect(t.Context(), opts)
			if err != nil {
				t.Fatal(err)
			}
			checkAbsent(t, absent, tt.absent)
			if tt.scope == nil {
				if len(meters) != 0 {
					t.Errorf("there are meters of %v", meters[0].Scope())
				}
				return
			}
			if len(meters) != 1 {
				t.Fatalf("%d meters", len(meters))
			}
			if diff := cmp.Diff(tt.scope, meters[0].Scope()); diff != "" || meters[0].method != tt.method {
				t.Errorf("method %s, scope (-want +got):\n%s", meters[0].method, diff)
			}
		})
	}
}

func checkAbsent(t *testing.T, absent []Absence, want map[string]string) {
	t.Helper()
	for _, a := range absent {
		if part, ok := want[a.Scope]; !ok || !strings.Contains(a.Reason, part) || !strings.Contains(a.Reason, ": ") {
			t.Errorf("%s is absent because %q, want %q", a.Scope, a.Reason, part)
		}
	}
	if len(absent) != len(want) {
		t.Errorf("%d are absent, want %d: %v", len(absent), len(want), absent)
	}
}

func TestDetectOthers(t *testing.T) {
	t.Parallel()
	opts := Options{Devices: append(devices("0"), bench.Device{Vendor: "amd", ID: "0"}, bench.Device{Vendor: "cpu"}), Root: t.TempDir()}
	meters, absent, err := Detect(t.Context(), opts)
	if err != nil || len(meters) != 0 {
		t.Errorf("%d meters, %v", len(meters), err)
	}
	checkAbsent(t, absent, map[string]string{"nvidia:0": "not installed", "amd:0": "cannot read the power of amd", "cpu": "no such file"})
}

// measure reads the declared GPUs, by a running process, over a span with an idle
// span before it.
func measure(t *testing.T, f fake, ids []string) Reading {
	t.Helper()
	var now hand
	meters, absent, err := Detect(t.Context(), Options{Clock: now.clock(), Devices: devices(ids...), Environ: install(t, &f)})
	if err != nil || len(meters) != 1 {
		t.Fatal(absent, err)
	}
	m := meters[0]
	if r := m.Read(Span{0, 1}, Span{}); r.Measured || !strings.Contains(r.Reason, "was not started") {
		t.Errorf("a meter that was not started reads %+v", r)
	}
	m.Start(t.Context())
	for {
		if _, err := os.Stat(f.Started); err == nil {
			break
		}
		if t.Context().Err() != nil {
			t.Fatal("nvidia-smi was not started")
		}
		time.Sleep(5 * time.Millisecond)
	}
	idle, span := Span{2 * period, 4 * period}, Span{4 * period, 11 * period}
	if r := m.Read(span, idle); r.Measured || f.EndAt == 0 && !strings.Contains(r.Reason, "still runs") {
		t.Errorf("a running meter reads %+v", r)
	}
	now.now.Store(int64((printed + 2) * period))
	m.Stop()
	m.Stop()
	return m.Read(span, idle)
}

// TestALookThatWaitsIsTakenAgain: between two readings of the clock a busy machine
// may let a process wait for longer than the clock may have been set by.
func TestALookThatWaitsIsTakenAgain(t *testing.T) {
	t.Parallel()
	var now hand
	clock, waits := now.clock(), []time.Duration{300 * time.Millisecond, 20 * time.Millisecond, 0, time.Second}
	wall := clock.Wall
	clock.Wall = func() time.Time {
		at := wall()
		now.now.Add(int64(waits[0]))
		waits = waits[1:]
		return at
	}
	got := (&smi{clock: clock}).look()
	if want := 320 * time.Millisecond; got.now != want || !got.wall.Equal(noon.Add(want)) {
		t.Errorf("the clocks are %v and %v, want %v after noon", got.now, got.wall, want)
	}
}

func TestNVIDIA(t *testing.T) {
	t.Parallel()
	both := probe("0, "+gpuA+", 71.35", "1, "+gpuB+", 80")
	watts := map[string]float64{gpuA: 100.5, gpuB: 300}
	for name, tt := range map[string]struct {
		fake   fake
		ids    []string
		watts  float64
		reason string
	}{
		"one GPU":   {fake{Watts: watts}, []string{"0"}, 100.5, ""},
		"two GPUs":  {fake{Watts: watts}, []string{"0", "1"}, 400.5, ""},
		"time zone": {fake{Watts: watts, Zone: -(3*time.Hour + 30*time.Minute)}, []string{"1"}, 300, ""},
		"lost":      {fake{Watts: watts, LostAt: 4, Lost: gpuB}, []string{"0", "1"}, 0, "the last sample of " + gpuB},
		"other one": {fake{Watts: watts, LostAt: 4, Lost: gpuB}, []string{"0"}, 100.5, ""},
		"ends":      {fake{Watts: watts, EndAt: 4}, []string{"0"}, 0, "nvidia-smi ended early (exit code 15: GPU has fallen off the bus)"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			tt.fake.Fields, tt.fake.Probe = instantFields, both
			r := measure(t, tt.fake, tt.ids)
			if r.Measured != (tt.reason == "") || !strings.Contains(r.Reason, tt.reason) {
				t.Fatalf("measured %t, reason %q", r.Measured, r.Reason)
			}
			if tt.reason != "" {
				if !math.IsNaN(r.Joules) || !math.IsNaN(r.AverageW) || !math.IsNaN(r.NetJoules()) {
					t.Errorf("what was not measured has numbers: %+v", r)
				}
				return
			}
			if !near(r.AverageW, tt.watts) || !near(r.PeakW, tt.watts) || !near(r.IdleW, tt.watts) || !near(r.Joules, tt.watts*r.Span.seconds()) {
				t.Errorf("constant %v W read as %+v", tt.watts, r)
			}
			if math.Abs(r.NetJoules()) > 1e-6 {
				t.Errorf("net is %v J", r.NetJoules())
			}
		})
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

// lines are samples of one GPU: times of a day and powers in turn.
func lines(at ...string) string {
	var b strings.Builder
	for i := 0; i < len(at); i += 2 {
		b.WriteString("2026/03/04 " + at[i] + ", " + gpuA + ", " + at[i+1] + "\n")
	}
	return b.String()
}

var noon = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

func TestTracks(t *testing.T) {
	t.Parallel()
	steady := mapping{instant{10 * time.Second, noon}, instant{15 * time.Second, noon.Add(5 * time.Second)}}
	for name, tt := range map[string]struct {
		out    string
		m      mapping
		fault  string
		joules float64 // from second 11 to 12
		reason string
	}{
		"ramp":         {out: lines("12:00:00.500", "0", "12:00:01.500", "100", "12:00:02.500", "0"), m: steady, joules: 75},
		"other zone":   {out: lines("05:15:00.500", "0", "05:15:01.500", "100", "05:15:02.500", "0"), m: steady, joules: 75},
		"bridged":      {out: lines("12:00:00.500", "10", "12:00:01.000", "[N/A]", "12:00:01.500", "10", "12:00:02.100", "10"), m: steady, joules: 10},
		"gap":          {out: lines("12:00:00.500", "10", "12:00:01.600", "10", "12:00:02.100", "10"), m: steady, reason: "no sample of GPU-8932f937-d72c-4106-c12f-20bd9faed9f6 for 1.1s"},
		"late":         {out: lines("12:00:01.500", "10", "12:00:02.500", "10"), m: steady, reason: "came 500ms after the start"},
		"early":        {out: lines("12:00:00.500", "10", "12:00:01.500", "10"), m: steady, fault: "the cat: feed it", reason: "500ms before the end: the cat: feed it"},
		"one":          {out: lines("12:00:00.500", "10"), m: steady, reason: "gave no samples"},
		"back in time": {out: lines("12:00:00.500", "10", "12:00:01.500", "10", "11:00:02.500", "99"), m: steady, reason: "500ms before the end"},
		"cut":          {out: strings.TrimSuffix(lines("12:00:00.500", "10", "12:00:01.500", "10", "12:00:02.500", "10.5"), ".5\n"), m: steady, reason: "before the end"},
		"slewed": {out: lines("12:00:00.500", "10", "12:00:01.200", "10", "12:00:02.100", "10"),
			m: mapping{steady.start, instant{15 * time.Second, noon.Add(5*time.Second + 20*time.Millisecond)}}, joules: 10},
		"stepped": {out: lines("12:00:00.500", "10", "12:00:01.200", "10", "12:00:02.100", "10"),
			m: mapping{steady.start, instant{15 * time.Second, noon.Add(8 * time.Second)}}, reason: "clock was set"},
	} {
		tracks := tracksOf([]byte(tt.out), []string{gpuA}, tt.m, tt.fault)
		span := Span{11 * time.Second, 12 * time.Second}
		reason := told(tracks, span)
		if (reason == "") != (tt.reason == "") || !strings.Contains(reason, tt.reason) {
			t.Errorf("%s: reason is %q, want %q", name, reason, tt.reason)
		}
		if reason == "" && !near(joules(tracks, span), tt.joules) {
			t.Errorf("%s: %v J, want %v", name, joules(tracks, span), tt.joules)
		}
	}
}

// FuzzSamples: whatever nvidia-smi prints, a span is not told or has an energy
// that its devices can have used.
func FuzzSamples(f *testing.F) {
	f.Add(lines("12:00:00.500", "0", "12:00:01.500", "100", "12:00:02.500", "0"), int64(11e9), int64(12e9))
	f.Add(lines("12:00:00.500", "[N/A]", "0001:00:01.500", "NaN", "12:00:02.500", "1e400")+"Unable to determine\n", int64(0), int64(1))
	f.Add("0001/01/01 00:00:00.000, "+gpuA+", 1\n9999/12/31 23:59:59.999, "+gpuA+", 1\n", int64(0), int64(1e18))
	f.Add("0, "+gpuA+", 71.35\n, ,\n", int64(-1), int64(1))
	f.Fuzz(func(t *testing.T, out string, start, end int64) {
		found, _ := parseProbe([]byte(out))
		for _, g := range found {
			if !device.IsUUID(g.UUID) || g.Index == "" {
				t.Errorf("a GPU is %+v", g)
			}
		}
		m := mapping{instant{10 * time.Second, noon}, instant{15 * time.Second, noon.Add(5 * time.Second)}}
		tracks := tracksOf([]byte(out), []string{gpuA, gpuB}, m, "")[:1]
		span := Span{time.Duration(start), time.Duration(end)}
		if told(tracks, span) != "" {
			return
		}
		j, p := joules(tracks, span), peak(tracks, span)
		if limit := p * span.seconds() * (1 + 1e-9); !(j >= 0 && j <= limit+1e-12) || p > maxGPUW {
			t.Errorf("%v J in %v with a peak of %v W", j, span, p)
		}
	})
}

// BenchmarkRead reads ten minutes of eight GPUs, and one second.
func BenchmarkRead(b *testing.B) {
	for name, seconds := range map[string]int{"600s": 600, "1s": 1} {
		m := &Meter{stopped: make(chan struct{})}
		close(m.stopped)
		for range 8 {
			p := &power{seriesOf(gpuA, "")}
			for i := range seconds*10 + 1 {
				p.add(time.Duration(i)*period, float64(i%7))
			}
			m.tracks = append(m.tracks, p)
		}
		b.Run(name, func(b *testing.B) {
			for b.Loop() {
				if r := m.Read(Span{period / 2, time.Duration(seconds)*time.Second - period/2}, Span{}); !r.Measured {
					b.Fatal(r.Reason)
				}
			}
		})
	}
}
