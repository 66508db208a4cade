package safetensors

import (
	"errors"
	"fmt"
	"io"
	"math"
	"os"
)

// Open opens a file that must not change while it is open, such as one of a
// dataset. Where the system can it maps the file into memory, so that only
// what is used is read.
//
// If another process shortens a mapped file, using its data ends the program: a
// file that an untrusted program has written, and may still hold open, is read
// with [Read].
func Open(path string) (*File, error) {
	return open(path, 0, math.MaxInt, mapFile)
}

// Read reads a file of at most limit bytes into memory: whatever is done to the
// file later, the tensors stay as they were when they were read. The last part
// of path may not be a symbolic link, which could name a file that this program
// may read and the one that made the link may not.
func Read(path string, limit int64) (*File, error) {
	info, err := os.Lstat(path)
	if err == nil && !info.Mode().IsRegular() {
		err = errNotRegular
	}
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return open(path, noFollow, limit, readFile)
}

var errNotRegular = errors.New("no regular file: save the tensors in one, under this name")

// A loader returns the bytes of a file, and what gives them back.
type loader func(f *os.File, size int) (data []byte, unmap func() error, err error)

func open(path string, flags int, limit int64, load loader) (*File, error) {
	f, err := os.OpenFile(path, os.O_RDONLY|nonblock|flags, 0)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	file, err := parse(f, limit, load)
	if err != nil {
		return nil, fmt.Errorf("read %s: %w", path, err)
	}
	return file, nil
}

func parse(f *os.File, limit int64, load loader) (*File, error) {
	info, err := f.Stat()
	switch {
	case err != nil:
		return nil, err
	case !info.Mode().IsRegular():
		return nil, errNotRegular
	case info.Size() > min(limit, math.MaxInt):
		return nil, fmt.Errorf("%d bytes, of which at most %d are read: save only the tensors that are asked for", info.Size(), limit)
	}
	data, unmap, err := load(f, int(info.Size()))
	if err != nil {
		return nil, fmt.Errorf("%w: end what still writes to the file", err)
	}
	file, err := Parse(data)
	if err != nil {
		return nil, errors.Join(err, unmap())
	}
	file.unmap = unmap
	return file, nil
}

func readFile(f *os.File, size int) ([]byte, func() error, error) {
	data := make([]byte, size)
	_, err := io.ReadFull(f, data)
	return data, func() error { return nil }, err
}
