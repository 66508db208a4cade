package mock

import (
	"sync"
	"time"
)

// timer wakes up once after a time that is set again and again.
type timer interface {
	set(d time.Duration)
	wait() bool // until it goes off; false is that it was closed
	close()
}

// runtimeTimer is one of the runtime's timers.
type runtimeTimer struct {
	timer  *time.Timer
	closed chan struct{}
	once   sync.Once
}

func newRuntimeTimer() timer {
	return &runtimeTimer{timer: time.NewTimer(maxWait), closed: make(chan struct{})}
}

// set makes the timer go off once, after d, instead of when it would have.
func (t *runtimeTimer) set(d time.Duration) { t.timer.Reset(d) }

// wait waits until the timer goes off; false is that it was closed.
func (t *runtimeTimer) wait() bool {
	select {
	case <-t.timer.C:
		return true
	case <-t.closed:
		return false
	}
}

func (t *runtimeTimer) close() { t.once.Do(func() { close(t.closed) }) }
