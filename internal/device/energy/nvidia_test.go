package energy

import (
	"context"
	"math"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const (
	gpuA = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
	gpuB = "GPU-89111111-d72c-4106-c12f-20bd9faed9f6"
)

func devices(ids ...string) (list []bench.Device) {
	for _, id := range ids {
		list = append(list, bench.Device{Vendor: "nvidia", ID: id})
	}
	return list
}

var epoch = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// row is one of GPU 0 or 1, by its UUID.
func row(uuid string, at time.Duration, watts float64) watch.Row {
	r := watch.Row{At: epoch.Add(at), GPU: device.GPU{Index: map[string]string{gpuA: "0", gpuB: "1"}[uuid], UUID: uuid}}
	for i, q := range watch.Quantities {
		if r.Values[i] = math.NaN(); q.Name == watch.Power {
			r.Values[i] = watts
		}
	}
	return r
}

// rowsOf are those of GPU 0: seconds and powers in turn.
func rowsOf(list ...float64) (rows []watch.Row) {
	for i := 0; i < len(list); i += 2 {
		rows = append(rows, row(gpuA, time.Duration(list[i]*1e9), list[i+1]))
	}
	return rows
}

func TestChoose(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	both := []watch.Row{row(gpuA, 0, 71.35), row(gpuB, 0, 80)}
	for name, tt := range map[string]struct {
		rows    []watch.Row
		trouble string
		ids     []string
		scope   []string
		absent  map[string]string // part of the reason
	}{
		"one of two":    {rows: both, ids: []string{"1"}, scope: []string{gpuB}},
		"under 2 names": {rows: both, ids: []string{"0", "GPU-8932", gpuB}, scope: []string{gpuB, gpuA}},
		"no power": {rows: []watch.Row{row(gpuA, 0, nan), row(gpuB, 0, 80)}, ids: []string{"0", "1"},
			absent: map[string]string{"nvidia:0": "reports no power", "nvidia:1": "nvidia:0 cannot be measured"}},
		"once reported": {rows: []watch.Row{row(gpuA, 0, nan), row(gpuA, 1, 80)}, ids: []string{"0"}, scope: []string{gpuA}},
		"unlisted":      {rows: both, ids: []string{"7"}, absent: map[string]string{"nvidia:7": "lists no such GPU"}},
		"ambiguous":     {rows: both, ids: []string{"GPU-89"}, absent: map[string]string{"nvidia:GPU-89": "or several"}},
		"broken":        {trouble: "nvidia-smi is lost: find it", ids: []string{"0"}, absent: map[string]string{"nvidia:0": "is lost: find it"}},
	} {
		scope, absent := choose(tt.rows, devices(tt.ids...), tt.trouble)
		checkAbsent(t, absent, tt.absent)
		if diff := cmp.Diff(tt.scope, scope); diff != "" && tt.absent == nil {
			t.Errorf("%s: scope (-want +got):\n%s", name, diff)
		}
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
	list := append(devices("0", "MIG-GPU-1/2/3"), bench.Device{Vendor: "amd", ID: "0"}, bench.Device{Vendor: "cpu"})
	opts := Options{Devices: list, Root: t.TempDir(), Watch: watch.New([]string{"PATH=" + t.TempDir()}, time.Now)}
	meters, absent := Detect(t.Context(), opts)
	if len(meters) != 0 {
		t.Errorf("%d meters", len(meters))
	}
	checkAbsent(t, absent, map[string]string{"nvidia:0": "not installed", "nvidia:MIG-GPU-1/2/3": "whole GPUs only",
		"amd:0": "cannot read the power of amd", "cpu": "no such file"})
}

// TestRecordedNVIDIA: a program that prints the rows of an H100 has the power of the moment, about 71 W of an idle device.
func TestRecordedNVIDIA(t *testing.T) {
	t.Parallel()
	if runtime.GOOS != "linux" {
		t.Skip("SKIPPED: the program is a script that needs GNU date")
	}
	bash, err := exec.LookPath("bash")
	folder, abs := filepath.Abs("../testdata/h100")
	if err != nil || abs != nil {
		testtier.Missing(t, "the recorded nvidia-smi was NOT run: install bash")
	}
	begin := time.Now()
	now := func() time.Duration { return time.Since(begin) }
	host := watch.New([]string{"PATH=" + folder + ":" + filepath.Dir(bash) + ":/usr/bin:/bin"}, time.Now)
	meters, absent := Detect(t.Context(), Options{Now: now, Epoch: begin, Watch: host, Devices: devices("0")})
	if len(meters) != 1 {
		t.Fatal(absent)
	}
	m := meters[0]
	if r := m.Read(Span{0, 1}, Span{}); r.Measured || !strings.Contains(r.Reason, "was not started") {
		t.Errorf("a meter that was not started reads %+v", r)
	}
	m.Start(t.Context())
	reader := host.Join(period) // the same rows
	reader.Await(t.Context(), time.Minute, func(rows []watch.Row) bool { return len(rows) > 2 })
	reader.Leave()
	span := Span{reader.Rows()[0].At.Sub(begin), reader.Rows()[2].At.Sub(begin)}
	if r := m.Read(span, span); r.Measured || !strings.Contains(r.Reason, "still runs") {
		t.Errorf("a running meter reads %+v", r)
	}
	m.Stop()
	m.Stop()
	r := m.Read(span, span)
	if !r.Measured || r.AverageW < 70 || r.AverageW > 74 || r.PeakW < r.AverageW || r.Method != nvidiaMethod || math.Abs(r.NetJoules()) > 1e-6 {
		t.Errorf("71 W read as %+v", r)
	}
}

// TestEndsWithItsContext: a meter whose context is done has left.
func TestEndsWithItsContext(t *testing.T) {
	t.Parallel()
	host := watch.New([]string{"PATH=" + t.TempDir()}, time.Now)
	ctx, cancel := context.WithCancel(t.Context())
	reader := host.Join(period)
	reader.Await(t.Context(), time.Minute, watch.Whole)
	m := &Meter{scope: []string{gpuA}, sampler: &nvidia{reader, epoch, []string{gpuA}}}
	m.Start(ctx)
	cancel()
	m.Stop()
	if r := m.Read(Span{1, 2}, Span{}); r.Measured || !strings.Contains(r.Reason, gpuA+" gave no samples: nvidia-smi is not installed") {
		t.Errorf("without nvidia-smi: %+v", r)
	}
}

func near(a, b float64) bool { return math.Abs(a-b) <= 1e-9*math.Max(math.Abs(a), math.Abs(b)) }

func TestTracks(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	for name, tt := range map[string]struct {
		rows   []watch.Row
		fault  string
		joules float64 // from second 1 to 2
		reason string
	}{
		"ramp":         {rows: rowsOf(.5, 0, 1.5, 100, 2.5, 0), joules: 75},
		"bridged":      {rows: rowsOf(.5, 10, 1, nan, 1.5, 10, 2.1, 10), joules: 10},
		"another GPU":  {rows: append(rowsOf(.5, 10, 1.5, 10, 2.1, 10), row(gpuB, 1.2e9, 99)), joules: 10},
		"gap":          {rows: rowsOf(.5, 10, 1.6, 10, 2.1, 10), reason: "no sample of GPU-8932f937-d72c-4106-c12f-20bd9faed9f6 for 1.1s"},
		"late":         {rows: rowsOf(1.5, 10, 2.5, 10), reason: "came 500ms after the start"},
		"early":        {rows: rowsOf(.5, 10, 1.5, 10), fault: "the cat: feed it", reason: "500ms before the end: the cat: feed it"},
		"lost":         {rows: rowsOf(.5, 10, 1.5, 10, 1.6, nan, 2.5, nan), reason: "500ms before the end"},
		"one":          {rows: rowsOf(.5, 10), reason: "gave no samples"},
		"back in time": {rows: rowsOf(.5, 10, 1.5, 10, -3, 99), reason: "500ms before the end"},
		"none, faulty": {fault: "the cat: feed it", reason: "gave no samples: the cat: feed it"},
	} {
		tracks := tracksOf(tt.rows, []string{gpuA}, epoch, tt.fault)
		span := Span{time.Second, 2 * time.Second}
		reason := told(tracks, span)
		if (reason == "") != (tt.reason == "") || !strings.Contains(reason, tt.reason) {
			t.Errorf("%s: reason is %q, want %q", name, reason, tt.reason)
		}
		if reason == "" && !near(joules(tracks, span), tt.joules) {
			t.Errorf("%s: %v J, want %v", name, joules(tracks, span), tt.joules)
		}
	}
}

// FuzzTracks: whatever the rows are, a span is not told or has an energy that its devices can have used.
func FuzzTracks(f *testing.F) {
	f.Add(int64(5e8), 0.0, int64(15e8), 100.0, int64(25e8), 0.0, int64(1e9), int64(2e9))
	f.Add(int64(0), 1e5, int64(-1), 1e5, int64(1e18), 1e5, int64(0), int64(1e18))
	f.Fuzz(func(t *testing.T, at0 int64, w0 float64, at1 int64, w1 float64, at2 int64, w2 float64, start, end int64) {
		var rows []watch.Row
		for _, r := range []struct {
			at int64
			w  float64
		}{{at0, w0}, {at1, w1}, {at2, w2}} {
			if r.w <= 1e5 { // as the watch promises
				rows = append(rows, row(gpuA, time.Duration(r.at), r.w))
			}
		}
		tracks := tracksOf(rows, []string{gpuA}, epoch, "")
		span := Span{time.Duration(start), time.Duration(end)}
		if told(tracks, span) != "" {
			return
		}
		j, p := joules(tracks, span), peak(tracks, span)
		if limit := p * span.seconds() * (1 + 1e-9); !(j >= 0 && j <= limit+1e-12) || p > 1e5 {
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
			p := &power{series{scope: gpuA, gap: maxGap}}
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
