package worker

import (
	"bytes"
	"io"
	"math"
	"os"
	"strconv"
	"sync"
	"syscall"
	"unsafe"
)

// process is a child of this process, by birth or by adoption.
type process struct {
	pid, group int
	dead       bool // and not waited for
}

// ours reports whether the process is in the group of this process, where
// children that are no worker's stand too.
func (p process) ours() bool { return p.group == syscall.Getpgrp() }

// children returns the children of this process, including dead ones that were
// not waited for.
//
// The kernel lists them where it was built with CONFIG_PROC_CHILDREN. That
// list may miss a child while another is being waited for (proc(5)), which
// the lock of the forest rules out. Elsewhere every process is tried.
func children() (all []process) {
	add := func(pid int) {
		if dead, ok := asChild(pid); ok {
			group, _ := syscall.Getpgid(pid)
			all = append(all, process{pid, group, dead})
		}
	}
	if !listsChildren() {
		eachNumberIn("/proc", add)
		return all
	}
	const tasks = "/proc/self/task/"
	eachNumberIn(tasks, func(thread int) {
		list, _ := os.ReadFile(tasks + strconv.Itoa(thread) + "/children") // of a thread that ended: nothing
		for field := range bytes.FieldsSeq(list) {
			add(number(field))
		}
	})
	return all
}

// childless reports whether this process has no child, dead or alive.
func childless() bool {
	const anyChild = 0 // P_ALL of waitid(2), which package syscall lacks
	const wait = syscall.WEXITED | syscall.WNOHANG | syscall.WNOWAIT | syscall.WALL
	var info [16]uint64 // siginfo_t, 128 bytes
	_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, anyChild, 0, uintptr(unsafe.Pointer(&info)), wait, 0, 0)
	return errno == syscall.ECHILD
}

var listsChildren = sync.OnceValue(func() bool {
	_, err := os.Stat("/proc/thread-self/children")
	return err == nil
})

// eachNumberIn calls yield for each name in a folder that is a number. It
// asks the kernel directly: a scan of /proc stands at the end of every cell,
// and package os would make a string of each name.
func eachNumberIn(folder string, yield func(int)) {
	fd, err := syscall.Open(folder, syscall.O_RDONLY|syscall.O_DIRECTORY|syscall.O_CLOEXEC, 0)
	if err != nil {
		return
	}
	defer syscall.Close(fd)
	const name = int(unsafe.Offsetof(syscall.Dirent{}.Name))
	for buf := make([]byte, 16<<10); ; {
		n, err := syscall.ReadDirent(fd, buf)
		if err != nil || n <= 0 {
			return
		}
		for entries := buf[:n]; len(entries) > name; {
			entry := (*syscall.Dirent)(unsafe.Pointer(&entries[0]))
			text, _, _ := bytes.Cut(entries[name:entry.Reclen], []byte{0})
			if n := number(text); n > 0 {
				yield(n)
			}
			entries = entries[entry.Reclen:]
		}
	}
}

// number returns the number that text is, or 0.
func number(text []byte) int {
	n := 0
	for _, c := range text {
		if c < '0' || c > '9' || n > math.MaxInt32/10 {
			return 0
		}
		n = 10*n + int(c-'0')
	}
	return n
}

// asChild asks the kernel about a child without waiting for it; ok is false
// where the number is not that of a child. __WALL includes those of clone(2).
func asChild(pid int) (dead, ok bool) {
	const pPID, wall = 1, 0x40000000 // P_PID and __WALL of waitid(2)
	var info [16]uint64              // siginfo_t has 128 bytes and stays zero where no process died
	_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(pid), uintptr(unsafe.Pointer(&info)),
		syscall.WEXITED|syscall.WNOHANG|syscall.WNOWAIT|wall, 0, 0)
	return info[0] != 0, errno == 0
}

// maxEnviron is more than the arguments and the environment of a process may
// take together by default (execve(2): a quarter of an 8 MiB stack, at most
// 6 MiB).
const maxEnviron = 8 << 20

// environOf returns the environment that a process was started with, or
// whatever it has put in its place, NUL after each entry; "" if that cannot be
// read, as of a dead process or of one that is just starting a program.
func environOf(pid int) string {
	file, err := os.Open("/proc/" + strconv.Itoa(pid) + "/environ")
	if err != nil {
		return ""
	}
	defer file.Close()
	data, _ := io.ReadAll(io.LimitReader(file, maxEnviron))
	return string(data)
}

// startOf returns when a process was started, in clock ticks since boot; the
// end of time if that cannot be read.
func startOf(pid int) uint64 { return startIn(statOf(pid)) }

func statOf(pid int) string {
	stat, _ := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	return string(stat)
}

func startIn(stat string) uint64 {
	if ticks, ok := fieldIn(stat, 22); ok {
		return ticks
	}
	return math.MaxUint64
}

// exiting reports whether a process is ending. It may have no memory any more, and still
// be the parent of its children.
func exiting(pid int) bool {
	const pfExiting = 0x4 // PF_EXITING of linux/sched.h
	flags, _ := fieldIn(statOf(pid), 9)
	return flags&pfExiting != 0
}

// fieldIn returns the nth field of proc_pid_stat(5), a number, from the 3rd on.
func fieldIn(stat string, n int) (value uint64, ok bool) {
	fields := statFields(stat)
	if len(fields) <= n-3 {
		return 0, false
	}
	value, err := strconv.ParseUint(fields[n-3], 10, 64)
	return value, err == nil
}

// unread returns the bytes that were written to a pipe and not read yet. A reader need not be left.
func unread(pipe *os.File) (n int32) {
	conn, err := pipe.SyscallConn()
	if err != nil {
		return 0
	}
	_ = conn.Control(func(fd uintptr) { // TIOCINQ is another name of FIONREAD in ioctl_pipe(2)
		_, _, _ = syscall.Syscall(syscall.SYS_IOCTL, fd, syscall.TIOCINQ, uintptr(unsafe.Pointer(&n)))
	})
	return n
}
