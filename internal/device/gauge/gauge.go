// Package gauge reads clocks, power, memory and heat of devices while something is
// measured: of NVIDIA GPUs by nvidia-smi, and the clock of the processors by Linux's
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
)

// period is the time between two values. A clock that a driver holds down stays down for
// seconds, and nvidia-smi averages power over one on most GPUs.
const period = 500 * time.Millisecond

// Quantities that are read, by name, with their units.
const (
	SMClock     = "sm clock"     // MHz
	MemoryClock = "memory clock" // MHz
	Power       = "power"        // W
	Memory      = "memory used"  // MiB
	Temperature = "temperature"  // C
	Busy        = "busy"         // % of the time
	HeldBack    = "held back"    // 1 while power or heat holds the clock down, else 0
	CPUClock    = "cpu clock"    // MHz, of the fastest processor
)

// cpu is the device of CPUClock.
const cpu = "cpu"

// Options say what to read.
type Options struct {
	// Now is the time since the caller's epoch, by a monotonic clock, and Wall the time of
	// day, by which nvidia-smi stamps its lines.
	Now  func() time.Duration
	Wall func() time.Time
	// GPUs asks nvidia-smi. Devices are those of them that count, by index, UUID or the
	// beginning of one, which counts for none where it is that of several; no devices are all that it lists.
	GPUs    bool
	Devices []bench.Device
	// Reasons reads HeldBack too, of a driver that reports why its clocks are lowered.
	Reasons bool
	// NoCPU leaves the clocks of processors unread.
	NoCPU bool
	// Environ is the environment of this process, in which nvidia-smi is looked for.
	Environ []string
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
	cancel context.CancelFunc
	done   sync.WaitGroup
	first  chan struct{} // closed when GPUs were read once, or cannot be
	once   sync.Once

	devices []bench.Device

	mu     sync.Mutex
	gpus   []device.GPU // that nvidia-smi lists
	values map[series][]value
	order  []series
}

type series struct{ device, name string }

type value struct {
	at time.Duration
	v  float64
}

// Start starts reading, which goes on until Stop or until ctx is done. What cannot be read
// is left out. The first values of GPUs come when nvidia-smi has started: seconds later
// where no process keeps the driver loaded.
func Start(ctx context.Context, o Options) *Gauge {
	g := &Gauge{devices: o.Devices, values: map[series][]value{}, first: make(chan struct{})}
	ctx, g.cancel = context.WithCancel(ctx)
	if o.GPUs {
		g.done.Go(func() {
			defer g.begun()
			g.readNVIDIA(ctx, &o)
		})
	} else {
		g.begun()
	}
	if !o.NoCPU {
		g.done.Go(func() { g.readCPU(ctx, &o) })
	}
	return g
}

func (g *Gauge) begun() { g.once.Do(func() { close(g.first) }) }

// Await waits until GPUs were read once, or cannot be, or for a time at most.
func (g *Gauge) Await(ctx context.Context, most time.Duration) {
	enough := time.NewTimer(most)
	defer enough.Stop()
	select {
	case <-g.first:
	case <-enough.C:
	case <-ctx.Done():
	}
}

// Stop ends reading and returns when nothing of it is left. Values that came stay.
func (g *Gauge) Stop() {
	g.cancel()
	g.done.Wait()
}

// maxValues is what a day yields of one quantity.
const maxValues = 200_000

// list adds a GPU to those that nvidia-smi lists.
func (g *Gauge) list(one device.GPU) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if !slices.Contains(g.gpus, one) {
		g.gpus = append(g.gpus, one)
	}
}

// counts reports whether the values of a device are asked for. That is known when all GPUs were listed, because the
// beginning of a UUID may be that of several and then means none. The caller holds mu.
func (g *Gauge) counts(name string) bool {
	return name == cpu || len(g.devices) == 0 || slices.ContainsFunc(g.devices, func(d bench.Device) bool {
		i := device.FindGPU(g.gpus, d.ID)
		return d.Vendor == device.NVIDIA && i >= 0 && g.gpus[i].UUID == name
	})
}

func (g *Gauge) add(device, name string, at time.Duration, v float64) {
	g.mu.Lock()
	defer g.mu.Unlock()
	s := series{device, name}
	if g.values[s] == nil {
		g.order = append(g.order, s)
	}
	if len(g.values[s]) < maxValues {
		g.values[s] = append(g.values[s], value{at, v})
	}
}

// Read sums up the values from one moment to another, both included, in the order in which
// the quantities were first seen. A span that is shorter than the time between two values may
// hold none: then those count that are at most so long before or after it. A quantity without any
// is left out.
func (g *Gauge) Read(from, to time.Duration) (all []Reading) {
	g.mu.Lock()
	defer g.mu.Unlock()
	for _, s := range g.order {
		if !g.counts(s.device) {
			continue
		}
		r := g.sum(s, from, to)
		if r.N == 0 {
			r = g.sum(s, from-period, to+period)
		}
		if r.N > 0 {
			all = append(all, r)
		}
	}
	return all
}

// sum is the reading of a series. The caller holds mu.
func (g *Gauge) sum(s series, from, to time.Duration) Reading {
	r := Reading{Device: s.device, Name: s.name}
	for _, v := range g.values[s] {
		if v.at < from || v.at > to {
			continue
		}
		if r.N++; r.N == 1 || v.v > r.Max {
			r.Max = v.v
		}
		r.Mean += (v.v - r.Mean) / float64(r.N)
	}
	return r
}
