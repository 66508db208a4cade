package github

import (
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"time"
)

// DefaultWait is how long a client waits for GitHub in all.
const DefaultWait = 10 * time.Minute

// maxKept is the most of a client's wait that only completing a check run may
// use. It is a quarter of short waits.
const maxKept = time.Minute

// errNoTime marks what was not sent, or not sent again, because the client has
// waited for as long as it may.
var errNoTime = errors.New("the time to wait for GitHub is used up")

type lastKey struct{}

// lastly is for the requests that complete a check run. They may use what other
// requests leave of the wait.
func lastly(ctx context.Context) context.Context {
	return context.WithValue(ctx, lastKey{}, true)
}

// available is how long a request may wait.
func (t *sender) available(ctx context.Context) time.Duration {
	t.mu.Lock()
	defer t.mu.Unlock()
	if ctx.Value(lastKey{}) != nil {
		return t.left
	}
	return t.left - min(t.wait/4, maxKept)
}

// spend takes time off the wait.
func (t *sender) spend(d time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.left -= d
}

// pause sleeps if what is left of the wait allows it. A server that says "now"
// for ever is given up, too.
func (t *sender) pause(ctx context.Context, d time.Duration) error {
	if d > t.available(ctx) {
		return t.noTime()
	}
	t.spend(max(d, time.Second))
	return t.sleep(ctx, d)
}

// noTime returns what the wait was for.
func (t *sender) noTime() error {
	t.mu.Lock()
	defer t.mu.Unlock()
	return hopeless{fmt.Errorf("%w: %v in all, input api-wait; the last trouble was: %s; run it again later", errNoTime, t.wait, t.trouble)}
}

// note keeps the last failure, for those that are not tried any more.
func (t *sender) note(trouble string) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.trouble = trouble
}

// learn keeps what an answer says of the token, and a failure.
func (t *sender) learn(r *http.Request, response *http.Response) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.refused = response.StatusCode == http.StatusUnauthorized
	if response.StatusCode >= http.StatusBadRequest {
		t.trouble = fmt.Sprintf("%s %s: %s", r.Method, r.URL.Path, response.Status)
	}
}

// timely is a body that has to arrive by a time. The context of the request ends one
// that stops; this one also ends one that does not stop.
type timely struct {
	io.Reader
	now func() time.Time
	by  time.Time
}

// Read fails after the time.
func (r timely) Read(p []byte) (int, error) {
	n, err := r.Reader.Read(p)
	if err == nil && r.now().After(r.by) {
		return n, errors.New("it arrives too slowly")
	}
	return n, err
}
