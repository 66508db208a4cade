package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace replaces the folder at path, with all that is in it, by one that write fills: it makes
// a folder beside it, .NAME.accelgate-DIGITS, and renames what is in that. On an error of write the old folder is untouched.
// Those that killed processes left there are removed first, and a folder that was
// being replaced is put back. Files in it are
// not synced one by one, because there may be many; after a crash of the system, write the folder again.
func Replace(path string, write func(dir string) error) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	dir := filepath.Dir(path)
	if err := mkdirAll(dir); err != nil {
		return unwritten(path, dir, err)
	}
	removeStale(path)
	w, err := begin(path)
	if err != nil {
		return unwritten(path, dir, err)
	}
	defer w.remove()
	filled := filepath.Join(w.dir, "new")
	if err := mkdirAll(filled); err != nil {
		return unwritten(path, w.dir, err)
	}
	if err := write(filled); err != nil {
		return filling(path, filled, err)
	}
	return swap(path, filled, filepath.Join(w.dir, "old"))
}

// swap moves the folder at path to old and filled to path.
func swap(path, filled, old string) error {
	if err := os.Rename(path, old); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("replace %s: %w", path, err)
	}
	if err := os.Rename(filled, path); err != nil {
		_ = os.Rename(old, path) // the first error says what is wrong
		return fmt.Errorf("replace %s: %w", path, err)
	}
	return nil
}
