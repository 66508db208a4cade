package worktree

import (
	"io/fs"
	"syscall"
	"time"
)

// inodeOf returns when the inode of a file was changed last, and its number.
func inodeOf(info fs.FileInfo) (time.Time, uint64) {
	s, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return time.Time{}, 0
	}
	return time.Unix(s.Ctimespec.Unix()), s.Ino
}
