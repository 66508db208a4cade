package worker

import (
	"context"
	"time"
)

// awaitAlive is [child.await] that also ends where nothing was read from the streams for
// quiet, unless that is zero.
func (c *child) awaitAlive(ctx context.Context, timeout, quiet time.Duration, of *streams) End {
	if quiet == 0 {
		return c.await(ctx, timeout)
	}
	with, cancel := context.WithCancel(ctx)
	defer cancel()
	go func() { // ends with cancel
		for {
			last := max(of.last.Load(), c.started.UnixNano())
			left := quiet - time.Since(time.Unix(0, last))
			if left <= 0 {
				cancel()
				return
			}
			select {
			case <-time.After(left):
			case <-with.Done():
				return
			}
		}
	}()
	end := c.await(with, timeout)
	if end == Cancelled && ctx.Err() == nil {
		return Silent
	}
	return end
}
