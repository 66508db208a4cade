package measure

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/energy"
	"github.com/accelgate/accelgate/internal/device/health"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/text"
)

// watches reports whether the machine is to be watched while it measures: flag
// over environment over configuration.
func (s *Session) watches() (bool, error) {
	for _, choice := range []struct{ name, value string }{
		{"--health", s.Plan.Options.Health}, {"ACCELGATE_HEALTH", s.Getenv("ACCELGATE_HEALTH")}, {"host.health", s.Plan.File.Host.Health},
	} {
		switch choice.value {
		case "":
		case "auto", "off":
			return choice.value == "auto", nil
		default:
			return false, exit.Usagef("%s is %q: write auto or off", choice.name, choice.value)
		}
	}
	return true, nil
}

// newWatcher returns nil where watching is off.
func (s *Session) newWatcher(devices []bench.Device) (*health.Watcher, error) {
	watches, err := s.watches()
	if err != nil || !watches {
		return nil, err
	}
	if len(devices) == 0 {
		devices = device.All(s.Plan.Host) // cells may use any
	}
	return health.New(health.Options{Devices: devices, Worker: s.worker, Watch: s.Plan.gpus, Now: s.Now}), nil
}

// watched measures cells and says how the machine was.
type watched struct {
	runner.Measurer
	watcher *health.Watcher
	outside map[string]bool  // by suite: it measures what does not run below this process
	energy  *energy.Packages // nil where no counter can be read
	now     func() time.Time
	ready   func(bench.Cell, bench.Device) bool // the result is there
	last    *shared
}

// shared holds what was seen of the last process on each device, of which further cells take their results.
type shared struct {
	mu sync.Mutex
	of map[bench.Device]bench.Result
}

// watch makes a measurer watch the host, unless watching is off.
func (s *measuring) watch(m runner.Measurer) runner.Measurer {
	if s.watcher == nil {
		return m
	}
	w := watched{m, s.watcher, map[string]bool{}, energy.OpenPackages(""), s.Now, s.ready, &shared{of: map[bench.Device]bench.Result{}}}
	for _, one := range s.Plan.Suites {
		w.outside[one.Name] = one.Plan.Outside
	}
	return w
}

// Measure implements [runner.Measurer].
func (w watched) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	if w.ready(c, d) {
		return w.take(ctx, c, d)
	}
	span := w.watcher.Begin(ctx, d, w.outside[c.Suite])
	end := w.count()
	r, err := w.Measurer.Measure(ctx, c, d)
	end(&r)
	r.Health = span.End(ctx)
	deviceMemory(&r)
	w.last.mu.Lock()
	defer w.last.mu.Unlock()
	w.last.of[d] = bench.Result{Health: r.Health, Resources: r.Resources}
	return r, err
}

// take takes the result of a cell from a process that measured others, with the health of the host at that time.
func (w watched) take(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	r, err := w.Measurer.Measure(ctx, c, d)
	w.last.mu.Lock()
	defer w.last.mu.Unlock()
	seen := w.last.of[d]
	r.Health = seen.Health
	for _, s := range seen.Resources {
		if r.Used(s.Metric) == nil {
			r.Resources = append(r.Resources, bench.Sample{Metric: s.Metric, Values: slices.Clone(s.Values), Caveat: s.Caveat})
		}
	}
	return r, err
}

// count starts counting energy. The function it returns notes it.
func (w watched) count() func(*bench.Result) {
	if w.energy == nil {
		return func(*bench.Result) {}
	}
	from, start := w.energy.Read(), w.now()
	return func(r *bench.Result) {
		if joules, ok := w.energy.Joules(from, w.energy.Read(), w.now().Sub(start)); ok {
			r.Use(bench.CPUEnergy, joules, "")
		}
	}
}

// WarnUnhealthy says that numbers, or the noise of them, that are about to be kept are
// of an unhealthy host: a gate that uses them lets too much pass.
func (e *Env) WarnUnhealthy(run *bench.Run, redo string) {
	why, n := "", 0
	for i := range run.Results {
		if h := run.Results[i].Health; h != nil && h.Status == bench.Unhealthy {
			n++
			why = cmp.Or(why, h.Reasons[0])
		}
	}
	if n > 0 {
		e.WarnAll([]string{
			fmt.Sprintf("%s measured on an unhealthy host (%s): %s again when it is healthy", text.Plural(n, "cell"), text.OneLine(why),
				redo),
		})
	}
}
