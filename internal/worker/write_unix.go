//go:build linux || darwin

package worker

import (
	"os"
	"syscall"
)

// writeNow writes what a pipe has room for, and returns how many bytes those are: 0 where it fails, too.
func writeNow(pipe *os.File, p []byte) (n int) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Write(func(fd uintptr) (done bool) { // os.Pipe made it non-blocking
		n, _ = syscall.Write(int(fd), p)
		return true
	})
	return max(n, 0)
}
