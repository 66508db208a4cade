package artifact

import (
	"fmt"
	"io"
	"os"
	"path"
	"runtime"
	"slices"
)

// Extract writes the files of an archive below dir, an existing folder that
// nobody else may enter, and returns their names in the archive's order. No
// file is written before all of them were inflated and checked once, none is
// replaced, and none is left behind by an error. It holds no file in memory.
func Extract(r io.ReaderAt, size int64, dir string, o Options) (names []string, err error) {
	if err := private(dir); err != nil {
		return nil, err
	}
	a, err := open(r, size, o)
	if err != nil {
		return nil, err
	}
	for _, e := range a.files() {
		if err := a.inflate(e, io.Discard); err != nil {
			return nil, err
		}
	}
	root, err := os.OpenRoot(dir)
	if err != nil {
		return nil, fmt.Errorf("extract archive: %w: name another folder", err)
	}
	defer root.Close()
	w := writer{root: root}
	for _, e := range a.files() {
		if err := w.write(a, e); err != nil {
			w.undo()
			return nil, err
		}
		names = append(names, e.name)
	}
	return names, nil
}

// private demands a folder that no other user can reach into. Windows keeps
// that elsewhere than in the mode.
func private(dir string) error {
	info, err := os.Lstat(dir)
	switch {
	case err != nil:
		return fmt.Errorf("extract archive: %w: make the folder first", err)
	case !info.IsDir():
		return fmt.Errorf("extract archive: %s is not a folder: name one", dir)
	case runtime.GOOS != "windows" && info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("extract archive: others may enter %s (mode %v): make a folder with mode 0700", dir, info.Mode().Perm())
	}
	return nil
}

// writer remembers what it made.
type writer struct {
	root *os.Root
	made []string
}

func (w *writer) write(a *archive, e *entry) error {
	if err := w.folder(path.Dir(e.name)); err != nil {
		return fmt.Errorf("extract archive: %w: name an empty folder", err)
	}
	f, err := w.root.OpenFile(e.name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o600)
	if err != nil {
		return fmt.Errorf("extract archive: %w: name an empty folder", err)
	}
	w.made = append(w.made, e.name)
	err = a.inflate(e, f)
	if closeErr := f.Close(); err == nil && closeErr != nil {
		err = fmt.Errorf("extract archive: %w: name another folder", closeErr)
	}
	return err
}

// folder makes a folder and those around it, unless it is there.
func (w *writer) folder(name string) error {
	if name == "." {
		return nil
	}
	if info, err := w.root.Lstat(name); err == nil && info.IsDir() {
		return nil
	}
	if err := w.folder(path.Dir(name)); err != nil {
		return err
	}
	if err := w.root.Mkdir(name, 0o700); err != nil {
		return err
	}
	w.made = append(w.made, name)
	return nil
}

// undo removes what was made, the innermost first.
func (w *writer) undo() {
	for _, name := range slices.Backward(w.made) {
		_ = w.root.Remove(name)
	}
}
