//go:build unix

package safetensors

import (
	"os"
	"syscall"
)

const (
	nonblock = syscall.O_NONBLOCK // opening a pipe would wait for its writer
	noFollow = syscall.O_NOFOLLOW
)

// mapFile reads what cannot be mapped: files of some file systems, and empty
// ones.
func mapFile(f *os.File, size int) ([]byte, func() error, error) {
	data, err := syscall.Mmap(int(f.Fd()), 0, size, syscall.PROT_READ, syscall.MAP_SHARED)
	if err != nil {
		return readFile(f, size)
	}
	return data, func() error { return syscall.Munmap(data) }, nil
}
