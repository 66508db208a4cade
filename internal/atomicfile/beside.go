package atomicfile

import (
	"os"
	"path/filepath"
	"strings"

	"github.com/gofrs/flock"
)

// beside is the folder in which one process prepares another folder. Its lock is held as
// long as the process lives, so that others see which folders were left.
type beside struct {
	dir  string
	lock *flock.Flock
}

const lockName = "lock"

// prefix is how the names of such folders begin.
func prefix(path string) string { return "." + filepath.Base(path) + ".accelgate-" }

// begin makes the folder, and locks it.
func begin(path string) (*beside, error) {
	dir, err := os.MkdirTemp(filepath.Dir(path), prefix(path)+"*")
	if err != nil {
		return nil, err
	}
	b := &beside{dir, flock.New(filepath.Join(dir, lockName))}
	if _, err := b.lock.TryLock(); err != nil {
		b.remove()
		return nil, err
	}
	return b, nil
}

func (b *beside) remove() {
	_ = b.lock.Close() // Windows removes no open file
	_ = os.RemoveAll(b.dir)
}

// removeStale removes the folders of processes that are gone. A folder without a
// lock is left alone: it is not ours, or a process is just making it.
func removeStale(path string) {
	entries, _ := os.ReadDir(filepath.Dir(path))
	for _, e := range entries {
		dir := filepath.Join(filepath.Dir(path), e.Name())
		name := filepath.Join(dir, lockName)
		if !strings.HasPrefix(e.Name(), prefix(path)) || !e.IsDir() || !isFile(name) {
			continue
		}
		b := &beside{dir, flock.New(name, flock.SetFlag(os.O_RDWR))} // never makes the file
		if locked, err := b.lock.TryLock(); err != nil || !locked {
			continue
		}
		if _, err := os.Lstat(path); os.IsNotExist(err) { // killed between the two renames
			_ = os.Rename(filepath.Join(dir, "old"), path)
		}
		b.remove()
	}
}

// isFile reports a regular file, and no link to one.
func isFile(path string) bool {
	info, err := os.Lstat(path)
	return err == nil && info.Mode().IsRegular()
}
