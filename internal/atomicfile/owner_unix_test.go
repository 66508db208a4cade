//go:build unix

package atomicfile_test

import (
	"os"
	"syscall"
)

func sameOwner(a, b os.FileInfo) bool {
	x, y := a.Sys().(*syscall.Stat_t), b.Sys().(*syscall.Stat_t)
	return x.Uid == y.Uid && x.Gid == y.Gid
}
