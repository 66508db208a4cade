package load

import (
	"context"
	"errors"
	"fmt"
	"runtime/debug"
	"sync"
	"time"
)

// errCut is the cause (context.Cause) of the end of a request that was still
// running when the drain after the window was over, or that was not measured
// and still running when the last measured one had ended. It tells these from
// a run that the caller ended.
var errCut = errors.New("cancelled at the end of the window")

// Count describes what became of the requests of one phase.
type Count struct {
	Due  int // became due
	Sent int // were handed to send; the others still waited for a slot when the run ended
	Cut  int // sent, and ended only after the run had cancelled them
}

// Log describes what Run did.
type Log struct {
	// Window is zero if the warm-up was not over when the run ended. Where the
	// run ended inside the window, its End is when that happened.
	Window                    Window
	Warmup, Measure, Cooldown Count
	Waited                    int // requests that were due while all slots of a capped open loop were taken
	LongestQueue              int // most of them that waited at once
	// Unsent are the measured requests that were due and still waited for a slot
	// when the run ended.
	Unsent      []Shot
	MaxInFlight int // most requests in flight at once
}

// Run sends the requests of a schedule and returns when all that it sent have
// returned. send is called from many goroutines at once, without delay when a
// request is due and has a slot; it notes its own times and must return soon
// after its context ended. now is a monotonic clock since the caller's epoch.
//
// Load does not pause between the phases and goes on after the window until all
// measured requests have ended, at most for the plan's drain; then everything
// still in flight is cancelled with errCut. In an open loop the schedule says
// which requests are measured. In a closed one the window starts when a slot
// becomes free after the warm-up, its ramp included, and ends after the plan's
// duration, or when a slot becomes free after the last of its requests was sent.
//
// An ended ctx stops the run: Run then returns what was done so far together
// with an error that wraps ctx's. A panic of send stops it too and becomes an
// error with the stack.
func Run(ctx context.Context, s Schedule, now func() time.Duration, send func(context.Context, Shot)) (Log, error) {
	if s.plan.Mode == "" {
		return Log{}, errors.New("the schedule is empty: make one with Plan.Schedule")
	}
	inner, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	l := &ledger{schedule: s, now: now, send: send, cancel: cancel, start: now()}
	if s.plan.Mode == Closed {
		runClosed(inner, l)
	} else {
		runOpen(inner, l)
	}
	return l.result(ctx, context.Cause(inner))
}

// ledger counts a run and reports its end. Its methods may be called from
// many goroutines.
type ledger struct {
	schedule Schedule
	now      func() time.Duration
	send     func(context.Context, Shot)
	cancel   context.CancelCauseFunc
	start    time.Duration

	mu          sync.Mutex
	log         Log
	opened      bool // the window has started
	ends        bool // its end is known
	pending     int  // measured requests that have not ended; of an open loop, also those not yet due
	outstanding int
	inFlight    int
	over        bool
	failure     error
	timers      []*time.Timer
}

func (l *ledger) count(p Phase) *Count {
	switch p {
	case Warmup:
		return &l.log.Warmup
	case Measure:
		return &l.log.Measure
	}
	return &l.log.Cooldown
}

// due enters a request. The caller holds mu.
func (l *ledger) due(shot *Shot) {
	l.count(shot.Phase).Due++
	l.outstanding++
	shot.Outstanding = l.outstanding
}

// sending takes a slot for a request. The caller holds mu.
func (l *ledger) sending(p Phase) {
	l.count(p).Sent++
	l.inFlight++
	l.log.MaxInFlight = max(l.log.MaxInFlight, l.inFlight)
}

// ended gives the slot back at t. The caller holds mu.
func (l *ledger) ended(ctx context.Context, p Phase, t time.Duration) {
	l.inFlight--
	l.outstanding--
	if ctx.Err() != nil {
		l.count(p).Cut++
	}
	if p == Measure {
		l.pending--
	}
	l.finish(t)
}

// windowEnds sets or moves the end of the window. The caller holds mu.
func (l *ledger) windowEnds(end time.Duration) {
	l.stopTimers()
	l.log.Window.End, l.ends = end, true
	left := end - l.now()
	l.timers = []*time.Timer{
		time.AfterFunc(left, func() {
			l.mu.Lock()
			defer l.mu.Unlock()
			l.finish(max(end, l.now()))
		}),
		time.AfterFunc(left+l.schedule.plan.Drain, func() { l.cancel(errCut) }),
	}
}

// finish ends the run if the window is over and nothing measured is left. The
// caller holds mu.
func (l *ledger) finish(t time.Duration) {
	if l.ends && t >= l.log.Window.End && l.pending == 0 && !l.over {
		l.over = true
		l.log.Window.Drained = t
		l.cancel(errCut)
	}
}

// fire sends one request. A send that panics or exits its goroutine ends the run
// and still gives its slot back, through the caller's deferred function.
func (l *ledger) fire(ctx context.Context, shot Shot) {
	returned := false
	defer func() {
		if v := recover(); !returned {
			l.fail(fmt.Errorf(
				"sending request %d panicked or left its goroutine: %v\n%s\nthis is a bug of the program: report it with these lines",
				shot.Index, v, debug.Stack()))
		}
	}()
	l.send(ctx, shot)
	returned = true
}

func (l *ledger) fail(err error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if l.failure == nil {
		l.failure = err
		l.cancel(err)
	}
}

func (l *ledger) stopTimers() {
	for _, t := range l.timers {
		t.Stop()
	}
}

// result closes the log when all requests have returned. cause is why the run
// ended.
func (l *ledger) result(ctx context.Context, cause error) (Log, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.stopTimers()
	w, t := &l.log.Window, l.now()
	switch {
	case !l.opened || w.Start > t:
		*w = Window{}
	case !l.over:
		w.Drained = t
		if !l.ends || w.End > t {
			w.End = t
		}
	}
	switch {
	case l.failure != nil:
		return l.log, l.failure
	case !errors.Is(cause, errCut) && ctx.Err() != nil:
		return l.log, fmt.Errorf("load stopped before its end: %w", ctx.Err())
	}
	return l.log, nil
}
