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

// unknownWait is how long to wait at first where GitHub does not say, and answerTime
// what is left for the answer after the last wait:
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
const (
	unknownWait = time.Minute
	answerTime  = 10 * time.Second
)

// rateLimit reports whether a response asks to come back later, and when; wait is nil
// where GitHub does not say it.
func (t *sender) rateLimit(r *http.Response) (wait *time.Duration, ok bool) {
	if r == nil || r.StatusCode != http.StatusForbidden && r.StatusCode != http.StatusTooManyRequests {
		return nil, false
	}
	if seconds, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 31); err == nil {
		told := time.Duration(seconds) * time.Second
		return &told, true
	}
	err := gh.CheckResponse(r) // which leaves the body to be read again
	var primary *gh.RateLimitError
	if errors.As(err, &primary) && !primary.Rate.Reset.IsZero() {
		reset := max(primary.Rate.Reset.Sub(t.serverTime(r)), 0) + time.Second // it is given in whole seconds
		return &reset, true
	}
	var secondary *gh.AbuseRateLimitError
	if errors.As(err, &secondary) && secondary.RetryAfter != nil {
		return secondary.RetryAfter, true
	}
	return nil, r.StatusCode == http.StatusTooManyRequests || secondary != nil || namesLimit(r)
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

// forget removes the limits from an answer that is none: go-github would refuse
// the next request itself, by its own clock and without a wait.
func forget(r *http.Response) {
	if r.StatusCode < http.StatusBadRequest {
		r.Header.Del("X-RateLimit-Remaining")
		r.Header.Del("X-RateLimit-Reset")
	}
}
