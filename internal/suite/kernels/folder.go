package kernels

import (
	"cmp"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
)

// folder is a private folder for files that only this run needs. It is
// locked while its owner lives, which the kernel ends however the owner dies, so
// that the next run finds the ones left behind.
type folder struct {
	path string
	lock *os.File // nil where folders cannot be locked: those never count as left behind
}

// folderName is what all folders of this kind have before their own part.
const folderName = "accelgate-kernels-"

// makeFolder makes one in parent, "" being that for temporary files, and removes
// those that dead runs have left there.
func makeFolder(parent string) (*folder, error) {
	parent = cmp.Or(parent, os.TempDir())
	const tries = 3
	for range tries {
		path, err := os.MkdirTemp(parent, folderName+"*") // with the permissions 0700
		if err != nil {
			return nil, err
		}
		f := &folder{path: path}
		var ok bool
		if f.lock, ok = claim(path); ok {
			sweep(f)
			return f, nil
		} // another run took it for left behind, before it was locked
	}
	return nil, fmt.Errorf("folders vanish from %s as soon as they are made: see who removes them", parent)
}

// checkPrivate makes a folder that no other user can write to, or refuses the one
// that is there: what is in it is loaded and run.
func checkPrivate(path string) error {
	if err := os.MkdirAll(path, 0o700); err != nil {
		return fmt.Errorf("%w: name a folder that can be made", err)
	}
	info, err := os.Lstat(path)
	switch {
	case err != nil:
		return err
	case !info.IsDir():
		return fmt.Errorf("%s is a link or a file: name a folder", path)
	case info.Mode().Perm()&0o022 != 0 && runtime.GOOS != "windows":
		return fmt.Errorf("other users can write to %s, and what it holds is run: chmod 700 %[1]s", path)
	}
	return nil
}

// remove removes the folder with all that is in it.
func (f *folder) remove() error {
	err := os.RemoveAll(f.path)
	if f.lock != nil {
		err = errors.Join(err, f.lock.Close())
	}
	return err
}

// sweep removes the folders beside one that are of the same user and have no
// live owner. Folders that cannot be removed stay: they do no harm.
func sweep(beside *folder) {
	own, err := os.Lstat(beside.path)
	if err != nil {
		return
	}
	entries, _ := os.ReadDir(filepath.Dir(beside.path))
	for _, e := range entries {
		path := filepath.Join(filepath.Dir(beside.path), e.Name())
		info, err := os.Lstat(path)
		if !strings.HasPrefix(e.Name(), folderName) || err != nil || !info.IsDir() || info.Mode().Perm() != own.Mode().Perm() ||
			!sameOwner(info, own) {
			continue
		}
		if lock, dead := orphaned(path, info); dead {
			_ = os.RemoveAll(path)
			lock.Close()
		}
	}
}
