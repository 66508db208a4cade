package github

import (
	"bytes"
	"errors"
	"io"
	"net/http"
	"strconv"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// DefaultWait is how long a client waits for rate limits in all.
const DefaultWait = 10 * time.Minute

// unknownWait is how long to wait where GitHub does not say:
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
const unknownWait = time.Minute

// rateLimit reports whether a response asks to come back later, and when.
func (t *sender) rateLimit(r *http.Response) (wait time.Duration, ok bool) {
	if r == nil || r.StatusCode != http.StatusForbidden && r.StatusCode != http.StatusTooManyRequests {
		return 0, false
	}
	if seconds, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	err := gh.CheckResponse(r) // which leaves the body to be read again
	var primary *gh.RateLimitError
	if errors.As(err, &primary) && !primary.Rate.Reset.IsZero() {
		return max(primary.Rate.Reset.Sub(t.serverTime(r)), 0) + time.Second, true // it is given in whole seconds
	}
	var secondary *gh.AbuseRateLimitError
	if errors.As(err, &secondary) && secondary.RetryAfter != nil {
		return *secondary.RetryAfter, true
	}
	return unknownWait, r.StatusCode == http.StatusTooManyRequests || secondary != nil || namesLimit(r)
}

// serverTime is the time by the clock that a response's limits are of.
func (t *sender) serverTime(r *http.Response) time.Time {
	if at, err := http.ParseTime(r.Header.Get("Date")); err == nil {
		return at
	}
	return t.now()
}

// namesLimit reports whether a response is about a rate limit, and leaves its
// body to be read again.
func namesLimit(r *http.Response) bool {
	start, _ := io.ReadAll(io.LimitReader(r.Body, 4096)) // a failure comes again when the body is read
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), r.Body), r.Body}
	return bytes.Contains(start, []byte("rate limit"))
}

// afford takes a wait off what is left for rate limits. A wait that is longer
// than that is not begun.
func (t *sender) afford(wait time.Duration) bool {
	t.mu.Lock()
	defer t.mu.Unlock()
	if wait > t.left {
		return false
	}
	t.left -= max(wait, time.Second) // a server that says "now" for ever is given up, too
	return true
}

// forget removes the limits from an answer that is none: go-github would refuse
// the next request itself, by its own clock and without a wait.
func forget(r *http.Response) {
	if r.StatusCode < http.StatusBadRequest {
		r.Header.Del("X-RateLimit-Remaining")
		r.Header.Del("X-RateLimit-Reset")
	}
}
