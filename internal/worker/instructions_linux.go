package worker

import (
	"encoding/binary"
	"fmt"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/unix"
)

// perfEvent is what a counter of perf_event_open(2) counts.
type perfEvent struct {
	kind   uint32
	config uint64
}

// instructions are those that a processor retired in user mode, which needs no privilege.
var instructions = perfEvent{unix.PERF_TYPE_HARDWARE, unix.PERF_COUNT_HW_INSTRUCTIONS}

// NoInstructions returns why the instructions of processes are not counted here, "" where they are.
var NoInstructions = sync.OnceValue(func() string {
	fd, err := instructions.open()
	switch err {
	case nil:
		_ = unix.Close(fd)
		return ""
	case unix.EACCES, unix.EPERM:
		return "the kernel forbids it: set kernel.perf_event_paranoid to 2 or less, and let the container call perf_event_open"
	case unix.ENOENT, unix.EOPNOTSUPP, unix.ENODEV:
		return "the processor has no counter of them that this system may use, as in most virtual machines"
	}
	return fmt.Sprintf("perf_event_open: %v", err)
})

// open returns a counter of this thread and of the processes that it forks, which counts from
// their exec on. It has counted nothing of this thread.
func (e perfEvent) open() (fd int, err error) {
	attr := unix.PerfEventAttr{Type: e.kind, Config: e.config, Size: uint32(unsafe.Sizeof(unix.PerfEventAttr{})),
		Read_format: unix.PERF_FORMAT_TOTAL_TIME_ENABLED | unix.PERF_FORMAT_TOTAL_TIME_RUNNING,
		Bits: unix.PerfBitDisabled | unix.PerfBitInherit | unix.PerfBitEnableOnExec |
			unix.PerfBitExcludeKernel | unix.PerfBitExcludeHv}
	return unix.PerfEventOpen(&attr, 0, -1, -1, unix.PERF_FLAG_FD_CLOEXEC)
}

// countInstructions starts a child and counts the instructions of its process tree. count must be
// called once, after the end of the tree; it returns 0 where they are not known.
func countInstructions(start func() error) (count func() int64, err error) {
	if NoInstructions() != "" {
		return func() int64 { return 0 }, start()
	}
	return instructions.count(start)
}

// count keeps the thread that forked the child until the end: another child of this thread would
// be counted as well, and a thread that ends takes its children along (see dieWithParent).
func (e perfEvent) count(start func() error) (count func() int64, err error) {
	started, over, counted := make(chan error), make(chan struct{}), make(chan int64, 1)
	go func() {
		runtime.LockOSThread()
		defer runtime.UnlockOSThread()
		fd, opened := e.open()
		started <- start()
		<-over
		if opened != nil {
			counted <- 0
			return
		}
		counted <- readCounter(fd)
		_ = unix.Close(fd)
	}()
	err = <-started
	return func() int64 {
		close(over)
		return <-counted
	}, err
}

// readCounter returns 0 for a counter that did not count all the time, because others need the
// processor's counters or it has cores of several kinds.
func readCounter(fd int) int64 {
	var b [24]byte
	if n, err := unix.Read(fd, b[:]); n != len(b) || err != nil {
		return 0
	}
	enabled, running := binary.NativeEndian.Uint64(b[8:]), binary.NativeEndian.Uint64(b[16:])
	if running < enabled {
		return 0
	}
	return int64(binary.NativeEndian.Uint64(b[:]))
}
