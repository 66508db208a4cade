package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"strings"
	"syscall"
)

// Unwritten is a file or folder that could not be written.
type Unwritten struct {
	Path  string
	Bytes int64  // of a file, written until then
	Flag  string // that names another place; "" if there is none
	Err   error
}

// Error reports the place, the cause, where the disk is full the bytes written, and what to do.
func (u *Unwritten) Error() string {
	cause, step := u.Err.Error(), ""
	switch {
	case errors.Is(u.Err, syscall.ENOSPC), errors.Is(u.Err, syscall.EDQUOT):
		cause += fmt.Sprintf(" after %d bytes", u.Bytes)
		step = "free space, or "
	case errors.Is(u.Err, fs.ErrPermission):
		step = "make its folder writable, or "
	}
	message := fmt.Sprintf("write %s: %s: %sname another place", u.Path, cause, step)
	if u.Flag != "" {
		message += " with " + u.Flag
	}
	return message
}

func (u *Unwritten) Unwrap() error { return u.Err }

// Elsewhere adds the flag that names another place to an error of this package.
func Elsewhere(err error, flag string) error {
	if u, ok := errors.AsType[*Unwritten](err); ok {
		u.Flag = flag
	}
	return err
}

// unwritten is the error of the file at path that a place in temp stands for.
func unwritten(path, temp string, err error) error {
	u := &Unwritten{Path: path, Err: cause(err)}
	if info, err := os.Stat(temp); err == nil && info.Mode().IsRegular() {
		u.Bytes = info.Size()
	}
	return u
}

// cause is an error of the system without the names of files.
func cause(err error) error {
	if p, ok := errors.AsType[*fs.PathError](err); ok {
		return p.Err
	}
	if l, ok := errors.AsType[*os.LinkError](err); ok {
		return l.Err
	}
	return err
}

// filling is the error of a program that writes the file or folder temp for path: the system's about temp names path.
func filling(path, temp string, err error) error {
	if u, ok := errors.AsType[*Unwritten](err); ok && strings.HasPrefix(u.Path, temp) {
		u.Path = path
		return u
	}
	if p, ok := errors.AsType[*fs.PathError](err); ok && strings.HasPrefix(p.Path, temp) {
		return unwritten(path, p.Path, err)
	}
	return err
}
