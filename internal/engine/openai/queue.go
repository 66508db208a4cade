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
	Running, Waiting atomic.Int64 // requests that have a slot, and that wait for one
	Refused, GivenUp atomic.Int64 // requests for which there was no room, and whose client went away before they had a slot

	slots chan struct{} // nil: no limit
	limit int64         // requests that may wait
	stop  <-chan struct{}
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
	q.Running.Add(1)
	return func() {
		q.Running.Add(-1)
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
	defer q.Waiting.Add(-1)
	if q.Waiting.Add(1) > q.limit {
		q.Refused.Add(1)
		return errBusy
	}
	select {
	case q.slots <- struct{}{}:
		return nil
	case <-ctx.Done():
		q.GivenUp.Add(1)
		return ctx.Err()
	case <-q.stop:
		return ErrStopping
	}
}
