package openai

import (
	"context"
	"errors"
	"io"
	"net/http"
	"time"
)

// Time is a server's time: it was From at least and less than To at some moment from
// Sent to Received, which are since the epoch.
type Time struct {
	From, To       time.Time
	Sent, Received time.Duration
}

// Time reads the header Date, which says whole seconds, by one request on a
// connection that is kept.
func (c *Client) Time(ctx context.Context) (t Time, err error) {
	target, err := c.page("/v1/models")
	if err != nil {
		return t, err
	}
	request := &http.Request{Method: http.MethodGet, URL: target, Host: target.Host, Header: c.header.Clone()}
	request.Header.Del("Content-Type")
	t.Sent = c.options.Now()
	resp, err := c.roundTrip(request.WithContext(ctx))
	t.Received = c.options.Now()
	if err != nil {
		return t, err
	}
	defer resp.Body.Close()
	_, _ = io.CopyN(io.Discard, resp.Body, maxProbe) // the connection serves on
	if t.From, err = http.ParseTime(resp.Header.Get("Date")); err != nil {
		return t, errors.New("the server sends no header Date: set it there, or leave the clocks to NTP")
	}
	t.To = t.From.Add(time.Second)
	return t, nil
}
