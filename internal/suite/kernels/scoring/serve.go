package scoring

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net"
	"net/http"
	"sync"
	"time"
)

// farewell is how long requests that are being answered may take when the server
// stops.
const farewell = 5 * time.Second

// Serve answers requests and measures tasks until ctx is done. It closes the listener.
// An error means that nothing can be answered any more.
func (s *Server) Serve(ctx context.Context, listener net.Listener, logs *log.Logger) error {
	requests, end := context.WithCancel(context.WithoutCancel(ctx))
	defer end()
	web := &http.Server{Handler: s.handler(), ReadHeaderTimeout: 10 * time.Second, ReadTimeout: time.Minute, IdleTimeout: time.Minute,
		MaxHeaderBytes: 64 << 10, ErrorLog: logs, BaseContext: func(net.Listener) context.Context { return requests }}
	work, stop := context.WithCancel(ctx)
	defer stop()
	var running sync.WaitGroup
	running.Go(func() { s.run(work) })
	failed := make(chan error, 1)
	go func() { failed <- web.Serve(listener) }()
	select {
	case err := <-failed:
		stop()
		running.Wait()
		return fmt.Errorf("serve: %w: start the server again", err)
	case <-ctx.Done():
	}
	end() // of requests that wait for tasks
	limit, cancel := context.WithTimeout(context.WithoutCancel(ctx), farewell)
	defer cancel()
	err := web.Shutdown(limit)
	if err != nil {
		err = web.Close()
	}
	running.Wait()
	if errors.Is(err, http.ErrServerClosed) {
		return nil
	}
	return err
}
