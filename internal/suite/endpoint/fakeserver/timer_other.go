//go:build !linux

package fakeserver

import (
	"sync"
	"time"
)

// timer is one of the runtime's timers.
type timer struct {
	timer  *time.Timer
	closed chan struct{}
	once   sync.Once
}

func newTimer() (*timer, error) {
	return &timer{timer: time.NewTimer(maxWait), closed: make(chan struct{})}, nil
}

// set makes the timer go off once, after d, instead of when it would have.
func (t *timer) set(d time.Duration) { t.timer.Reset(d) }

// wait waits until the timer goes off; false is that it was closed.
func (t *timer) wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.closed:
		return false
	}
}

func (t *timer) close() { t.once.Do(func() { close(t.closed) }) }
