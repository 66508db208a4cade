// Package gauge reads clocks, power, memory and heat of devices while something is
// measured: of NVIDIA GPUs by the host's watch, and the clock of the processors by Linux's
// cpufreq. Each value has its time, so that a [Reading] of any span is made afterwards.
// It judges nothing; package health judges the host.
package gauge

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/watch"
)

// period is the longest time between two values. A clock that a driver holds down stays down for seconds.
const period = 500 * time.Millisecond

// Quantities that are read beside those of [watch.Quantities].
const (
	HeldBack = "held back" // 1 while power or heat holds the clock down, else 0
	CPUClock = "cpu clock" // MHz, of the fastest processor
)

// cpu is the device of CPUClock.
const cpu = "cpu"

// Options say what to read.
type Options struct {
	// Now is the time since Epoch, by a monotonic clock.
	Now   func() time.Duration
	Epoch time.Time
	// Watch reads GPUs; nil reads none. Devices are those of them that count, by index, UUID or the
	// beginning of one, which counts for none where it is that of several; no devices are all that it lists.
	Watch   *watch.Host
	Devices []bench.Device
	// NoCPU leaves the clocks of processors unread.
	NoCPU bool
	// Root is where the folder sys is; "" is "/".
	Root string
}

// Reading is what was read of one quantity of one device over a span.
type Reading struct {
	Device string // UUID of a GPU, "cpu"
	Name   string
	N      int // values, at least 1
	Mean   float64
	Max    float64
}

// Gauge reads until it is stopped. Its methods are safe for concurrent use.
type Gauge struct {
	o      Options
	gpus   *watch.Reader      // nil where none are read
	rows   func() []watch.Row // of gpus
	cancel context.CancelFunc
	done   sync.WaitGroup

	mu     sync.Mutex
	clocks []value // of the processors
}

type value struct {
	at time.Duration
	v  float64
}

// Start starts reading, which goes on until Stop. What cannot be read is left out. The first values of GPUs come when
// nvidia-smi has started: seconds later where no process keeps the driver loaded.
func Start(ctx context.Context, o Options) *Gauge {
	g := &Gauge{o: o}
	ctx, g.cancel = context.WithCancel(ctx)
	if o.Watch != nil {
		g.gpus = o.Watch.Join(period)
		g.rows = g.gpus.Rows
	}
	if !o.NoCPU {
		g.done.Go(func() { g.readCPU(ctx) })
	}
	return g
}

// Await waits until GPUs were read once, or cannot be, or for a time at most.
func (g *Gauge) Await(ctx context.Context, limit time.Duration) {
	if g.gpus != nil {
		g.gpus.Await(ctx, limit, func(rows []watch.Row) bool { return len(rows) > 0 })
	}
}

// Stop ends reading and returns when nothing of it is left. Values that came stay.
func (g *Gauge) Stop() {
	g.cancel()
	if g.gpus != nil {
		g.gpus.Leave()
	}
	g.done.Wait()
}

// maxValues is what a day yields.
const maxValues = 200_000

func (g *Gauge) add(at time.Duration, mhz float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if len(g.clocks) < maxValues {
		g.clocks = append(g.clocks, value{at, mhz})
	}
}

// Read sums up the values from one moment to another, both included, by devices. A span that is shorter than the time between
// two values may hold none: then those count that are at most so long before or after it. A quantity without any is left out.
func (g *Gauge) Read(from, to time.Duration) (all []Reading) {
	if g.rows != nil {
		all = g.readGPUs(from, to)
	}
	g.mu.Lock()
	defer g.mu.Unlock()
	return appendSum(all, Reading{Device: cpu, Name: CPUClock}, g.clocks, from, to)
}

func (g *Gauge) readGPUs(from, to time.Duration) (all []Reading) {
	rows := g.rows()
	gpus := watch.Listed(rows)
	for i, gpu := range gpus {
		if !g.counts(gpus, i) {
			continue
		}
		var values [len(watch.Quantities) + 1][]value
		for _, r := range rows {
			at := r.At.Sub(g.o.Epoch)
			if r.GPU != gpu || at < from-period || at > to+period {
				continue
			}
			for q, v := range r.Values {
				if v >= 0 {
					values[q] = append(values[q], value{at, v})
				}
			}
			if r.Reasons.Known() {
				held := 0.0
				if r.Reasons.Has(heldBack) {
					held = 1
				}
				values[len(r.Values)] = append(values[len(r.Values)], value{at, held})
			}
		}
		for q, list := range values {
			name := HeldBack
			if q < len(watch.Quantities) {
				name = watch.Quantities[q].Name
			}
			all = appendSum(all, Reading{Device: gpu.UUID, Name: name}, list, from, to)
		}
	}
	return all
}

// heldBack are the reasons of power and heat.
const heldBack = watch.PowerCap | watch.HardwareSlowdown | watch.SoftwareHeat | watch.HardwareHeat | watch.PowerBrake

// counts reports whether the values of a listed GPU are asked for.
func (g *Gauge) counts(gpus []device.GPU, i int) bool {
	return len(g.o.Devices) == 0 || slices.ContainsFunc(g.o.Devices, func(d bench.Device) bool {
		return d.Vendor == device.NVIDIA && device.FindGPU(gpus, d.ID) == i
	})
}

func appendSum(all []Reading, r Reading, list []value, from, to time.Duration) []Reading {
	for _, room := range []time.Duration{0, period} {
		for _, v := range list {
			if v.at < from-room || v.at > to+room {
				continue
			}
			if r.N++; r.N == 1 || v.v > r.Max {
				r.Max = v.v
			}
			r.Mean += (v.v - r.Mean) / float64(r.N)
		}
		if r.N > 0 {
			return append(all, r)
		}
	}
	return all
}
