package mock

import (
	"container/heap"
	"fmt"
	"sync"
	"time"
)

// batch is how soon after a wake-up the next one may come. A wake-up costs tens
// of microseconds, and at 256 streams of 100 tokens a second five tokens share
// one; what is woken up in larger groups waits for its turn to write.
const batch = 200 * time.Microsecond

// pacer wakes up streams when their tokens are due.
//
// A timer of the runtime for each stream would be simpler, and at 256 streams
// costs 0.35 of a processor, writing included, rather than 0.6. But on Linux it
// is half a millisecond late in the median, because the runtime waits in whole
// milliseconds (waitms in runtime/netpoll_epoll.go). A timer of the kernel for
// each stream is as exact as the one here and took most of a processor before
// anything was written. See BenchmarkPacing and BenchmarkStreams.
type pacer struct {
	now   func() time.Time
	timer timer

	mu    sync.Mutex
	queue queue
	due   []*alarm // of ring alone
}

// alarm is one stream's place in the queue.
type alarm struct {
	due time.Time
	hit chan struct{} // holds one
}

func newPacer(now func() time.Time, inMemory bool) (*pacer, error) {
	if inMemory {
		return &pacer{now: now, timer: newRuntimeTimer()}, nil
	}
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
	now := p.now()
	p.due = p.due[:0]
	for len(p.queue) > 0 && !p.queue[0].due.After(now) {
		p.due = append(p.due, heap.Pop(&p.queue).(*alarm))
	}
	if len(p.queue) > 0 {
		p.timer.set(max(p.queue[0].due.Sub(now), batch))
	}
	p.mu.Unlock()
	for _, a := range p.due {
		a.hit <- struct{}{}
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
