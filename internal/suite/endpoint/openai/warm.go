package openai

import (
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync"
	"time"
)

// warmTimeout bounds how long connections are opened before a load.
const warmTimeout = 5 * time.Second

// warmPatience is how long a connection waits for the others.
const warmPatience = 2 * time.Second

// Warm opens n connections and leaves them idle for the requests of a load, so
// that these need not open their own, and returns how many it got. Each
// connection serves one request for the list of models; all are held back until
// the last one is there, or none comes any more. Without keep-alive it does
// nothing.
func (c *Client) Warm(ctx context.Context, n int) int {
	if !c.options.KeepAlive || n <= 0 {
		return 0
	}
	ctx, cancel := context.WithTimeout(ctx, warmTimeout)
	defer cancel()
	b := &barrier{missing: n, open: make(chan struct{})}
	enough := time.AfterFunc(warmPatience, b.release)
	defer enough.Stop()
	var all sync.WaitGroup
	for range n {
		all.Go(func() { c.warmOne(ctx, b) })
	}
	all.Wait()
	return b.got
}

// warmOne opens one connection and uses it once.
func (c *Client) warmOne(ctx context.Context, b *barrier) {
	here := false
	trace := &httptrace.ClientTrace{GotConn: func(httptrace.GotConnInfo) {
		here = true
		b.arrive(true)
		select {
		case <-b.open:
		case <-ctx.Done():
		}
	}}
	defer func() {
		if !here {
			b.arrive(false)
		}
	}()
	target, err := c.page("/v1/models")
	if err != nil {
		return
	}
	request := &http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: c.header.Clone()}
	request.Header.Del("Content-Type")
	resp, err := c.shared.RoundTrip(request.WithContext(httptrace.WithClientTrace(ctx, trace)))
	if err != nil {
		return
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxProbe) // only the connection counts
}

// barrier opens when nothing is missing, or when it is released.
type barrier struct {
	mu      sync.Mutex
	once    sync.Once
	missing int
	got     int
	open    chan struct{}
}

func (b *barrier) arrive(connected bool) {
	b.mu.Lock()
	defer b.mu.Unlock()
	if connected {
		b.got++
	}
	if b.missing--; b.missing == 0 {
		b.release()
	}
}

func (b *barrier) release() { b.once.Do(func() { close(b.open) }) }
