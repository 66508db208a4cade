package gauge

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/watch"
)

const (
	gpuA = "GPU-8932f937-d72c-4106-c12f-20bd9faed9f6"
	gpuB = "GPU-89111111-d72c-4106-c12f-20bd9faed9f6"
)

var epoch = time.Date(2026, 3, 4, 12, 0, 0, 0, time.UTC)

// rows are two of each of two GPUs, half a second apart; the second one reports neither a clock nor reasons.
func rows() (list []watch.Row) {
	for n := range 2 {
		at := epoch.Add(time.Duration(n) * period)
		list = append(list,
			watch.Row{At: at, GPU: device.GPU{Index: "0", UUID: gpuA}, Values: [...]float64{1980 - 200*float64(n), 2619, 300.5, 61000, 60, 97},
				Reasons: watch.Reasons(0x1 + 0x40*n)},
			watch.Row{At: at, GPU: device.GPU{Index: "1", UUID: gpuB}, Values: [...]float64{math.NaN(), 2619, 100, 4, 40, 0}, Reasons: -1})
	}
	return list
}

// gaugeOf reads rows instead of a program's.
func gaugeOf(devices ...bench.Device) *Gauge {
	return &Gauge{o: Options{Epoch: epoch, Devices: devices}, rows: rows}
}

func find(all []Reading, device, name string) (found []Reading) {
	return slices.DeleteFunc(slices.Clone(all), func(r Reading) bool { return r.Device != device || r.Name != name })
}

func TestGPUs(t *testing.T) {
	t.Parallel()
	for _, devices := range [][]bench.Device{nil, {{Vendor: "nvidia", ID: "0"}, {Vendor: "nvidia", ID: "GPU-891"}}} {
		all := gaugeOf(devices...).Read(0, math.MaxInt64/2)
		if len(all) != 12 {
			t.Fatalf("read %+v", all)
		}
		clock, held := find(all, gpuA, watch.SMClock)[0], find(all, gpuA, HeldBack)[0]
		if clock.Mean != 1880 || clock.Max != 1980 || clock.N != 2 || held.Mean != 0.5 || held.Max != 1 ||
			len(find(all, gpuB, watch.SMClock)) != 0 || len(find(all, gpuB, HeldBack)) != 0 || len(find(all, gpuB, watch.Power)) != 1 {
			t.Errorf("read %+v", all)
		}
		if got := gaugeOf(devices...).Read(time.Minute, time.Hour); got != nil {
			t.Errorf("after the end: %+v", got)
		}
	}
}

// TestAmbiguousID: the beginning of the UUIDs of several GPUs means none of them, and an index means one.
func TestAmbiguousID(t *testing.T) {
	t.Parallel()
	all := gaugeOf(bench.Device{Vendor: "nvidia", ID: "GPU-89"}, bench.Device{Vendor: "nvidia", ID: "1"}).Read(0, time.Second)
	if len(all) != 5 || all[0].Device != gpuB {
		t.Errorf("read %+v", all)
	}
}

// TestHeldBack: idle, clocks that a user set and boost in step with others hold nothing back.
func TestHeldBack(t *testing.T) {
	t.Parallel()
	for reasons, want := range map[watch.Reasons]bool{0: false, 0x1: false, 0x113: false, 0x4: true, 0x8: true, 0x21: true, 0x40: true, 0x80: true, -1: false} {
		if got := reasons.Has(heldBack); got != want {
			t.Errorf("%x: %v", reasons, got)
		}
	}
}

// TestShortSpans: a span between two values has those beside it.
func TestShortSpans(t *testing.T) {
	t.Parallel()
	g := &Gauge{}
	for i, v := range []float64{1000, 1200, 1400} {
		g.add(time.Duration(i)*period, v)
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

func options(t *testing.T) Options {
	begin := time.Now()
	return Options{Now: func() time.Duration { return time.Since(begin) }, Epoch: begin, Root: t.TempDir()}
}

func TestNothingToRead(t *testing.T) {
	t.Parallel()
	o := options(t)
	o.Watch = watch.New([]string{"PATH=" + t.TempDir()}, time.Now)
	g := Start(t.Context(), o)
	g.Await(t.Context(), time.Hour) // returns at once, because nothing can come
	g.Stop()
	if all := g.Read(0, math.MaxInt64/2); all != nil {
		t.Errorf("read %+v", all)
	}
}

func TestCPUClock(t *testing.T) {
	t.Parallel()
	o := options(t)
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
	all := g.Read(0, math.MaxInt64/2)
	for len(all) == 0 && t.Context().Err() == nil {
		time.Sleep(5 * time.Millisecond)
		all = g.Read(0, math.MaxInt64/2)
	}
	if len(all) != 1 || all[0].Name != CPUClock || all[0].Mean != 3200 {
		t.Errorf("read %+v", all)
	}
}
