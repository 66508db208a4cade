package worker

import (
	"context"
	"sync/atomic"
	"time"
)

// awaitAlive is [awaitEnd] that also ends where there was no sign of life for quiet, unless
// that is zero. Heard returns when the last one came, in nanoseconds since the epoch; the
// first is due after began.
func awaitAlive(ctx context.Context, exited <-chan struct{}, timeout, quiet time.Duration, began time.Time, heard func() int64) End {
	if quiet == 0 {
		return awaitEnd(ctx, exited, timeout)
	}
	with, cancel := context.WithCancel(ctx)
	defer cancel()
	silent := silence(with, quiet, began, heard)
	go func() { // ends with cancel
		select {
		case <-silent:
			cancel()
		case <-with.Done():
		}
	}()
	end := awaitEnd(with, exited, timeout)
	if end == Cancelled && ctx.Err() == nil {
		return Silent
	}
	return end
}

// silence returns a channel that is closed once there was no sign of life for quiet, and stays
// open if ctx is done before. It never is where quiet is zero.
func silence(ctx context.Context, quiet time.Duration, began time.Time, heard func() int64) <-chan struct{} {
	if quiet == 0 {
		return nil
	}
	silent := make(chan struct{})
	go func() { // ends with ctx
		for {
			last := max(heard(), began.UnixNano())
			left := quiet - time.Since(time.Unix(0, last))
			if left <= 0 {
				close(silent)
				return
			}
			select {
			case <-time.After(left):
			case <-ctx.Done():
				return
			}
		}
	}()
	return silent
}

// heard is when something was read from streams, or another sign of life came.
func (r *Request) heard(output *atomic.Int64) func() int64 {
	return func() int64 {
		if r.Heard == nil {
			return output.Load()
		}
		return max(output.Load(), r.Heard())
	}
}
