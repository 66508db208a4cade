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
	gpuB = "GPU-11111111-d72c-4106-c12f-20bd9faed9f6"
	// wanted is all that the stand-in for nvidia-smi understands.
	wanted = "--query-gpu=timestamp,index,uuid,clocks.sm,clocks.mem,power.draw,memory.used,temperature.gpu,utilization.gpu --format=csv,noheader,nounits --loop-ms=500"
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
	if got := strings.Join(args, " "); got != wanted {
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
		fmt.Printf("%s, 0, %s, %d, 2619, 300.5, 61000, 60, 97\n", stamp, gpuA, 1980-200*n)
		fmt.Println("Unable to determine the device handle for GPU 0000:2A:00.0: GPU is lost.")
		fmt.Printf("%s, 1, %s, [N/A], 2619, 100, 4, 40, 0\n", stamp, gpuB)
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
	for _, devices := range [][]bench.Device{nil, {{Vendor: "nvidia", ID: "0"}, {Vendor: "nvidia", ID: "GPU-1111"}}} {
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

func TestNothingToRead(t *testing.T) {
	t.Parallel()
	g := Start(t.Context(), options(t, []string{"PATH=" + t.TempDir()}))
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
	r, ok := parseRow("2026/03/04 12:00:00.000, 0, " + gpuA + ", 1, 2, 3, 4, 5, 6")
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

// FuzzRow: whatever is printed, a row has a GPU and numbers that can be.
func FuzzRow(f *testing.F) {
	f.Add("2026/03/04 12:00:00.000, 0, " + gpuA + ", 1980, 2619, 312.51, 61234, 46, 98")
	f.Add("2026/03/04 12:00:00.000, 0, " + gpuA + ", [N/A], NaN, -1, 1e400, 0x1p3, ")
	f.Add("Unable to determine the device handle for GPU 0000:2A:00.0: GPU is lost.")
	f.Fuzz(func(t *testing.T, line string) {
		r, ok := parseRow(line)
		if !ok {
			return
		}
		if r.uuid == "" || len(r.values) != len(fields) {
			t.Errorf("%+v", r)
		}
		for _, v := range r.values {
			if v.known && !(v.v >= 0 && v.v <= maxQuantity) {
				t.Errorf("%+v", r)
			}
		}
	})
}
