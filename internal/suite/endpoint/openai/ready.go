package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"time"
)

// WaitReady asks for the server's health, every so often, until it is well or
// ctx ends. A server that has no /health is ready when it lists its models. A
// key that it refuses, and a certificate that is not trusted, is an error at
// once.
func (c *Client) WaitReady(ctx context.Context, every time.Duration) error {
	tick := time.NewTicker(max(every, time.Millisecond))
	defer tick.Stop()
	reason := errors.New("it was not asked in time")
	for {
		ready, final, err := c.health(ctx)
		if ready || final {
			return err
		}
		if ctx.Err() == nil { // else err says only that the time is over
			reason = err
		}
		select {
		case <-ctx.Done():
			return fmt.Errorf("%s is not ready (%w): look at the server's log, or wait longer", c.root, reason)
		case <-tick.C:
		}
	}
}

// health asks once. final says that asking again would not help.
func (c *Client) health(ctx context.Context) (ready, final bool, err error) {
	for _, path := range []string{"/health", "/v1/models"} {
		status, body, err := c.get(ctx, path)
		switch {
		case untrusted(err):
			return false, true, c.untrusted(err)
		case err != nil:
			return false, false, errors.New(c.quote(err.Error()))
		case status == http.StatusOK:
			return true, false, nil
		case status == http.StatusUnauthorized || status == http.StatusForbidden:
			return false, true, c.statusError(path, status, body)
		case status != http.StatusNotFound && status != http.StatusMethodNotAllowed:
			return false, false, fmt.Errorf("HTTP %d: %s", status, c.quote(message(body)))
		}
	}
	return false, false, errors.New("neither /health nor /v1/models is there")
}
