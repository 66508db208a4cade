package github

import (
	"bytes"
	"context"
	"io"
	"net/http"
	"strconv"
	"time"
)

// How patient the client is. GitHub asks to wait as Retry-After says, and a
// minute where it says nothing:
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
const (
	answerTimeout = time.Minute     // for the header of an answer
	maxWait       = 2 * time.Minute // a longer Retry-After is an error at once
	unknownWait   = time.Minute
	maxLimited    = 3 // times a request waits for a rate limit
	maxFailed     = 2 // times a read is repeated after a failure of the server
)

// retrier repeats requests that GitHub asked to repeat, and reads that failed
// on the server's side. It sits below go-github, which would otherwise answer
// further requests by itself, by the real clock, while a limit lasts.
type retrier struct {
	next  http.RoundTripper
	sleep func(context.Context, time.Duration) error
}

// RoundTrip sends a request, perhaps several times. The last response is the
// caller's, as it came.
func (t *retrier) RoundTrip(r *http.Request) (*http.Response, error) {
	limited, failed := 0, 0
	for {
		response, err := t.next.RoundTrip(r)
		var wait time.Duration
		switch pause, isLimit := rateLimit(response); {
		case isLimit && limited < maxLimited && pause <= maxWait && rewindable(r):
			limited++
			wait = pause
		case broken(response, err) && failed < maxFailed && r.Method == http.MethodGet:
			failed++
			wait = time.Duration(failed) * time.Second
		default:
			return response, err
		}
		if response != nil {
			_ = response.Body.Close() // it is replaced by the next one
		}
		if err := t.sleep(r.Context(), wait); err != nil {
			return nil, err
		}
		if r, err = rewind(r); err != nil {
			return nil, err
		}
	}
}

// rateLimit reports whether a response asks to come back later, and when.
func rateLimit(r *http.Response) (wait time.Duration, ok bool) {
	if r == nil || r.StatusCode != http.StatusForbidden && r.StatusCode != http.StatusTooManyRequests {
		return 0, false
	}
	if seconds, err := strconv.ParseUint(r.Header.Get("Retry-After"), 10, 31); err == nil {
		return time.Duration(seconds) * time.Second, true
	}
	return unknownWait, r.StatusCode == http.StatusTooManyRequests || secondary(r)
}

// secondary reports whether a response without Retry-After speaks of the
// secondary rate limit, and leaves its body to be read again.
func secondary(r *http.Response) bool {
	start, _ := io.ReadAll(io.LimitReader(r.Body, 4096)) // a failure comes again when the body is read
	r.Body = struct {
		io.Reader
		io.Closer
	}{io.MultiReader(bytes.NewReader(start), r.Body), r.Body}
	return bytes.Contains(start, []byte("secondary rate limit"))
}

// broken reports whether the server, or the way to it, failed.
func broken(r *http.Response, err error) bool {
	return err != nil || r.StatusCode >= http.StatusInternalServerError
}

func rewindable(r *http.Request) bool { return r.Body == nil || r.GetBody != nil }

// rewind returns the request with its body at the start again.
func rewind(r *http.Request) (*http.Request, error) {
	again := r.Clone(r.Context())
	if r.GetBody == nil {
		return again, nil
	}
	var err error
	again.Body, err = r.GetBody()
	return again, err
}

// sleep waits for d or until ctx is done.
func sleep(ctx context.Context, d time.Duration) error {
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-timer.C:
		return nil
	}
}
