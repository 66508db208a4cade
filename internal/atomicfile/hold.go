package atomicfile

import (
	"errors"
	"path/filepath"

	"github.com/gofrs/flock"
)

// Hold is the use of a folder by one process.
type Hold struct{ lock *flock.Flock }

// ErrHeld means that another process uses the folder.
var ErrHeld = errors.New("another process uses it")

// HoldFolder takes a folder for this process until Release or its end, by a lock on
// the file .lock in it.
func HoldFolder(dir string) (*Hold, error) {
	lock := flock.New(filepath.Join(dir, "."+lockName))
	locked, err := lock.TryLock()
	switch {
	case err != nil:
		return nil, err
	case !locked:
		_ = lock.Close()
		return nil, ErrHeld
	}
	return &Hold{lock}, nil
}

// Release gives the folder back.
func (h *Hold) Release() { _ = h.lock.Close() }
