package worker

import (
	"os"
	"os/exec"
	"strconv"
	"syscall"
)

// killed is the name of the signal by which Unix reports an out-of-memory
// kill. Windows has no such thing.
const killed = "killed"

var consoleCtrlEvent = syscall.NewLazyDLL("kernel32.dll").NewProc("GenerateConsoleCtrlEvent")

// setGroup gives the child a console group of its own, so that interrupt
// reaches the child and not this process.
func setGroup(cmd *exec.Cmd) {
	cmd.SysProcAttr = &syscall.SysProcAttr{CreationFlags: syscall.CREATE_NEW_PROCESS_GROUP}
}

// interrupt asks the group of p to end. Without a console it has no effect.
func interrupt(p *os.Process) {
	const ctrlBreak = 1
	_, _, _ = consoleCtrlEvent.Call(ctrlBreak, uintptr(p.Pid))
}

// kill ends p and its descendants.
func kill(p *os.Process) {
	_ = exec.Command("taskkill", "/T", "/F", "/PID", strconv.Itoa(p.Pid)).Run()
	_ = p.Kill()
}

// sweep can do nothing here: Windows does not tell whose child a process was
// once its parent is gone. Readers are still released after a short wait.
func sweep(*os.Process) {}

// awaitExit blocks until p has exited. It waits on a handle of its own and
// leaves that of p to os/exec.
func awaitExit(p *os.Process) {
	h, err := syscall.OpenProcess(syscall.SYNCHRONIZE, false, uint32(p.Pid))
	if err != nil { // p keeps its PID taken, so it has exited and may not be inspected any more
		return
	}
	defer syscall.CloseHandle(h)
	_, _ = syscall.WaitForSingleObject(h, syscall.INFINITE)
}

func signalName(int) string { return "" }
