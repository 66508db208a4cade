package load

import (
	"context"
	"fmt"
	"sync"
	"time"
)

// closedLoop is a number of slots that each send one request after the other.
type closedLoop struct {
	*ledger
	next    int           // index of the next request
	spread  int           // slots that made their pause of an automatic ramp
	second  time.Duration // sum over the second requests that have ended
	seconds int           // how many of them
}

func runClosed(ctx context.Context, l *ledger) {
	c := &closedLoop{ledger: l}
	var slots sync.WaitGroup
	for slot := range l.schedule.plan.Concurrency {
		slots.Go(func() { c.slot(ctx, slot) })
	}
	slots.Wait()
}

// slot sends until the run is over.
func (c *closedLoop) slot(ctx context.Context, slot int) {
	p, w := c.schedule.plan, waiter{now: c.now}
	defer w.stop()
	if p.Ramp > 0 && !w.until(ctx, c.start+c.share(p.Ramp, slot)) {
		return
	}
	for n := 1; ; n++ {
		shot, ok := c.take(ctx, slot)
		if !ok {
			return
		}
		c.serve(ctx, shot)
		if p.AutoRamp && n == 2 && !c.pause(ctx, &w, slot, c.now()-shot.Due) {
			return
		}
		if rest := c.schedule.rest; rest != nil && !w.until(ctx, c.now()+rest(slot)) {
			return
		}
	}
}

// share is slot's part of d, so that the slots of all clients divide it evenly.
func (c *closedLoop) share(d time.Duration, slot int) time.Duration {
	return time.Duration(float64(d) * float64(c.schedule.index(slot)) / float64(c.schedule.allSlots()))
}

// take returns the next request of a slot that is free now, and false when the
// run is over.
func (c *closedLoop) take(ctx context.Context, slot int) (Shot, bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	t := c.now() // under the lock, so that requests are due in the order of their index
	c.endOnRequests(t)
	c.finish(t)
	if ctx.Err() != nil {
		return Shot{}, false
	}
	if c.next == maxRequests {
		c.failure = fmt.Errorf(
			"%d requests were sent and the run is not over: see whether the server refuses them at once, or measure less", c.next)
		c.cancel(c.failure)
		return Shot{}, false
	}
	shot := Shot{Index: c.schedule.index(c.next), Phase: c.phase(t), Due: t, Slot: slot}
	c.next++
	c.due(&shot)
	c.sending(shot.Phase)
	if shot.Phase == Measure {
		c.pending++
	}
	return shot, true
}

// phase returns where a request that is due at t belongs, and starts the window
// with the first one after the warm-up.
func (c *closedLoop) phase(t time.Duration) Phase {
	p := c.schedule.plan
	if !c.opened && c.warm(t) {
		c.opened, c.log.Window.Start = true, t
		if p.Duration > 0 {
			c.windowEnds(t + p.Duration)
		}
	}
	switch {
	case !c.opened:
		return Warmup
	case c.ends && t >= c.log.Window.End:
		return Cooldown
	}
	return Measure
}

func (c *closedLoop) warm(t time.Duration) bool {
	p := c.schedule.plan
	ended := c.next - c.inFlight // all so far were warm-up
	return ended >= p.Warmup.Requests && t-c.start >= max(p.Warmup.Duration, p.Ramp) &&
		(!p.AutoRamp || c.spread == p.Concurrency)
}

// endOnRequests ends the window at t if as many requests as are to be measured
// were sent before.
func (c *closedLoop) endOnRequests(t time.Duration) {
	p := c.schedule.plan
	full := p.Requests > 0 && c.log.Measure.Due == p.Requests
	if full && (!c.ends || t < c.log.Window.End) {
		c.windowEnds(t)
	}
}

func (c *closedLoop) serve(ctx context.Context, shot Shot) {
	defer func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		c.ended(ctx, shot.Phase, c.now())
	}()
	c.fire(ctx, shot)
}

// pause holds a slot back once, after its second request, which took d.
func (c *closedLoop) pause(ctx context.Context, w *waiter, slot int, d time.Duration) bool {
	ok := w.until(ctx, c.now()+c.share(c.learn(d), slot))
	c.mu.Lock()
	defer c.mu.Unlock()
	c.spread++
	return ok
}

// learn enters how long a second request took and returns the mean so far.
func (c *closedLoop) learn(d time.Duration) time.Duration {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.second += d
	c.seconds++
	return c.second / time.Duration(c.seconds)
}
