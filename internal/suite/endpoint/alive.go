package endpoint

import (
	"context"
	"errors"
	"fmt"
	"sync/atomic"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/worker"
)

// alive is what a client sees of the life of a server that was started: answers to the load. A
// page that the server's frontend answers shows nothing, because it does so while the engine
// behind it hangs. It is safe for concurrent use.
type alive struct {
	now    func() time.Time
	loaded atomic.Bool  // the server was ready, so that it is silent while nothing is asked
	under  atomic.Int64 // requests under way
	last   atomic.Int64 // when a part of an answer came, or the first request of several went out
}

// heard implements [openai.Options.Heard].
func (a *alive) heard() { a.last.Store(a.now().UnixNano()) }

// asks notes that a request goes out. The returned function notes its end.
func (a *alive) asks() (ended func()) {
	if a.under.Add(1) == 1 {
		a.heard()
	}
	return func() { a.under.Add(-1) }
}

// at is the time of the last sign of life, in nanoseconds since the epoch.
func (a *alive) at() int64 {
	if a.loaded.Load() && a.under.Load() == 0 {
		return a.now().UnixNano()
	}
	return a.last.Load()
}

// checkWatch refuses what cannot be watched.
func (b *body) checkWatch(c *config.Suite) error {
	switch {
	case b.BaseURL != "" && c.NoOutput > 0:
		return c.Errorf("no_output",
			"the server runs already, so its output is not seen: remove no_output, or let accelgate start it by server.command")
	case b.BaseURL != "" && c.OnTimeout != "":
		return c.Errorf("on_timeout",
			"the server runs already, so it is not ended: remove on_timeout, or let accelgate start it by server.command")
	case b.Load.Clients > 1 && c.NoOutput > 0:
		return c.Errorf("no_output",
			"what several clients get shows no sign of life of the server: set load.clients to 1, or remove no_output")
	}
	return nil
}

// errTooLong ends a load on a server that runs already.
var errTooLong = errors.New("the measurement took too long")

// bounded measures by inner, and ends that at the cell's bound where no server was started,
// which would be ended there.
func (s *Suite) bounded(ctx context.Context, cell bench.Cell, inner func(context.Context) (bench.Result, error)) (bench.Result, error) {
	limit := suite.WatchdogOf(ctx).Timeout
	if s.body.BaseURL == "" || limit == 0 {
		return inner(ctx)
	}
	with, cancel := context.WithTimeoutCause(ctx, limit, errTooLong)
	defer cancel()
	result, err := inner(with)
	if err == nil || ctx.Err() != nil || !errors.Is(context.Cause(with), errTooLong) {
		return result, err
	}
	return bench.Result{Cell: cell, Outcome: bench.Timeout, Cause: bench.CauseTimeout, WallMS: float64(limit.Microseconds()) / 1000,
		Reason: fmt.Sprintf("it took more than %v: send less, or raise cell_timeouts", limit)}, nil
}

// ended makes the result that of a server which was ended at a bound while it was measured, or
// ended by itself, and returns every other error.
func (m *measurement) ended(ctx context.Context, result *bench.Result, err error) error {
	response := &m.server.Response
	result.Log = response.Log
	passed := err == nil && result.Outcome == bench.Passed
	switch bound := response.End == worker.TimedOut || response.End == worker.Silent; {
	case passed || ctx.Err() != nil || m.incorrect || !bound && !m.server.died:
		return err
	case bound:
		result.Outcome, result.Samples = bench.Timeout, nil
		result.Cause, result.Reason = atBound(response)
	case err != nil:
		suite.Fail(result, bench.CauseCrash, fmt.Sprintf("%v; the server %s", err, endOf(response)))
	default:
		result.Reason += "; the server " + endOf(response)
	}
	if response.OutOfMemory {
		result.Cause = bench.CauseOOM
	}
	return nil
}

// atBound returns at which bound a server was ended.
func atBound(r *worker.Response) (cause bench.Cause, reason string) {
	if r.End == worker.Silent {
		return bench.CauseSilent, fmt.Sprintf(
			"the server printed nothing and sent no part of an answer for %v, and was ended: look at its log, or raise no_output", r.Quiet)
	}
	return bench.CauseTimeout, fmt.Sprintf("the server %s: look at its log, send less, or raise cell_timeouts", r.Reason())
}

// endOf is how a server ended.
func endOf(r *worker.Response) string {
	if r.OK() {
		return "ended with exit code 0"
	}
	return r.Reason()
}
