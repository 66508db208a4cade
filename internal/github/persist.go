package github

import (
	"cmp"
	"context"
	"errors"
	"net/http"
	"time"
)

// How long failures are borne: so many in a row, or for so long.
const (
	maxUnsure = 12
	patience  = 2 * time.Minute
)

// hopeless marks an error that no repetition can mend.
type hopeless struct{ error }

func (h hopeless) Unwrap() error { return h.error }

// passing reports whether the same request may well succeed the next time:
// nothing arrived, half an answer did, or the server failed.
func passing(err error) bool {
	var never hopeless
	code := status(err)
	return (code == 0 || code >= http.StatusInternalServerError || code == http.StatusConflict) &&
		!errors.As(err, &never) && !limited(err)
}

// trouble is a row of failures.
type trouble struct {
	since           time.Time
	unsure, refused int
}

// bear returns how long to wait before looking again, and false where it is of
// no use: the failure is final, or has lasted too long. Refusals are repeated as
// often as Options.RefusalRetries allows.
func (t *trouble) bear(c *Client, err error) (pause time.Duration, ok bool) {
	now := c.sender.now()
	if t.since.IsZero() {
		t.since = now
	}
	code, n := status(err), 0
	switch {
	case passing(err) && t.unsure < maxUnsure && now.Sub(t.since) <= patience:
		t.unsure++
		n = t.unsure
	case code >= http.StatusBadRequest && code < http.StatusInternalServerError && code != http.StatusUnauthorized &&
		!limited(err) && t.refused < c.sender.refusalRetries:
		t.refused++
		n = t.refused
	default:
		return 0, false
	}
	pause = backoff(n)
	return pause + c.jitter(pause), true
}

// persist repeats a step that looks before it writes, while it fails in a way
// that may pass.
func persist[T any](ctx context.Context, c *Client, step func() (T, error)) (T, error) {
	var t trouble
	for {
		value, err := step()
		if err == nil || ctx.Err() != nil {
			return value, err
		}
		pause, ok := t.bear(c, err)
		if !ok {
			return value, err
		}
		if slept := c.sender.pause(ctx, pause); slept != nil {
			return value, cmp.Or(ctx.Err(), err)
		}
	}
}

// jitter returns a random span of at most d.
func (c *Client) jitter(d time.Duration) time.Duration { return time.Duration(c.random() * float64(d)) }
