package gauge

import (
	"fmt"
	"math"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

const (
	gpuA = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
	gpuB = "GPU-89111111-d72c-4106-c12f-20bd9faed9f6"
	// wanted is all that the stand-in for nvidia-smi understands, with the names of the reasons that its driver has.
	wanted = "--query-gpu=timestamp,index,uuid,clocks.sm,clocks.mem,power.draw,memory.used,temperature.gpu,utilization.gpu%s --format=csv,noheader,nounits --loop-ms=500"
	// driver is the variable of the stand-in with the name of the reasons that its driver has.
	driver = "GAUGE_TEST_REASONS"
)

// TestMain makes this test's binary an nvidia-smi when it is called so.
func TestMain(m *testing.M) {
	if strings.HasPrefix(filepath.Base(os.Args[0]), "nvidia-smi") {
		os.Exit(playSMI(os.Args[1:]))
	}
	os.Exit(m.Run())
}

// playSMI prints two rounds of two GPUs and a complaint, and goes on until it is asked to end.
func playSMI(args []string) int {
	reasons, known := "", os.Getenv(driver)
	switch got := strings.Join(args, " "); {
	case got == fmt.Sprintf(wanted, ""):
	case known != "" && got == fmt.Sprintf(wanted, ","+known):
		reasons = known
	default:
		fmt.Printf("Field \"%s\" is not a valid field to query.\n", got)
		return 2
	}
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM)
	zone := time.Duration(0)
	if os.Getenv("TZ") != "UTC0" {
		zone = 3 * time.Hour
	}
	for n := range 2 {
		stamp := time.Now().UTC().Add(zone).Format(stampLayout)
		a, b := "", ""
		if reasons != "" {
			a, b = fmt.Sprintf(", 0x%016x", 0x1+0x40*n), ", [N/A]"
		}
		fmt.Printf("%s, 0, %s, %d, 2619, 300.5, 61000, 60, 97%s\n", stamp, gpuA, 1980-200*n, a)
		fmt.Println("Unable to determine the device handle for GPU 0000:2A:00.0: GPU is lost.")
		fmt.Printf("%s, 1, %s, [N/A], 2619, 100, 4, 40, 0%s\n", stamp, gpuB, b)
	}
	<-ended
	return 0
}

// install returns an environment in which the stand-in is the only program.
func install(t *testing.T) []string {
	t.Helper()
	dir := t.TempDir()
	self, err := os.Executable()
	if err == nil {
		err = os.Symlink(self, filepath.Join(dir, "nvidia-smi"))
	}
	if err != nil {
		t.Skipf("nvidia-smi was NOT played, because a link is a privilege here: %v", err)
	}
	return []string{"PATH=" + dir, "GORACE=atexit_sleep_ms=0"}
}

func options(t *testing.T, environ []string) Options {
	epoch := time.Now()
	return Options{Now: func() time.Duration { return time.Since(epoch) }, Wall: time.Now, GPUs: true, Environ: environ, Root: t.TempDir()}
}

// until reads all until there are so many readings.
func until(t *testing.T, g *Gauge, n int) []Reading {
	t.Helper()
	for {
		if all := g.Read(0, math.MaxInt64); len(all) >= n || t.Context().Err() != nil {
			return all
		}
		time.Sleep(5 * time.Millisecond)
	}
}

func find(all []Reading, device, name string) (found []Reading) {
	return slices.DeleteFunc(slices.Clone(all), func(r Reading) bool { return r.Device != device || r.Name != name })
}

func TestGPUs(t *testing.T) {
	t.Parallel()
	environ := install(t)
	for _, devices := range [][]bench.Device{nil, {{Vendor: "nvidia", ID: "0"}, {Vendor: "nvidia", ID: "GPU-891"}}} {
		o := options(t, environ)
		o.Devices = devices
		g := Start(t.Context(), o)
		all := until(t, g, 11)
		for len(find(all, gpuA, SMClock)) == 0 || find(all, gpuA, SMClock)[0].N < 2 {
			all = until(t, g, 11)
		}
		g.Stop()
		clock := find(all, gpuA, SMClock)[0]
		if clock.Mean != 1880 || clock.Max != 1980 || len(find(all, gpuB, SMClock)) != 0 || len(find(all, gpuB, Power)) != 1 {
			t.Errorf("read %+v", all)
		}
		if got := g.Read(o.Now()+time.Minute, math.MaxInt64); got != nil {
			t.Errorf("after the end: %+v", got)
		}
	}
}

func TestOneGPU(t *testing.T) {
	t.Parallel()
	o := options(t, install(t))
	o.Devices = []bench.Device{{Vendor: "nvidia", ID: "1"}}
	g := Start(t.Context(), o)
	defer g.Stop()
	if all := until(t, g, 5); len(all) != 5 || all[0].Device != gpuB {
		t.Errorf("read %+v", all)
	}
}

// TestAmbiguousID: the beginning of the UUIDs of several GPUs means none of them.
func TestAmbiguousID(t *testing.T) {
	t.Parallel()
	o := options(t, install(t))
	o.Devices = []bench.Device{{Vendor: "nvidia", ID: "GPU-89"}, {Vendor: "nvidia", ID: "1"}}
	g := Start(t.Context(), o)
	defer g.Stop()
	all := until(t, g, 5)
	for len(find(all, gpuB, Power)) == 0 {
		all = until(t, g, 5)
	}
	if got := find(all, gpuA, Power); len(got) != 0 {
		t.Errorf("read %+v", got)
	}
}

// TestReasons: where a driver reports why clocks are lowered, a reading has the share of the time in which power or heat did
// so, by the name that the driver has for it; where it does not, all else is read.
func TestReasons(t *testing.T) {
	t.Parallel()
	for known, want := range map[string]int{"clocks_event_reasons.active": 1, "clocks_throttle_reasons.active": 1, "": 0} {
		o := options(t, append(install(t), driver+"="+known))
		o.Reasons, o.NoCPU = true, true
		g := Start(t.Context(), o)
		all := until(t, g, 11+want)
		for len(find(all, gpuA, SMClock)) == 0 || find(all, gpuA, SMClock)[0].N < 2 {
			all = until(t, g, 11+want)
		}
		g.Stop()
		all = g.Read(0, math.MaxInt64)
		held := find(all, gpuA, HeldBack)
		if len(held) != want || want == 1 && (held[0].Mean != 0.5 || held[0].Max != 1) || len(find(all, gpuB, HeldBack)) != 0 {
			t.Errorf("driver with %q: read %+v", known, all)
		}
	}
}

func TestHeldBack(t *testing.T) {
	for cell, want := range map[string]known{
		"0x0000000000000000": {0, true}, "0x1": {0, true}, "0x0000000000000113": {0, true}, "0x4": {1, true}, "0x0000000000000008": {1, true},
		"0x21": {1, true}, "0x40": {1, true}, "0x80": {1, true}, "[N/A]": {}, "": {}, "4": {}, "0xZ": {}, "0x10000000000000000": {}, "-0x4": {},
	} {
		if got := held(cell); got != want {
			t.Errorf("%q is %+v, want %+v", cell, got, want)
		}
	}
}

// TestShortSpans: a span between two values has those beside it.
func TestShortSpans(t *testing.T) {
	g := &Gauge{values: map[series][]value{}}
	for i, v := range []float64{1000, 1200, 1400} {
		g.add("cpu", CPUClock, time.Duration(i)*period, v)
	}
	for _, c := range []struct {
		from, to time.Duration
		n        int
		mean     float64
	}{{0, 2 * period, 3, 1200}, {period / 4, period / 2, 2, 1100}, {2*period + 1, 2*period + 2, 1, 1400}, {9 * period, 10 * period, 0, 0}} {
		all := g.Read(c.from, c.to)
		if len(all) != min(c.n, 1) || c.n > 0 && (all[0].N != c.n || all[0].Mean != c.mean) {
			t.Errorf("from %v to %v: %+v", c.from, c.to, all)
		}
	}
}

func TestNothingToRead(t *testing.T) {
	t.Parallel()
	g := Start(t.Context(), options(t, []string{"PATH=" + t.TempDir()}))
	g.Await(t.Context(), time.Hour) // returns at once, because nothing can come
	g.Stop()
	if all := g.Read(0, math.MaxInt64); all != nil {
		t.Errorf("read %+v", all)
	}
}

func TestCPUClock(t *testing.T) {
	t.Parallel()
	o := options(t, nil)
	o.GPUs = false
	for i, khz := range []string{"800000\n", "3200000\n", "fast\n"} {
		dir := filepath.Join(o.Root, "sys/devices/system/cpu", fmt.Sprintf("cpu%d", i), "cpufreq")
		if err := os.MkdirAll(dir, 0o700); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, "scaling_cur_freq"), []byte(khz), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	g := Start(t.Context(), o)
	defer g.Stop()
	if all := until(t, g, 1); len(all) != 1 || all[0].Name != CPUClock || all[0].Mean != 3200 {
		t.Errorf("read %+v", all)
	}
}

// TestStamps maps times of day of another zone, and leaves out what cannot be.
func TestStamps(t *testing.T) {
	noon := time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)
	for _, zone := range []time.Duration{0, 3*time.Hour + 30*time.Minute, -8 * time.Hour} {
		s := stamps{began: 10 * time.Second, wall: noon}
		for _, after := range []time.Duration{time.Second, 2 * time.Second} {
			if got := s.at(noon.Add(after + zone)); got != 10*time.Second+after {
				t.Errorf("%v after the start in zone %v is %v", after, zone, got)
			}
		}
	}
	g := &Gauge{values: map[series][]value{}}
	r, ok := parseRow("2026/03/04 12:00:00.000, 0, "+gpuA+", 1, 2, 3, 4, 5, 6", false)
	if !ok {
		t.Fatal("a row is none")
	}
	for _, at := range []time.Duration{-1, 12 * time.Second} {
		g.take(r, at, 10*time.Second)
	}
	if all := g.Read(math.MinInt64, math.MaxInt64); all != nil {
		t.Errorf("read %+v", all)
	}
}

// TestRecordedNVIDIA reads what scripts/gpu.sh recorded of a real GPU where ACCELGATE_GPU_FIXTURES names its folder, and
// those of an H100 without it.
func TestRecordedNVIDIA(t *testing.T) {
	folder := os.Getenv("ACCELGATE_GPU_FIXTURES")
	if folder == "" {
		folder = "../testdata/h100"
	}
	for name, reasons := range map[string]bool{"gauge.csv": false, "gauge-reasons.csv": true} {
		text, err := os.ReadFile(filepath.Join(folder, name))
		if err != nil {
			t.Error(err)
			continue
		}
		n, held := 0, 0
		for line := range strings.Lines(string(text)) {
			r, ok := parseRow(line, reasons)
			if !ok || !strings.HasSuffix(line, "\n") {
				continue
			}
			if n++; !r.values[0].known {
				t.Errorf("no clock in %q", line)
			}
			if r.held.known {
				held++
			}
		}
		if n == 0 || reasons != (held > 0) {
			t.Errorf("%s: %d rows, %d with reasons, were read of\n%.500s", name, n, held, text)
		}
	}
}

// FuzzRow: whatever is printed, a row has a GPU and numbers that can be.
func FuzzRow(f *testing.F) {
	f.Add("2026/03/04 12:00:00.000, 0, " + gpuA + ", 1980, 2619, 312.51, 61234, 46, 98")
	f.Add("2026/03/04 12:00:00.000, 0, " + gpuA + ", 1980, 2619, 312.51, 61234, 46, 98, 0x0000000000000004")
	f.Add("2026/03/04 12:00:00.000, 0, " + gpuA + ", [N/A], NaN, -1, 1e400, 0x1p3, ")
	f.Add("Unable to determine the device handle for GPU 0000:2A:00.0: GPU is lost.")
	f.Fuzz(func(t *testing.T, line string) {
		for _, reasons := range []bool{false, true} {
			r, ok := parseRow(line, reasons)
			if !ok {
				continue
			}
			if r.gpu.UUID == "" || len(r.values) != len(fields) || r.held.known && !reasons {
				t.Errorf("%+v", r)
			}
			for _, v := range append(r.values, r.held) {
				if v.known && !(v.v >= 0 && v.v <= maxQuantity) {
					t.Errorf("%+v", r)
				}
			}
		}
	})
}
