package openai

import (
	"errors"
	"io"
	"time"
)

const (
	// patience is how long the next request waits for the end of a body after
	// [DONE], which mostly comes with it: then its connection serves again.
	patience = 2 * time.Millisecond
	// fewHeld is after how many bodies in a row that stayed open no request waits
	// any more.
	fewHeld = 3
	// maxAfterDone bounds what is read after [DONE], in bytes.
	maxAfterDone = 64 << 10
)

// finish reads what follows [DONE] and closes the body, so that the server sees
// no client that hangs up. It takes over w. A body that stays open holds up no
// further request: it is read on the side, for as long as linger.
func (c *Client) finish(body io.ReadCloser, w *watch) {
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		_, err := io.CopyN(io.Discard, body, maxAfterDone)
		if errors.Is(err, io.EOF) {
			c.held.Store(0)
		} else {
			c.held.Add(1)
		}
		_ = body.Close()
		w.stop()
	}()
	if c.held.Load() >= fewHeld {
		return
	}
	enough := time.NewTimer(patience)
	defer enough.Stop()
	select {
	case <-ended:
	case <-enough.C:
	}
}
