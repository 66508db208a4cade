package github

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"sync"
	"time"
)

// How patient the client is. GitHub asks for a second between writes:
// https://docs.github.com/rest/using-the-rest-api/best-practices-for-using-the-rest-api
const (
	writeGap      = time.Second
	answerTimeout = time.Minute // for one answer, body included
	maxFailed     = 4           // times a request is repeated after a failure of the server or of the network
	maxBusy       = 3           // times it is repeated after a conflict
	longestPause  = 16 * time.Second
	maxAnswer     = 64 << 20 // bytes of a body
)

// errStale marks a write that was not sent, because what it was made from was
// read too long ago.
var errStale = errors.New("what this was made from is out of date")

// sender sends requests: writes a second apart, again where GitHub asks for it
// or failed, and never so that something is made twice. It sits below
// go-github, which would otherwise answer further requests by itself, by the
// real clock, while a limit lasts.
type sender struct {
	next           http.RoundTripper
	sleep          func(context.Context, time.Duration) error
	now            func() time.Time
	token          string
	refusalRetries int
	wait           time.Duration // for GitHub in all

	mu      sync.Mutex
	write   time.Time     // the earliest time of the next write
	left    time.Duration // of wait
	trouble string        // the last failure
	refused bool          // the token, by the last answer
}

// manner describes how one request is to be sent. The zero value is right for reads
// and for writes that have the same effect when they come twice.
type manner struct {
	once    bool      // never repeated after a failure that may have come after the effect
	before  time.Time // not sent later than this, where it is set
	answers []int     // statuses that are answers rather than refusals
	reads   bool      // changes nothing, whatever its method
	tries   int       // repeats after failures; maxFailed where zero
}

type mannerKey struct{}

func (m manner) in(ctx context.Context) context.Context {
	return context.WithValue(ctx, mannerKey{}, m)
}

func mannerOf(r *http.Request) manner {
	m, said := r.Context().Value(mannerKey{}).(manner)
	if !said && r.Method == http.MethodPost {
		m.once = true // most of them make something
	}
	return m
}

// repeatable is for requests by POST that make nothing twice.
func repeatable(ctx context.Context) context.Context { return manner{}.in(ctx) }

type refusalKey struct{}

// mayRefuse is for requests of a token that was allowed the like of them before,
// or whose refusal leaves a check in progress: a refusal is asked again.
func mayRefuse(ctx context.Context) context.Context {
	return context.WithValue(ctx, refusalKey{}, 3)
}

func refusalsOf(r *http.Request) int {
	n, _ := r.Context().Value(refusalKey{}).(int)
	return n
}

// once is for requests that would do something twice.
func once(ctx context.Context) context.Context { return manner{once: true}.in(ctx) }

// RoundTrip sends a request, perhaps several times. The last response is the
// caller's; its body has been read already and never holds the token.
func (t *sender) RoundTrip(r *http.Request) (*http.Response, error) {
	how := mannerOf(r)
	r, err := t.tokenless(r)
	if err != nil {
		return nil, err
	}
	var tried attempts
	for {
		if err := t.ready(r, how); err != nil {
			return nil, err
		}
		response, err := t.attempt(r)
		var wait time.Duration
		told, limited := t.rateLimit(response)
		again := limited
		if limited {
			wait = tried.limited(told, t.available(r.Context()))
		} else {
			wait, again = tried.again(how, max(t.refusalRetries, refusalsOf(r)), response, err)
		}
		if !again || !rewindable(r) || r.Context().Err() != nil || wait > t.available(r.Context()) {
			return response, err
		}
		if limited {
			t.holdWrites(wait)
		}
		if err := t.pause(r.Context(), wait); err != nil {
			return nil, err
		}
		if r, err = rewind(r); err != nil {
			return nil, err
		}
	}
}

// tokenless reads what is to be sent and refuses it where it holds the token:
// what a measured program got hold of must not be published, whatever way it
// came. Callers take it out of their texts; replacing it here would make them
// write the same text again and again.
func (t *sender) tokenless(r *http.Request) (*http.Request, error) {
	var body []byte
	if r.Body != nil && r.Body != http.NoBody {
		var err error
		body, err = io.ReadAll(r.Body)
		_ = r.Body.Close() // it was read
		if err != nil {
			return nil, fmt.Errorf("read what is to be sent: %w: run it again", err)
		}
	}
	if bytes.Contains(body, []byte(t.token)) || strings.Contains(r.URL.String(), t.token) {
		return nil, hopeless{errors.New("what is to be sent holds the token, and was not sent: take it out of inputs, names and files")}
	}
	if body == nil {
		return r, nil
	}
	again := r.Clone(r.Context())
	again.GetBody = func() (io.ReadCloser, error) { return io.NopCloser(bytes.NewReader(body)), nil }
	again.Body, again.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return again, nil
}

// ready waits until a request may be sent.
func (t *sender) ready(r *http.Request, how manner) error {
	stale := func() bool { return !how.before.IsZero() && t.now().After(how.before) }
	if r.Method != http.MethodGet && !how.reads && !stale() {
		if err := t.pace(r.Context()); err != nil {
			return err
		}
	}
	if stale() {
		return errStale
	}
	return nil
}

// pace takes the next free moment for a write and waits for it.
func (t *sender) pace(ctx context.Context) error {
	t.mu.Lock()
	now := t.now()
	wait := max(0, t.write.Sub(now))
	t.write = now.Add(wait + writeGap)
	t.mu.Unlock()
	if wait == 0 {
		return nil
	}
	return t.pause(ctx, wait)
}

// holdWrites keeps the client's other writes back while a limit lasts.
func (t *sender) holdWrites(wait time.Duration) {
	t.mu.Lock()
	defer t.mu.Unlock()
	if until := t.now().Add(wait); until.After(t.write) {
		t.write = until
	}
}

// attempt sends a request once and reads the answer, in a minute at most, or in what
// is left of the wait.
func (t *sender) attempt(r *http.Request) (*http.Response, error) {
	maximum := min(answerTimeout, t.available(r.Context()))
	if maximum <= 0 {
		return nil, t.noTime()
	}
	began := t.now()
	defer func() { t.spend(t.now().Sub(began)) }()
	ctx, cancel := context.WithTimeout(r.Context(), maximum)
	defer cancel()
	response, err := t.next.RoundTrip(r.WithContext(ctx))
	if err == nil {
		response.Body = struct {
			io.Reader
			io.Closer
		}{timely{response.Body, t.now, began.Add(maximum)}, response.Body}
		err = t.receive(r, response)
	}
	if err != nil {
		err = t.redact(err)
		t.note(fmt.Sprintf("%s %s: %v", r.Method, r.URL.Path, err))
		return nil, err
	}
	t.learn(r, response)
	response.Request = r // without the time limit, which is over
	return response, nil
}

// receive reads the answer whole.
func (t *sender) receive(r *http.Request, response *http.Response) error {
	body, err := io.ReadAll(io.LimitReader(response.Body, maxAnswer+1))
	_ = response.Body.Close() // everything that is wanted was read
	switch {
	case err != nil:
		return fmt.Errorf("read the answer of %s: %w", r.URL.Host, err)
	case len(body) > maxAnswer:
		return hopeless{fmt.Errorf("the answer of %q is longer than %d bytes", r.URL.Host, maxAnswer)}
	case hollow(r, response, body):
		return errHollow
	}
	body = bytes.ReplaceAll(body, []byte(t.token), []byte("***"))
	for _, values := range response.Header {
		for i := range values {
			values[i] = strings.ReplaceAll(values[i], t.token, "***")
		}
	}
	forget(response)
	response.Body, response.ContentLength = io.NopCloser(bytes.NewReader(body)), int64(len(body))
	return nil
}

// redact takes the token out of an error. No transport is known to put it
// there; somebody else's server may echo it.
func (t *sender) redact(err error) error {
	if text := err.Error(); strings.Contains(text, t.token) {
		return errors.New(strings.ReplaceAll(text, t.token, "***"))
	}
	return err
}

// attempts counts why a request was repeated.
type attempts struct {
	failed, busy, refused, untold int
}

// limited returns how long to wait for a rate limit. Where GitHub does not say it,
// it is twice as long each time in a row, up to what is available.
func (a *attempts) limited(told *time.Duration, available time.Duration) time.Duration {
	if told != nil {
		a.untold = 0
		return *told
	}
	wait := unknownWait << min(a.untold, 10)
	a.untold++
	return max(min(wait, available-answerTime), unknownWait)
}

// again reports whether to repeat a request, and after how long.
func (a *attempts) again(how manner, retries int, response *http.Response, err error) (time.Duration, bool) {
	a.untold = 0
	switch {
	case broken(response, err):
		a.failed++
		return backoff(a.failed), a.failed <= cmp.Or(how.tries, maxFailed) && !how.once
	case slices.Contains(how.answers, response.StatusCode) || response.StatusCode < http.StatusBadRequest:
		return 0, false
	case response.StatusCode == http.StatusConflict && a.busy < maxBusy:
		a.busy++
		return backoff(a.busy), !how.once
	case response.StatusCode != http.StatusUnauthorized:
		a.refused++
		return backoff(a.refused), a.refused <= retries // it had no effect
	}
	return 0, false
}

// backoff is how long to wait after the nth failure in a row.
func backoff(n int) time.Duration {
	return min(time.Second<<min(max(n-1, 0), 10), longestPause)
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
