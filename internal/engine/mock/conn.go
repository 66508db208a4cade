package mock

import (
	"context"
	"net"
	"net/http"
	"sync/atomic"
)

// conn is a connection of a client, as far as faults need to reach it.
type conn struct {
	net.Conn
	number        int
	closeWhenIdle atomic.Bool // after the answer
	closeOnReuse  atomic.Bool // when the next request comes
}

type connKey struct{}

// connect makes a connection known to its requests and to the server.
func (s *Server) connect(ctx context.Context, n net.Conn) context.Context {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.seen.Connections++
	c := &conn{Conn: n, number: s.seen.Connections}
	s.conns[n] = c
	if s.dead {
		c.reset()
	}
	return context.WithValue(ctx, connKey{}, c)
}

func connOf(r *http.Request) *conn { return r.Context().Value(connKey{}).(*conn) }

// connState forgets connections that are gone, and closes those that were
// promised to stay.
func (s *Server) connState(n net.Conn, state http.ConnState) {
	s.mu.Lock()
	c := s.conns[n]
	if state == http.StateClosed || state == http.StateHijacked {
		delete(s.conns, n)
	}
	s.mu.Unlock()
	if c != nil && state == http.StateIdle && c.closeWhenIdle.Load() {
		_ = c.Close()
	}
}

// reset ends the connection so that the client's next read or write fails,
// rather than finds an end: what is not sent yet is thrown away.
func (c *conn) reset() {
	inner := c.Conn
	if tls, ok := inner.(interface{ NetConn() net.Conn }); ok {
		inner = tls.NetConn() // without the farewell of TLS
	}
	if tcp, ok := inner.(*net.TCPConn); ok {
		_ = tcp.SetLinger(0)
	}
	_ = inner.Close()
}
