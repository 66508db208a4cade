package openai

import (
	"context"
	"errors"
	"sync/atomic"
)

// ErrStopping is the error of requests that a server which stops no longer answers.
var ErrStopping = errors.New("the server is stopping")

// errBusy is the error of requests for which even the queue has no room.
var errBusy = errors.New("too many requests wait")

// Queue gives slots to requests, in the order in which they came. A request
// has its slot until its whole response is written, so a client that reads
// slowly occupies it. Its methods are safe for concurrent use.
type Queue struct {
	slots                            chan struct{} // nil: no limit
	limit                            int64         // requests that may wait
	stop                             <-chan struct{}
	running, waiting, refused, given atomic.Int64
}

// NewQueue returns a queue with so many slots, 0 for no limit, and room for so
// many requests that wait. It gives no more slots once stop is closed.
func NewQueue(slots, waiting int, stop <-chan struct{}) *Queue {
	q := &Queue{limit: int64(waiting), stop: stop}
	if slots > 0 {
		q.slots = make(chan struct{}, slots)
	}
	return q
}

// Running is the number of requests that have a slot, and Waiting of those that wait for one.
func (q *Queue) Running() int64 { return q.running.Load() }

// Waiting is the number of requests that wait for a slot.
func (q *Queue) Waiting() int64 { return q.waiting.Load() }

// Refused is the number of requests for which there was no room.
func (q *Queue) Refused() int64 { return q.refused.Load() }

// GivenUp is the number of requests whose client went away before they had a slot.
func (q *Queue) GivenUp() int64 { return q.given.Load() }

// Enter waits for a slot. Whoever gets one calls leave once.
func (q *Queue) Enter(ctx context.Context) (leave func(), err error) {
	select {
	case <-q.stop:
		return nil, ErrStopping
	default:
	}
	if err := q.take(ctx); err != nil {
		return nil, err
	}
	q.running.Add(1)
	return func() {
		q.running.Add(-1)
		if q.slots != nil {
			<-q.slots
		}
	}, nil
}

func (q *Queue) take(ctx context.Context) error {
	if q.slots == nil {
		return nil
	}
	select {
	case q.slots <- struct{}{}: // only if no request waits: a slot that becomes free goes to the first of them
		return nil
	default:
	}
	defer q.waiting.Add(-1)
	if q.waiting.Add(1) > q.limit {
		q.refused.Add(1)
		return errBusy
	}
	select {
	case q.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		q.given.Add(1)
		return ctx.Err()
	case <-q.stop:
		return ErrStopping
	}
}
