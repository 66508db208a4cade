package suite

import (
	"cmp"
	"context"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

// Watchdog is how the children of a cell that is measured are watched, by keys that all
// kinds share. The zero value leaves it to the kind.
type Watchdog struct {
	Timeout  time.Duration // of one process, or what the kind bounds; 0 for the kind's own
	NoOutput time.Duration // in which a child may give no sign of life; 0 for no bound
	Dump     bool          // a child prints its stacks before it is ended at a bound
}

type watched struct{}

// Watching adds an attendance to the context of [Suite.Measure].
func Watching(ctx context.Context, a Watchdog) context.Context {
	return context.WithValue(ctx, watched{}, a)
}

// WatchdogOf is the attendance of a context.
func WatchdogOf(ctx context.Context) Watchdog {
	a, _ := ctx.Value(watched{}).(Watchdog)
	return a
}

// Watch applies the attendance of a context to a request.
func Watch(ctx context.Context, req worker.Request) worker.Request {
	a := WatchdogOf(ctx)
	req.Timeout = cmp.Or(a.Timeout, req.Timeout)
	req.NoOutput, req.Dump = a.NoOutput, a.Dump
	return req
}
