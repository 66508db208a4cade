package prepare

import (
	"context"
	"fmt"
	"path/filepath"
	"time"

	"github.com/gofrs/flock"

	"github.com/accelgate/accelgate/internal/atomicfile"
)

// Waiting bounds the wait for other processes that build or measure in a checkout.
type Waiting struct{ Max time.Duration }

// Hold keeps other processes from building in a checkout.
type Hold struct{ locks *locks }

// Release ends the hold. It may be called more than once.
func (h *Hold) Release() {
	if h != nil && h.locks != nil {
		_ = h.locks.file.Close() // the kernel ends the lock with the process anyway
		h.locks = nil
	}
}

// locks are the lock of a checkout: one process builds, or several measure.
type locks struct {
	file  *flock.Flock
	dir   string
	say   func(string)
	done  map[string]string // ids of the builds of this process, by name
	limit <-chan time.Time  // nil before the first wait
	pause time.Duration
}

func (c *Checkout) open() (*locks, error) {
	folder := filepath.Join(c.Dir, ownFolder)
	if err := atomicfile.MkdirAll(folder); err != nil {
		return nil, fmt.Errorf("lock the checkout for its build: %w: make the folder writable", err)
	}
	return &locks{file: flock.New(filepath.Join(folder, "build.lock")), dir: c.Dir, say: c.Say, done: map[string]string{},
		pause: minPause}, nil
}

// share waits until no other process builds.
func (l *locks) share(ctx context.Context, wait Waiting) error {
	_ = l.file.Unlock()
	for {
		switch ok, err := l.file.TryRLock(); {
		case err != nil:
			return l.explain(err)
		case ok:
			return nil
		}
		if err := l.wait(ctx, wait, "builds"); err != nil {
			return err
		}
	}
}

// own takes the checkout for a build, or waits a moment where another process builds or
// measures in it.
func (l *locks) own(ctx context.Context, wait Waiting) (bool, error) {
	_ = l.file.Unlock()
	ok, err := l.file.TryLock()
	if err != nil {
		return false, l.explain(err)
	}
	if !ok {
		err = l.wait(ctx, wait, "builds or measures")
	}
	return ok, err
}

func (l *locks) explain(err error) error {
	return fmt.Errorf("lock the checkout for its build: %w: make %s writable", err, l.file.Path())
}

// The pauses between two looks at a lock, and at the files of a build, grow.
const (
	minPause = 20 * time.Millisecond
	maxPause = 2 * time.Second
)

// wait waits a moment. The first one starts the time that all of them may take together.
func (l *locks) wait(ctx context.Context, wait Waiting, does string) error {
	if l.limit == nil {
		l.limit = time.After(wait.Max)
		l.say(fmt.Sprintf("waiting up to %v for another accelgate that %s in %s", wait.Max, does, l.dir))
	}
	l.pause = min(2*l.pause, maxPause)
	select {
	case <-time.After(l.pause):
		return nil
	case <-l.limit:
		return fmt.Errorf("another accelgate %s in %s: wait for it, raise limits.lease, or measure in a checkout of its own", does, l.dir)
	case <-ctx.Done():
		return context.Cause(ctx)
	}
}
