package load

import (
	"context"
	"time"
)

// doze is how much of a wait is left to the operating system's own sleep where
// there is a precise one. The runtime's timers wake an idle process up to one
// millisecond late on Linux, because it waits in epoll_wait, which counts whole
// milliseconds; spinning instead would cost a core at 1000 requests per second.
const doze = 1500 * time.Microsecond

// waiter waits for moments of a clock. It is for one goroutine.
type waiter struct {
	now   func() time.Duration
	timer *time.Timer
}

// until waits for the moment t and returns false when ctx ended before.
func (w *waiter) until(ctx context.Context, t time.Duration) bool {
	if left := t - w.now(); left > doze && !w.sleep(ctx, left-doze) {
		return false
	}
	if left := t - w.now(); left > 0 {
		nanosleep(min(left, doze))
	}
	// What is left is where there is no such sleep or it ended early.
	for ctx.Err() == nil {
		left := t - w.now()
		if left <= 0 {
			return true
		}
		w.sleep(ctx, left)
	}
	return false
}

func (w *waiter) sleep(ctx context.Context, d time.Duration) bool {
	if w.timer == nil {
		w.timer = time.NewTimer(d)
	} else {
		w.timer.Reset(d)
	}
	select {
	case <-ctx.Done():
		return false
	case <-w.timer.C:
		return true
	}
}

func (w *waiter) stop() {
	if w.timer != nil {
		w.timer.Stop()
	}
}
