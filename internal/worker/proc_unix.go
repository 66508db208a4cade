//go:build linux || darwin

package worker

import (
	"os"
	"os/exec"
	"strings"
	"syscall"
	"unsafe"
)

// killed is the name of the signal that the kernel ends a process with when
// memory runs out.
var killed = syscall.SIGKILL.String()

// setGroup makes the child the leader of a process group of its own, which
// its descendants share unless they leave it on purpose.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	dieWithParent(cmd.SysProcAttr)
}

// interrupt asks the group of p to end.
func interrupt(p *os.Process) { signalGroup(p, syscall.SIGTERM) }

// kill ends the group of p.
func kill(p *os.Process) { signalGroup(p, syscall.SIGKILL) }

// sweep ends what the exited p left behind in its group.
func sweep(p *os.Process) { signalGroup(p, syscall.SIGKILL) }

// signalGroup must not be called once p was waited for: the number of the
// group may then belong to another program. An error means that no process is left.
func signalGroup(p *os.Process, sig syscall.Signal) { _ = syscall.Kill(-p.Pid, sig) }

// awaitExit blocks until p has exited and leaves it unwaited for, so that the
// number of its group stays taken.
func awaitExit(p *os.Process) {
	const pPID = 1      // P_PID of waitid(2), which package syscall lacks
	var info [16]uint64 // siginfo_t: 128 bytes on Linux, fewer on macOS
	for {
		_, _, errno := syscall.Syscall6(syscall.SYS_WAITID, pPID, uintptr(p.Pid),
			uintptr(unsafe.Pointer(&info)), syscall.WEXITED|syscall.WNOWAIT, 0, 0)
		if errno != syscall.EINTR {
			return
		}
	}
}

// signalName returns the name of a signal, or "" if there is no such signal.
func signalName(number int) string {
	name := syscall.Signal(number).String()
	if number <= 0 || strings.HasPrefix(name, "signal ") {
		return ""
	}
	return name
}
