package atomicfile

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
)

// MkdirAll makes a folder, and those above it that are missing, with the
// permissions 0755. Made by root they belong to the owner of the folder that
// they are in: GitHub starts container actions as root, and a runner that is
// not root must be able to clean its workspace for the next job.
func MkdirAll(dir string) error {
	if err := mkdirAll(dir); err != nil {
		return &Unwritten{Path: dir, Err: cause(err)}
	}
	return nil
}

func mkdirAll(dir string) error {
	err := os.Mkdir(dir, 0o755)
	if errors.Is(err, fs.ErrNotExist) {
		if err := mkdirAll(filepath.Dir(dir)); err != nil {
			return err
		}
		err = os.Mkdir(dir, 0o755)
	}
	if err == nil {
		inherit(dir)
		return nil
	}
	if info, statErr := os.Stat(dir); statErr == nil && info.IsDir() {
		return nil
	}
	return err
}
