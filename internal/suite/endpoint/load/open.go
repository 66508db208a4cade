package load

import (
	"context"
	"sync"
)

// openLoop sends at the times of the schedule, a goroutine for each request in
// flight. Where a cap holds requests back, whoever ends one sends the next.
type openLoop struct {
	*ledger
	wait  sync.WaitGroup
	queue []Shot // due and waiting, first come first served
	head  int
}

func runOpen(ctx context.Context, l *ledger) {
	o := &openLoop{ledger: l}
	s := l.schedule
	l.mu.Lock()
	l.pending, l.opened = s.measured(), true
	l.log.Window.Start = l.start + s.from
	if s.to > s.from {
		l.windowEnds(l.start + s.to)
	}
	l.mu.Unlock()
	o.dispatch(ctx)
	o.endAtOnce(ctx)
	o.wait.Wait()
	o.leave()
}

// leave notes what was due and never sent.
func (o *openLoop) leave() {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, shot := range o.queue[o.head:] {
		if shot.Phase == Measure {
			o.log.Unsent = append(o.log.Unsent, shot)
		}
	}
}

// dispatch hands out requests as they become due.
func (o *openLoop) dispatch(ctx context.Context) {
	s, w := o.schedule, waiter{now: o.now}
	defer w.stop()
	for i, at := range s.arrivals {
		if !s.has(i) {
			continue
		}
		if !w.until(ctx, o.start+at) {
			o.miss(i)
			return
		}
		shot := Shot{Index: i, Phase: s.phase(i), Due: o.start + at}
		if o.admit(&shot) {
			o.wait.Add(1)
			go o.serve(ctx, shot)
		}
	}
	if s.to > s.from {
		<-ctx.Done() // the timers of the window end the run
	}
}

// miss puts the requests from the first one on, as far as they were due when the run ended, to
// those that were never sent: on a host without a free processor they were not even handed out.
func (o *openLoop) miss(first int) {
	s, now := o.schedule, o.now()
	o.mu.Lock()
	defer o.mu.Unlock()
	for i := first; i < len(s.arrivals) && o.start+s.arrivals[i] <= now; i++ {
		if s.has(i) {
			shot := Shot{Index: i, Phase: s.phase(i), Due: o.start + s.arrivals[i]}
			o.due(&shot)
			o.queue = append(o.queue, shot)
		}
	}
}

// endAtOnce ends the window of a trace whose measured requests all came at one
// moment, and so have no rate: when the last of them has ended.
func (o *openLoop) endAtOnce(ctx context.Context) {
	s := o.schedule
	if s.to > s.from {
		return
	}
	o.wait.Wait()
	o.mu.Lock()
	defer o.mu.Unlock()
	o.log.Window.End, o.ends = o.now(), true
	if ctx.Err() == nil {
		o.finish(o.log.Window.End)
	}
}

func (s Schedule) phase(i int) Phase {
	switch {
	case i < s.first:
		return Warmup
	case i < s.end:
		return Measure
	}
	return Cooldown
}

// admit enters a request and reports whether it may be sent now; else it waits.
func (o *openLoop) admit(shot *Shot) bool {
	o.mu.Lock()
	defer o.mu.Unlock()
	o.due(shot)
	if limit := o.schedule.plan.Concurrency; limit == 0 || o.inFlight < limit {
		o.sending(shot.Phase)
		return true
	}
	o.queue = append(o.queue, *shot)
	o.log.Waited++
	o.log.LongestQueue = max(o.log.LongestQueue, len(o.queue)-o.head)
	return false
}

// serve sends a request, and then those that wait for its slot.
func (o *openLoop) serve(ctx context.Context, shot Shot) {
	defer o.wait.Done()
	for more := true; more; {
		shot, more = o.one(ctx, shot)
	}
}

// one sends a request and returns the next one for its slot, if there is one.
func (o *openLoop) one(ctx context.Context, shot Shot) (next Shot, more bool) {
	defer func() {
		o.mu.Lock()
		defer o.mu.Unlock()
		o.ended(ctx, shot.Phase, o.now())
		if more = ctx.Err() == nil && o.head < len(o.queue); !more {
			return
		}
		next = o.queue[o.head]
		o.head++
		if o.head == len(o.queue) {
			o.queue, o.head = o.queue[:0], 0
		}
		o.sending(next.Phase)
	}()
	o.fire(ctx, shot)
	return
}
