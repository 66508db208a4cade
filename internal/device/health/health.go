// Package health watches a machine while something is measured on it, and says
// whether what was measured can be trusted: clocks that were held down, heat,
// memory errors, and others who used the same devices or processors. It judges
// the machine and never what was measured.
//
// A health is unhealthy if any rule fires, unknown if a part that counts could
// not be looked at, and well only if everything was looked at. A tool that is
// not installed, fails, or prints what is not understood is unknown, never well.
//
// # Rules
//
// Of an accelerator:
//
//   - It says that it is held back by heat or by the power supply: of a driver
//     that counts such time, for more than 1 % of the span, since as much cannot
//     move a result further than that; of another, in any sample. NVIDIA's plain
//     "HW slowdown" takes two samples, because it "may be also reported during
//     PState or clock change" (NVML's reference, nvmlClocksEventReasons).
//   - Its power limit takes half of its clock: the median clock of the samples
//     in which it was busy (half of the time or more) and power-capped is below
//     0.5 of the nominal one. NVML's reference describes hardware slowdown as
//     "reducing the core clocks by a factor of 2 or more", and this is no less. A
//     power cap alone is the usual state of a busy device, and clocks that
//     a user locked are the same in every run: both are readings. Where a GPU
//     reports only its highest clock, 0.7 of it is taken for the nominal one: small
//     GPUs cannot keep more (T4: base 585 of 1590 MHz, L4: 795 of 2040).
//   - Its count of uncorrected memory errors grew.
//   - It reports that it is unhealthy: a reset is due, rows or pages wait
//     to be replaced, its tool's own health is not OK, or the kernel's log reports
//     an XID about the device and not about a program.
//   - A process computes on it that does not descend from this one.
//
// Of the processors, on Linux:
//
//   - Others used more than 25 % of all cores: the time of the machine in
//     user, nice and system, less that of this process and all below it, of at
//     least the last second (time before the span counts where it is shorter). Looks are at least 50 ms apart, so
//     that short spans share them.
//   - The hypervisor took more than 5 % of the time (steal of proc_stat(5)).
//   - Cores that were busy for 90 % of a second had, on average at the end of
//     such seconds, a clock below 0.6 of their base frequency. Code with wide
//     vectors runs below the base on a machine that is well: Intel specifies a
//     Xeon Gold 6130 of 2.1 GHz for 1.7 with AVX2 and 1.3 with AVX-512. Without a
//     base frequency in cpufreq or acpi_cppc, as in virtual machines, there is no
//     such rule.
//   - A count of thermal throttling grew (thermal_throttle in sysfs).
//
// The limits are this project's own choice unless a source stands beside them.
//
// # Tools
//
// nvidia-smi tells all of it, before and after as XML and once a second in between.
// It lists no XIDs: those come from the kernel's log where it may be read, as by
// root, and what the driver thinks must follow from one is its recovery action. amd-smi tells all of it from ROCm 6.3 on, its predecessor rocm-smi
// neither throttling nor errors. npu-smi sums up heat and errors in its own word
// for the health of a chip. powermetrics tells the pressure of heat on macOS to
// root only, and no tool there lists the users of the GPU. amd-smi and npu-smi take tenths
// of a second of a processor, so they are asked every 10 s in between.
package health

import (
	"cmp"
	"context"
	"os"
	"runtime"
	"slices"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/worker"
)

// Options say what to watch.
type Options struct {
	// Devices are looked at in spans that name no device: those that a cell may
	// use that is not pinned.
	Devices []bench.Device
	// Worker runs the vendors' tools, found in the PATH of its children. Nil means
	// that none is asked, so that accelerators stay unknown.
	Worker worker.Worker
	// Watch reads the GPUs of NVIDIA between the first and the last look; nil does not.
	Watch *watch.Host
	// Root is where the folders proc and sys are; "" is "/".
	Root string
	// PID is the number of this process in Root's proc; 0 asks the system.
	PID int
	// GOOS is that of this program unless given.
	GOOS string
	// Now is a monotonic clock, as time.Now is.
	Now func() time.Time
}

// Watcher watches one machine. Its methods are safe for concurrent use, and any
// number of spans may be open at once.
type Watcher struct {
	opts   Options
	system system

	mu   sync.Mutex
	past []machine         // looks at the processors, the oldest first
	last map[string]state  // of devices, by name
	hung map[string]string // vendors whose tools do not answer in time, and what was said of it
}

// New returns a watcher and takes a first look at the processors. It holds
// nothing that must be released.
func New(o Options) *Watcher {
	o.Root = cmp.Or(o.Root, "/")
	o.PID = cmp.Or(o.PID, os.Getpid())
	o.GOOS = cmp.Or(o.GOOS, runtime.GOOS)
	w := &Watcher{opts: o, last: map[string]state{}, hung: map[string]string{}}
	if o.GOOS == "linux" {
		w.system = newSystem(o.Root, o.PID)
		w.look()
	}
	return w
}

// Span is a time during which the machine is watched.
type Span struct {
	w       *Watcher
	begin   machine
	outside bool
	stop    context.CancelFunc
	ticks   <-chan finding
	patrols []*patrol
}

// Begin starts to watch the processors and a device, or all of Options.Devices
// where d is zero. It returns when the device was looked at once, unless that
// was just done. Outside says that what will be measured does not run below this
// process, as in a container or on a server that runs already: then others cannot
// be separated from it. End must be called.
func (w *Watcher) Begin(ctx context.Context, d bench.Device, outside bool) *Span {
	devices := w.opts.Devices
	if d != (bench.Device{}) {
		devices = d.Members()
	}
	watching, stop := context.WithCancel(ctx)
	s := &Span{w: w, outside: outside, stop: stop}
	s.patrols = w.patrols(watching, devices)
	if w.opts.GOOS == "linux" {
		s.begin = w.look()
		s.ticks = w.tick(watching, s.begin)
	}
	for _, p := range s.patrols {
		p.start(watching)
	}
	return s
}

// End ends the span and says how the machine was. It asks the vendor's tool once
// more, unless ctx is done, and is called once.
func (s *Span) End(ctx context.Context) *bench.Health {
	var all finding
	if s.w.opts.GOOS == "linux" {
		now := s.w.look()
		s.stop()
		all.join(<-s.ticks)
		all.join(s.w.processors(s.begin, now, s.outside))
	} else {
		s.stop()
		all.unknown = append(all.unknown, "the load of the processors cannot be read on "+s.w.opts.GOOS+
			": see for yourself that nothing else runs")
	}
	for _, p := range s.patrols {
		all.join(p.end(ctx, s))
	}
	return all.health()
}

// finding is what one part of the machine says of a span.
type finding struct {
	unwell, unknown []string
	readings        readings
}

func (f *finding) join(more finding) {
	f.unwell = append(f.unwell, more.unwell...)
	f.unknown = append(f.unknown, more.unknown...)
	f.readings = append(f.readings, more.readings...)
}

// health sums up. What is wrong stands before what is unknown.
func (f *finding) health() *bench.Health {
	h := &bench.Health{Status: bench.Healthy, Readings: f.readings[:min(len(f.readings), maxReadings)]}
	switch {
	case len(f.unwell) > 0:
		h.Status = bench.Unhealthy
	case len(f.unknown) > 0:
		h.Status = bench.HealthUnknown
	}
	for _, reason := range slices.Concat(f.unwell, f.unknown) {
		if !slices.Contains(h.Reasons, reason) && len(h.Reasons) < bench.MaxFacts {
			h.Reasons = append(h.Reasons, reason[:min(len(reason), bench.MaxFact)])
		}
	}
	return h
}
