package openai

import (
	"io"
	"runtime"
	"sync/atomic"
	"testing"
)

// heldBody is a body that ends with its channel.
type heldBody struct {
	end    chan struct{}
	closed atomic.Bool
}

func (b *heldBody) Read([]byte) (int, error) { <-b.end; return 0, io.EOF }
func (b *heldBody) Close() error             { b.closed.Store(true); return nil }

// TestHeldBody leaves a body that stays open after [DONE] to its own goroutine,
// and waits for none after several.
func TestHeldBody(t *testing.T) {
	t.Parallel()
	c := memoryClient(t)
	end := make(chan struct{})
	var bodies []*heldBody
	for range fewHeld {
		_, w := c.watch(t.Context())
		body := &heldBody{end: end}
		bodies = append(bodies, body)
		c.finish(body, w)
		if body.closed.Load() {
			t.Error("a body that is open was closed")
		}
	}
	if c.held.Load() != 0 {
		t.Error("bodies count as held before they ended")
	}
	close(end)
	for _, body := range bodies {
		for !body.closed.Load() { // its goroutine closes it
			runtime.Gosched()
		}
	}
}
