package worker

import (
	"context"
	"errors"
)

// Background is a request that runs beside others, such as one for a server.
type Background struct {
	// Ended is closed when nothing of the child is left; Response is set then.
	Ended    chan struct{}
	Response Response

	stop context.CancelFunc
	err  error
}

// Begin starts a request in the background. It runs until the child ends, ctx is done or [Background.End] is called, which
// must be.
func Begin(ctx context.Context, w Worker, req Request) *Background {
	ctx, stop := context.WithCancel(ctx)
	b := &Background{Ended: make(chan struct{}), stop: stop}
	go func() { // End waits for it
		defer close(b.Ended)
		b.Response, b.err = w.Do(ctx, req)
	}()
	return b
}

// HasEnded reports whether the child ended, of its own accord if End was not called.
func (b *Background) HasEnded() bool {
	select {
	case <-b.Ended:
		return true
	default:
		return false
	}
}

// End stops the child and waits until nothing of it is left. An error means
// that something of it could not be ended.
func (b *Background) End() error {
	b.stop()
	<-b.Ended
	if b.err != nil && !errors.Is(b.err, context.Canceled) {
		return b.err
	}
	return nil
}
