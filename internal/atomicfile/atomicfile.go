// Package atomicfile replaces files so that a reader, or the next run after a
// crash, sees either the old content or the new one and never a part of it.
package atomicfile

import (
	"fmt"
	"io"
	"os"
	"path/filepath"
)

// Write replaces the file at path with data, making its folder if it is
// missing: it writes a temporary file beside it, syncs, and renames. A file
// that exists keeps its permissions; a new one gets 0644. On an error the old
// file is untouched and no temporary file is left. A folder, a device or a pipe
// is an error.
func Write(path string, data []byte) error {
	return WriteFrom(path, func(w io.Writer) error {
		_, err := w.Write(data)
		return err
	})
}

// WriteFrom is Write for content that write produces bit by bit. Its error is
// one of the whole.
func WriteFrom(path string, write func(io.Writer) error) (err error) {
	if info, err := os.Stat(path); err == nil && !info.Mode().IsRegular() { // root could replace a device
		return fmt.Errorf("write %s: it is a folder, a device or a pipe; name a file", path)
	}
	dir := filepath.Dir(path)
	if err := mkdirAll(dir); err != nil {
		return unwritten(path, dir, err)
	}
	temp, err := os.CreateTemp(dir, "."+filepath.Base(path)+".*")
	if err != nil {
		return unwritten(path, dir, err)
	}
	defer func() {
		if err != nil {
			os.Remove(temp.Name())
		}
	}()
	if err := fill(temp, write, mode(path)); err != nil {
		if known := filling(path, temp.Name(), err); known != err {
			return known
		}
		return fmt.Errorf("write %s: %w", path, err)
	}
	if err := os.Rename(temp.Name(), path); err != nil {
		return unwritten(path, temp.Name(), err)
	}
	syncDir(dir)
	return nil
}

func mode(path string) os.FileMode {
	if info, err := os.Stat(path); err == nil {
		return info.Mode().Perm()
	}
	return 0o644
}

func fill(f *os.File, write func(io.Writer) error, mode os.FileMode) error {
	err := write(f)
	if err == nil {
		err = f.Chmod(mode)
	}
	if err == nil {
		err = f.Sync()
	}
	if closeErr := f.Close(); err == nil {
		err = closeErr
	}
	return err
}

// syncDir makes the rename itself durable. Not every system can sync a folder,
// and the content is safe either way, so its error is of no use to anyone.
func syncDir(dir string) {
	if d, err := os.Open(dir); err == nil {
		_ = d.Sync()
		d.Close()
	}
}
