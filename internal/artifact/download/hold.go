package download

import (
	"context"
	"sync"

	"github.com/gofrs/flock"
)

// Holds keep what was fetched from eviction, by this process and others, until
// Release. Locks end with their process. It may be used concurrently; nil keeps
// nothing.
type Holds struct {
	mu    sync.Mutex
	locks []*flock.Flock
}

// Release ends all holds. It may be called more than once.
func (h *Holds) Release() {
	if h == nil {
		return
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	for _, lock := range h.locks {
		_ = lock.Close()
	}
	h.locks = nil
}

// hold keeps a snapshot until Holds are released, and notes that it was used now.
func (f *fetch) hold(ctx context.Context, snapshot string) error {
	if f.Holds == nil || f.held == snapshot {
		return nil
	}
	lock := flock.New(f.cache.holdPath(snapshot), flock.SetPermissions(0o644))
	if _, err := lock.TryRLockContext(ctx, lockAsk); err != nil {
		switch {
		case ctx.Err() != nil:
			return ctx.Err()
		case f.Offline:
			return nil // a folder that cannot be written is not evicted from either
		}
		return errLock(err)
	}
	// The time of this file is that of the last use; where it cannot be written, it is an earlier one.
	_ = f.cache.root.WriteFile(usedPath(snapshot), []byte("used\n"), 0o644)
	f.held = snapshot
	f.Holds.mu.Lock()
	defer f.Holds.mu.Unlock()
	f.Holds.locks = append(f.Holds.locks, lock)
	return nil
}

// try takes a lock alone unless it is taken.
func try(path string) (unlock func(), ok bool) {
	lock := flock.New(path, flock.SetPermissions(0o644))
	if ok, err := lock.TryLock(); err != nil || !ok {
		return nil, false
	}
	return func() { _ = lock.Close() }, true
}
