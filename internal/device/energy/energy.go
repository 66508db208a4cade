// Package energy measures what declared devices used over a span of time:
// NVIDIA GPUs by the power that nvidia-smi tells, CPU packages and their memory
// by the counters of RAPL. It starts before the span is known: a [Meter] keeps
// every sample with its time, and a [Reading] of any span within is made of
// them afterwards. It judges nothing.
//
// What was not measured is never 0: it is a Reading that says why, with NaN for
// its numbers, which encoding/json refuses to write. A meter with several
// scopes measures all of them or nothing: a sum that lost a GPU is no energy.
//
// # What the numbers are worth
//
// RAPL counts energy, in steps of about a millisecond, of a whole package:
// whatever else runs on it is in the number. Domains within a package (core,
// uncore) and around it (psys) are left out, because they would count twice,
// and so is intel-rapl-mmio, which shows the same counter again. See
// Documentation/power/powercap/powercap.rst of Linux. On AMD's processors the
// same files have the same names.
//
// nvidia-smi tells power, which is integrated by the trapezoidal rule between
// samples 100 ms apart. It is power.draw, the mean of the last second on
// Ampere and later (except GA100), so that spans should be some seconds
// long; [watch.Quantities] has why not power.draw.instant. Of six loads on an H100,
// each for 5 s, it was within 4 % of the driver's counter of energy. NVML also has a counter of the total energy, which
// would not need integrating; it is not used, because it is reached by cgo or
// by loading a library at run time, and either makes a static binary a dynamic
// one, while nvidia-smi does not show it.
package energy

import (
	"context"
	"math"
	"slices"
	"strings"
	"sync"
	"time"
)

// Span is a time from Start to End, by the caller's clock.
type Span struct{ Start, End time.Duration }

func (s Span) seconds() float64 { return (s.End - s.Start).Seconds() }

// Reading is the energy of one span. Numbers that were not measured are NaN.
type Reading struct {
	Measured bool
	Reason   string // why it was not measured, with what to do about it; "" if it was
	Span     Span
	Joules   float64
	// AverageW and PeakW are of all scopes together. A peak is of samples 100 ms
	// apart, and so no bound.
	AverageW, PeakW float64
	// IdleW is the mean power of the idle span, NaN if that was not measured.
	IdleW  float64
	Scope  []string // sorted: UUIDs of GPUs, "cpu-package-0", "dram-0"
	Method string   // what tells readings apart that must not be compared
}

// NetJoules is the energy above what the scopes use when idle, NaN if that is
// not known. It may be negative where idle power was not constant.
func (r Reading) NetJoules() float64 { return r.Joules - r.IdleW*r.Span.seconds() }

func notMeasured(span Span, reason string) Reading {
	nan := math.NaN()
	return Reading{Reason: reason, Span: span, Joules: nan, AverageW: nan, PeakW: nan, IdleW: nan}
}

// Total adds up readings of the same span by different meters. It is measured
// if all of them were, and there is one. Its peak is known for a single
// reading only.
func Total(readings ...Reading) Reading {
	switch len(readings) {
	case 0:
		return notMeasured(Span{}, "no meter was there: declare devices whose energy can be measured")
	case 1:
		return readings[0]
	}
	sum := Reading{Measured: true, Span: readings[0].Span, PeakW: math.NaN()}
	var methods []string
	for _, r := range readings {
		if !r.Measured || r.Span != sum.Span {
			reason := r.Reason
			if r.Measured {
				reason = "the readings are of different spans: read all meters over the same one"
			}
			return notMeasured(sum.Span, reason)
		}
		sum.Joules += r.Joules
		sum.AverageW += r.AverageW
		sum.IdleW += r.IdleW
		sum.Scope = append(sum.Scope, r.Scope...)
		methods = append(methods, r.Method)
	}
	slices.Sort(sum.Scope)
	slices.Sort(methods)
	sum.Method = strings.Join(methods, "+")
	return sum
}

const (
	period = 100 * time.Millisecond // between samples
	// maxGap is the longest time without a sample over which is interpolated.
	maxGap = time.Second
	// linger is how long a meter goes on after Stop, so that a sample follows
	// the end of a span that ends with Stop.
	linger = 5 * period
)

// sampler looks at its scopes until ctx is done, and returns what it saw: one
// track for each scope, in order.
type sampler interface {
	sample(ctx context.Context) []track
}

// Meter measures one kind of scope. It is used once: Start, Stop, then any
// number of readings. Its methods are safe for concurrent use.
type Meter struct {
	scope   []string
	method  string
	sampler sampler

	mu      sync.Mutex
	cancel  context.CancelFunc
	stopped chan struct{} // closed when tracks are complete
	tracks  []track
}

// Scope returns what the meter measures, sorted.
func (m *Meter) Scope() []string { return slices.Clone(m.scope) }

// Start starts sampling, which goes on until Stop or until ctx is done. The
// first sample comes some time later: of nvidia-smi, seconds where no process
// keeps the driver loaded. Further calls do nothing.
func (m *Meter) Start(ctx context.Context) {
	m.mu.Lock()
	defer m.mu.Unlock()
	if m.stopped != nil {
		return
	}
	ctx, m.cancel = context.WithCancel(ctx)
	m.stopped = make(chan struct{})
	go func() { // ends with ctx; Stop waits for it
		m.tracks = m.sampler.sample(ctx)
		close(m.stopped)
	}()
}

// Stop ends sampling half a second after it is called, and returns when it has
// ended. Further calls wait for the same.
func (m *Meter) Stop() {
	m.mu.Lock()
	cancel, stopped := m.cancel, m.stopped
	m.mu.Unlock()
	if stopped == nil {
		return
	}
	select {
	case <-stopped:
	case <-time.After(linger):
	}
	cancel()
	<-stopped
}

// Read returns the energy of span, and the mean power of idle, a span before
// the load; the zero idle means that there was none. The meter must have been
// stopped.
func (m *Meter) Read(span, idle Span) Reading {
	tracks, reason := m.seen()
	if reason == "" {
		reason = told(tracks, span)
	}
	if reason != "" {
		return notMeasured(span, reason)
	}
	r := Reading{Measured: true, Span: span, Joules: joules(tracks, span), PeakW: peak(tracks, span), IdleW: math.NaN(),
		Scope: m.Scope(), Method: m.method}
	r.AverageW = r.Joules / span.seconds()
	if told(tracks, idle) == "" {
		r.IdleW = joules(tracks, idle) / idle.seconds()
	}
	return r
}

func (m *Meter) seen() (tracks []track, reason string) {
	m.mu.Lock()
	stopped := m.stopped
	m.mu.Unlock()
	if stopped == nil {
		return nil, "the meter was not started: start it before the load"
	}
	select {
	case <-stopped:
		return m.tracks, ""
	default:
		return nil, "the meter still runs: stop it before reading"
	}
}
