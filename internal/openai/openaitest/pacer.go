package openaitest

import (
	"container/heap"
	"fmt"
	"sync"
	"time"
)

// batch is how soon after a wake-up the next one may come: a wake-up costs some
// microseconds, and at 256 streams of 100 tokens a second several tokens share
// one.
const batch = 200 * time.Microsecond

// pacer wakes up streams when their tokens are due.
//
// A timer of the runtime for each stream would be simpler, and on Linux half a
// millisecond late in the median: the runtime waits in whole milliseconds
// (waitms in runtime/netpoll_epoll.go). A timer of the kernel for each stream is
// exact and took 25 microseconds of processor time for a token; one for all of
// them is as exact as batch. See BenchmarkPacing.
type pacer struct {
	now   func() time.Time
	timer *timer

	mu    sync.Mutex
	queue queue
}

// alarm is one stream's place in the queue.
type alarm struct {
	due time.Time
	hit chan struct{} // holds one
}

func newPacer(now func() time.Time) (*pacer, error) {
	t, err := newTimer()
	if err != nil {
		return nil, fmt.Errorf("make a timer: %w: close some files, or raise the limit with ulimit -n", err)
	}
	return &pacer{now: now, timer: t}, nil
}

func newAlarm() *alarm { return &alarm{hit: make(chan struct{}, 1)} }

// wait returns true when a is due. Whoever gets false, because done or stop
// came first, must not use a again.
func (p *pacer) wait(done, stop <-chan struct{}, a *alarm, due time.Time) bool {
	if !due.After(p.now()) {
		select {
		case <-done:
			return false
		case <-stop:
			return false
		default:
			return true
		}
	}
	p.add(a, due)
	select {
	case <-a.hit:
		return true
	case <-done:
	case <-stop:
	}
	return false
}

func (p *pacer) add(a *alarm, due time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	a.due = due
	heap.Push(&p.queue, a)
	if p.queue[0] == a {
		p.timer.set(due.Sub(p.now()))
	}
}

// run wakes up streams until the pacer is closed.
func (p *pacer) run() {
	for p.timer.wait() {
		p.ring()
	}
}

// close ends run.
func (p *pacer) close() { p.timer.close() }

// ring wakes up all that is due and sets the timer to the next.
func (p *pacer) ring() {
	p.mu.Lock()
	defer p.mu.Unlock()
	now := p.now()
	for len(p.queue) > 0 && !p.queue[0].due.After(now) {
		heap.Pop(&p.queue).(*alarm).hit <- struct{}{}
	}
	if len(p.queue) > 0 {
		p.timer.set(max(p.queue[0].due.Sub(now), batch))
	}
}

// queue is a heap of alarms, the earliest first.
type queue []*alarm

func (q queue) Len() int           { return len(q) }
func (q queue) Less(i, j int) bool { return q[i].due.Before(q[j].due) }
func (q queue) Swap(i, j int)      { q[i], q[j] = q[j], q[i] }
func (q *queue) Push(x any)        { *q = append(*q, x.(*alarm)) }

func (q *queue) Pop() any {
	last := len(*q) - 1
	a := (*q)[last]
	(*q)[last] = nil
	*q = (*q)[:last]
	return a
}
