package load

import (
	"syscall"
	"time"
)

// nanosleep holds the thread for d, or less when a signal interrupts it.
func nanosleep(d time.Duration) {
	t := syscall.NsecToTimespec(int64(d))
	_ = syscall.Nanosleep(&t, nil) // who waits looks at the clock again
}
