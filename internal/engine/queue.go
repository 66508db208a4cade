package engine

import (
	"errors"
	"slices"
	"sync"
)

// Why a queue takes no more.
var (
	errBusy     = errors.New("too many requests wait")
	errStopping = errors.New("the server is stopping")
)

// queue holds generations that wait for a slot, first in first out. It may be
// used from any goroutine.
type queue struct {
	limit int
	wake  chan struct{} // holds a value after something was pushed; never closed

	mu      sync.Mutex
	waiting []*generation
	closed  bool
}

func newQueue(limit int) *queue { return &queue{limit: limit, wake: make(chan struct{}, 1)} }

// push adds a generation or returns errBusy or errStopping.
func (q *queue) push(g *generation) error {
	q.mu.Lock()
	defer q.mu.Unlock()
	switch {
	case q.closed:
		return errStopping
	case len(q.waiting) >= q.limit:
		return errBusy
	}
	q.waiting = append(q.waiting, g)
	select {
	case q.wake <- struct{}{}:
	default:
	}
	return nil
}

// pop returns the one that waits longest, or nil.
func (q *queue) pop() *generation {
	q.mu.Lock()
	defer q.mu.Unlock()
	if len(q.waiting) == 0 {
		return nil
	}
	g := q.waiting[0]
	q.waiting = slices.Delete(q.waiting, 0, 1)
	return g
}

// remove makes room for others; one that no longer waits is none of it.
func (q *queue) remove(g *generation) {
	q.mu.Lock()
	defer q.mu.Unlock()
	if i := slices.Index(q.waiting, g); i >= 0 {
		q.waiting = slices.Delete(q.waiting, i, i+1)
	}
}

func (q *queue) length() int {
	q.mu.Lock()
	defer q.mu.Unlock()
	return len(q.waiting)
}

// close refuses further generations and ends those that wait.
func (q *queue) close() {
	q.mu.Lock()
	defer q.mu.Unlock()
	q.closed = true
	for _, g := range q.waiting {
		g.end(errStopping)
	}
	q.waiting = nil
}
