package openai

import (
	"context"
	"errors"
	"slices"
	"testing"
	"testing/synctest"
)

func enter(t *testing.T, q *Queue) (leave func()) {
	t.Helper()
	leave, err := q.Enter(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	return leave
}

func TestQueueIsFirstInFirstOut(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		q := NewQueue(1, 3, nil)
		leave := enter(t, q)
		ctx, cancel := context.WithCancel(t.Context())
		var order []int
		for i := range 3 {
			go func() {
				waits := t.Context()
				if i == 1 {
					waits = ctx
				}
				if next, err := q.Enter(waits); err == nil {
					order = append(order, i)
					next()
				}
			}()
			synctest.Wait()
		}
		if _, err := q.Enter(t.Context()); !errors.Is(err, errBusy) || q.Refused.Load() != 1 {
			t.Errorf("a full queue: got %v and %d refused, want %v and 1", err, q.Refused.Load(), errBusy)
		}
		cancel()
		synctest.Wait()
		if q.Running.Load() != 1 || q.Waiting.Load() != 2 || q.GivenUp.Load() != 1 {
			t.Errorf("%d run, %d wait, %d went away, want 1, 2, 1", q.Running.Load(), q.Waiting.Load(), q.GivenUp.Load())
		}
		leave()
		synctest.Wait()
		if !slices.Equal(order, []int{0, 2}) || q.Running.Load() != 0 || q.Waiting.Load() != 0 {
			t.Errorf("slots were given to %v, and %d run and %d wait, want [0 2], 0, 0", order, q.Running.Load(), q.Waiting.Load())
		}
	})
}

func TestQueueStops(t *testing.T) {
	t.Parallel()
	synctest.Test(t, func(t *testing.T) {
		stop := make(chan struct{})
		q := NewQueue(1, 1, stop)
		leave := enter(t, q)
		defer leave()
		ended := make(chan error, 1)
		go func() {
			_, err := q.Enter(t.Context())
			ended <- err
		}()
		synctest.Wait()
		close(stop)
		if err := <-ended; !errors.Is(err, ErrStopping) {
			t.Errorf("one that waits: got %v, want %v", err, ErrStopping)
		}
		if _, err := q.Enter(t.Context()); !errors.Is(err, ErrStopping) {
			t.Errorf("one that comes: got %v, want %v", err, ErrStopping)
		}
	})
}

func TestQueueWithoutLimit(t *testing.T) {
	t.Parallel()
	q := NewQueue(0, 0, nil)
	for range 100 {
		enter(t, q)
	}
	if q.Running.Load() != 100 {
		t.Errorf("%d run, want 100", q.Running.Load())
	}
}
