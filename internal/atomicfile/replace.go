package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
)

// Replace replaces the folder at path, with all that is in it, by one that write fills: it makes
// a folder beside it and renames that. On an error of write the old folder is untouched. Files in it are
// not synced one by one, because there may be many; after a crash of the system, write the folder again.
func Replace(path string, write func(dir string) error) (err error) {
	if path, err = filepath.Abs(path); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	above := filepath.Dir(path)
	if err := MkdirAll(above); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	temp, err := os.MkdirTemp(above, "."+filepath.Base(path)+".*")
	if err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	defer os.RemoveAll(temp)
	filled, old := filepath.Join(temp, "new"), filepath.Join(temp, "old")
	if err := MkdirAll(filled); err != nil {
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := write(filled); err != nil {
		return err
	}
	return swap(path, filled, old)
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
