package measure

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
)

const (
	healthLook  = time.Second      // how long one look takes
	healthPause = 10 * time.Second // between two
)

// waitHealthy waits until the host is healthy, as long as --wait-healthy allows. A
// host that nothing can be said of is not waited for.
func (s *measuring) waitHealthy(ctx context.Context) error {
	limit := s.Plan.Options.WaitHealthy
	if limit == 0 || s.Plan.size() == 0 {
		return nil
	}
	if s.watcher == nil {
		return exit.Usagef("--wait-healthy: the health of the host is not watched: add --health auto, or leave one of the two out")
	}
	for until, told := s.Now().Add(limit), ""; ; {
		h, err := s.lookAtHost(ctx, min(healthLook, limit))
		if err != nil || h == nil || h.Status != bench.Unhealthy {
			return err
		}
		why := text.OneLine(strings.Join(h.Reasons, "; "))
		left := until.Sub(s.Now())
		if left <= 0 {
			return fmt.Errorf("the host is still unhealthy after %v: %s: end what disturbs it, or measure at a later time, or %s, "+
				"or judge its numbers all the same with policy.unhealthy: ignore",
				limit, why, s.withoutWaiting())
		}
		if why != told {
			fmt.Fprintf(s.Stderr, "accelgate: waiting up to %v for a healthy host: %s\n", left.Round(time.Second), why)
			told = why
		}
		if err := pause(ctx, min(healthPause, left)); err != nil {
			return err
		}
	}
}

// withoutWaiting is how to measure on a host that stays unhealthy.
func (s *measuring) withoutWaiting() string {
	if s.inPairs() {
		return "leave out --wait-healthy, because base and head share what disturbs the host"
	}
	return "measure in pairs with --ab " + s.Plan.Options.NextBase(s.Plan.File.Dir, s.NextBase)
}

// lookAtHost watches all devices and the processors for so long.
func (s *measuring) lookAtHost(ctx context.Context, d time.Duration) (*bench.Health, error) {
	span := s.watcher.Begin(ctx, bench.Device{}, false)
	err := pause(ctx, d)
	return span.End(ctx), err
}

func pause(ctx context.Context, d time.Duration) error {
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(d):
		return nil
	}
}
