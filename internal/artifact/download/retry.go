package download

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// How patient a client is. The hub counts requests in windows of five minutes
// (huggingface.co/docs/hub/rate-limits), so that no wait need be longer.
const (
	maxFailures = 6 // in a row, without useful bytes
	useful      = 1 << 20
	firstWait   = time.Second // doubles with each failure
	maxWait     = 5*time.Minute + 15*time.Second
)

// again is an error that may be gone the next time. wait is what the server
// asked for, or 0.
type again struct {
	error
	wait time.Duration
}

func (e again) Unwrap() error { return e.error }

// retry calls try until it succeeds, or fails for good or too often. try
// reports whether it came closer to its end.
func (f *fetch) retry(ctx context.Context, try func() (closer bool, err error)) error {
	failures := 0
	for {
		closer, err := try()
		var transient again
		switch {
		case err == nil:
			return nil
		case ctx.Err() != nil:
			return ctx.Err()
		case !errors.As(err, &transient):
			return err
		case closer:
			failures = 0
		}
		failures++
		wait := transient.wait
		if wait == 0 {
			wait = backoff(failures)
		}
		switch {
		case failures == maxFailures:
			return fmt.Errorf("tried %d times: %w", failures, err)
		case wait > maxWait:
			return fmt.Errorf("%w, in %v", err, wait.Round(time.Second))
		}
		if err := f.sleep(ctx, wait); err != nil {
			return err
		}
	}
}

// backoff spreads clients that failed together.
func backoff(failures int) time.Duration {
	wait := firstWait << (failures - 1)
	return wait + rand.N(wait/2)
}

func (f *fetch) sleep(ctx context.Context, d time.Duration) error {
	if f.Sleep != nil {
		return f.Sleep(ctx, d)
	}
	timer := time.NewTimer(d)
	defer timer.Stop()
	select {
	case <-timer.C:
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

var reset = lazyregexp.New(`;\s*t=([0-9]{1,9})\b`)

// retryAfter is how long an answer asks to wait: Retry-After in seconds or as a
// date by the server's own clock (RFC 9110, 10.2.3), or else the end of the
// window in the hub's own header RateLimit: "api";r=0;t=55
// (huggingface.co/docs/hub/rate-limits). It is 0 if the answer does not say.
func retryAfter(h http.Header) time.Duration {
	text := h.Get("Retry-After")
	if seconds, err := strconv.ParseUint(text, 10, 31); err == nil {
		return time.Duration(seconds) * time.Second
	}
	date, err := http.ParseTime(text)
	now, nowErr := http.ParseTime(h.Get("Date"))
	if err == nil && nowErr == nil {
		return max(0, date.Sub(now))
	}
	if match := reset.FindStringSubmatch(h.Get("RateLimit")); match != nil {
		seconds, _ := strconv.Atoi(match[1]) // at most nine digits
		return time.Duration(seconds) * time.Second
	}
	return 0
}
