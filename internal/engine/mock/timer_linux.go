package mock

import (
	"os"
	"syscall"
	"time"
	"unsafe"
)

// fileTimer is a timerfd that the runtime's poller waits for: it is as exact as the
// kernel's timers are, and no thread sleeps for it.
type fileTimer struct{ file *os.File }

// itimerspec is struct itimerspec of timerfd_settime(2).
type itimerspec struct{ interval, value syscall.Timespec }

const clockMonotonic = 1 // CLOCK_MONOTONIC of <time.h>

func newTimer() (timer, error) {
	fd, _, errno := syscall.RawSyscall(syscall.SYS_TIMERFD_CREATE, clockMonotonic, syscall.O_NONBLOCK|syscall.O_CLOEXEC, 0)
	if errno != 0 {
		return nil, os.NewSyscallError("timerfd_create", errno)
	}
	return &fileTimer{os.NewFile(fd, "timerfd")}, nil
}

// set makes the timer go off once, after d, instead of when it would have.
func (t *fileTimer) set(d time.Duration) {
	spec := itimerspec{value: syscall.NsecToTimespec(int64(max(d, 1)))} // 0 would disarm it
	raw, err := t.file.SyscallConn()
	if err != nil {
		return // it is closed
	}
	_ = raw.Control(func(fd uintptr) { // fails once it is closed; a time that is positive is valid
		_, _, _ = syscall.RawSyscall6(syscall.SYS_TIMERFD_SETTIME, fd, 0, uintptr(unsafe.Pointer(&spec)), 0, 0, 0)
	})
}

// wait waits until the timer goes off; false is that it was closed.
func (t *fileTimer) wait() bool {
	var times [8]byte
	_, err := t.file.Read(times[:])
	return err == nil
}

func (t *fileTimer) close() { _ = t.file.Close() }
