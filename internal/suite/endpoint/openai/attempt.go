package openai

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"net/http/httptrace"
	"sync/atomic"
	"time"
)

// attempt is one request on one connection. The transport calls its methods
// from goroutines of its own.
type attempt struct {
	now      func() time.Duration
	conn     atomic.Int64 // nanoseconds since the epoch; 0 without a connection
	reused   atomic.Bool
	sent     atomic.Bool // headers of the request were written
	answered atomic.Bool // a byte of an answer came
}

func (a *attempt) gotConn(info httptrace.GotConnInfo) {
	a.reused.Store(info.Reused)
	a.conn.Store(int64(a.now()))
}

func (a *attempt) wroteHeaders() { a.sent.Store(true) }

func (a *attempt) gotByte() { a.answered.Store(true) }

// send asks once, and once more on a fresh connection if a reused one failed
// before any byte: llama.cpp's server closes connections that it promised to
// keep, and a third of all requests would fail for it. It does the same for a
// request that was never sent because others had filled its connection.
func (c *Client) send(ctx context.Context, body Body, reply *Reply) (*http.Response, *attempt, error) {
	resp, a, err := c.try(ctx, c.roundTrip, body, reply)
	unsent := c.options.KeepAlive && reply.Conn > 0 && !a.sent.Load()
	if err == nil || !reply.Reused && !unsent || a.answered.Load() || ctx.Err() != nil {
		return resp, a, err
	}
	reply.Retried = reply.Reused
	return c.try(ctx, c.alone, body, reply)
}

func (c *Client) try(ctx context.Context, ask func(*http.Request) (*http.Response, error), body Body,
	reply *Reply) (*http.Response, *attempt, error) {
	a := &attempt{now: c.options.Now}
	trace := &httptrace.ClientTrace{GotConn: a.gotConn, WroteHeaders: a.wroteHeaders, GotFirstResponseByte: a.gotByte}
	resp, err := ask(c.request(body).WithContext(httptrace.WithClientTrace(ctx, trace)))
	reply.Conn, reply.Reused = time.Duration(a.conn.Load()), a.reused.Load()
	return resp, a, err
}

// request has no GetBody: with it the transport would repeat requests by
// itself, uncounted.
func (c *Client) request(body Body) *http.Request {
	target, header := c.pages[body.path], c.header
	if body.mime != "" {
		header = header.Clone()
		header.Set("Content-Type", body.mime)
	}
	return &http.Request{
		Method: http.MethodPost, URL: target, Host: target.Host, Header: header,
		Proto: "HTTP/1.1", ProtoMajor: 1, ProtoMinor: 1,
		Body: io.NopCloser(bytes.NewReader(body.data)), ContentLength: int64(len(body.data)),
	}
}
