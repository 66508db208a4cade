//go:build linux || darwin

package worker

import (
	"os"
	"runtime"
	"syscall"
	"time"
)

// usageOf is what wait4(2) reports of a process.
func usageOf(state *os.ProcessState) Usage {
	if ru, ok := state.SysUsage().(*syscall.Rusage); ok {
		return ruled(ru)
	}
	return Usage{}
}

// ruled converts a usage. The unit of Maxrss is KiB, on macOS bytes.
func ruled(ru *syscall.Rusage) Usage {
	u := Usage{CPU: time.Duration(ru.Utime.Nano() + ru.Stime.Nano()), PeakRSS: int64(ru.Maxrss)}
	if runtime.GOOS == "linux" {
		u.PeakRSS <<= 10
	}
	return u
}
