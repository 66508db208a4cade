package openai

import (
	"context"
	"errors"
	"time"
)

var (
	errFirst  = errors.New("no token in time")
	errIdle   = errors.New("no further line in time")
	errTotal  = errors.New("not finished in time")
	errLinger = errors.New("the body was not ended after [DONE]")
)

// linger is how long a body may go on after [DONE], so that its connection can
// serve again and the server sees no client that hangs up.
const linger = 50 * time.Millisecond

// watch ends a request that takes too long. Its methods are for one goroutine.
type watch struct {
	options *Options
	cancel  context.CancelCauseFunc
	timers  []*time.Timer
	first   *time.Timer // nil without a limit
	idle    *time.Timer // nil before the first token, or without a limit
	done    bool
}

func (c *Client) watch(ctx context.Context) (context.Context, *watch) {
	ctx, cancel := context.WithCancelCause(ctx)
	w := &watch{options: &c.options, cancel: cancel}
	w.first = w.after(c.options.First, errFirst)
	w.after(c.options.Total, errTotal)
	return ctx, w
}

// after starts a timer, nil for no limit.
func (w *watch) after(limit time.Duration, cause error) *time.Timer {
	if limit <= 0 {
		return nil
	}
	t := time.AfterFunc(limit, func() { w.cancel(cause) })
	w.timers = append(w.timers, t)
	return t
}

// progress records each read that completed a line. Before the first token
// only First counts: comments keep a prefill alive that takes longer than
// Idle, and a role chunk may precede it.
func (w *watch) progress(r *recording) {
	switch {
	case !r.token:
	case w.idle != nil:
		w.idle.Reset(w.options.Idle)
	default:
		if w.first != nil {
			w.first.Stop()
		}
		w.idle = w.after(w.options.Idle, errIdle)
	}
	if r.done && !w.done {
		w.done = true
		w.after(linger, errLinger)
	}
}

func (w *watch) stop() {
	for _, t := range w.timers {
		t.Stop()
	}
	w.cancel(nil)
}
