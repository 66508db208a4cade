package doctor

import (
	"context"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/device/health"
	"github.com/accelgate/accelgate/internal/device/watch"
	"github.com/accelgate/accelgate/internal/worker"
)

// span is long enough for the use of the processors to be attributed.
const span = 1100 * time.Millisecond

// load watches the host while nothing is measured: what is found is the work of others.
func (l *look) load(ctx context.Context) {
	w := health.New(health.Options{Devices: device.All(l.host), Worker: l.Worker,
		Watch: watch.New(l.Environ, l.Now), Root: l.Root, GOOS: l.GOOS, Now: l.Now})
	s := w.Begin(ctx, bench.Device{}, false)
	select {
	case <-ctx.Done():
	case <-time.After(span):
	}
	found := s.End(ctx)
	status := map[bench.HealthStatus]Status{bench.Unhealthy: Warning, bench.HealthUnknown: Unknown}[found.Status]
	for _, reason := range found.Reasons {
		before, fix := cut(reason)
		l.add("load", status, before, fix)
	}
	if len(found.Reasons) == 0 {
		l.ok("load", "no other program uses the processors or devices, and none is hot or throttled")
	}
}

// counters reports whether instructions are a resource of cells here.
func (l *look) counters(context.Context) {
	if why := worker.NoInstructions(); why != "" {
		l.ok("counters", "instructions of cells are not counted: %s", why)
		return
	}
	l.ok("counters", "instructions of cells are counted")
}

// cut splits a message of another package at the colon before its next step.
func cut(message string) (before, fix string) {
	if i := strings.LastIndex(message, ": "); i >= 0 {
		return message[:i], message[i+2:]
	}
	return message, "see docs/troubleshooting.md"
}
