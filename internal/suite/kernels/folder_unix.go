//go:build darwin || linux || freebsd || netbsd || openbsd || dragonfly

package kernels

import (
	"io/fs"
	"os"
	"syscall"
)

// claim locks a new folder. It reports false if the folder is another process's by
// now. Where the file system has no locks there is none.
func claim(path string) (*os.File, bool) {
	dir, err := lock(path)
	switch {
	case err == syscall.EWOULDBLOCK || os.IsNotExist(err):
		return nil, false
	case err != nil:
		return nil, true
	}
	if !names(path, dir) {
		dir.Close()
		return nil, false
	}
	return dir, true
}

// orphaned locks a folder that has no owner any more.
func orphaned(path string, seen fs.FileInfo) (*os.File, bool) {
	dir, err := lock(path)
	if err != nil {
		return nil, false
	}
	if now, err := dir.Stat(); err != nil || !os.SameFile(now, seen) {
		dir.Close()
		return nil, false
	}
	return dir, true
}

// lock opens a folder, which children do not inherit, and locks it against all
// other runs.
func lock(path string) (*os.File, error) {
	dir, err := os.OpenFile(path, os.O_RDONLY|syscall.O_NOFOLLOW|syscall.O_DIRECTORY, 0)
	if err != nil {
		return nil, err
	}
	if err := syscall.Flock(int(dir.Fd()), syscall.LOCK_EX|syscall.LOCK_NB); err != nil {
		dir.Close()
		return nil, err
	}
	return dir, nil
}

// names reports whether a path still leads to an open file.
func names(path string, file *os.File) bool {
	found, err := os.Lstat(path)
	opened, err2 := file.Stat()
	return err == nil && err2 == nil && os.SameFile(found, opened)
}

func sameOwner(a, b fs.FileInfo) bool {
	x, ok := a.Sys().(*syscall.Stat_t)
	y, ok2 := b.Sys().(*syscall.Stat_t)
	return ok && ok2 && x.Uid == y.Uid
}
