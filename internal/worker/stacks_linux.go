package worker

import (
	"bytes"
	"context"
	"debug/buildinfo"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// mostDumped bounds the processes of a tree that are asked.
const mostDumped = 16

// askForStacks has each process of the tree print its stacks: Go programs and Java virtual
// machines by SIGQUIT, Python by py-spy. It reports whether one was sent a signal, which would
// end other programs, some with a large core file.
func (c *child) askForStacks(to *stacks, environ []string) (signalled bool) {
	n := 0
	eachNumberIn("/proc", func(pid int) {
		if n == mostDumped || !c.carries(environOf(pid)) {
			return
		}
		n++
		switch name := programOf(pid); {
		case isGo(pid) || isJava(pid):
			to.note("process %d, %s:", pid, name)
			signalled = syscall.Kill(pid, syscall.SIGQUIT) == nil || signalled
		case strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy"):
			to.note("process %d, %s:", pid, name)
			pySpy(to, pid, environ)
		default:
			to.note("process %d, %s: %s", pid, name, stateOf(pid))
		}
	})
	return signalled
}

// pySpyWait bounds the time of py-spy, which stops the process while it reads its memory.
const pySpyWait = 10 * time.Second

// pySpy has py-spy print the stacks of a process.
func pySpy(to *stacks, pid int, environ []string) {
	looks := &Isolated{Environ: environ}
	response, err := looks.Do(context.Background(), Request{Args: []string{"py-spy", "dump", "--pid", strconv.Itoa(pid)}, Timeout: pySpyWait})
	to.write(response.Stdout)
	switch {
	case errors.Is(response.StartErr, ErrNotFound):
		to.note("py-spy is not in PATH: install it for stacks of Python")
	case err != nil:
		to.note("py-spy: %v", err)
	case !response.OK():
		to.write(response.Stderr)
		to.note("py-spy: %s: it may need the capability SYS_PTRACE", response.Reason())
	}
}

// programOf is the name of the program that a process runs.
func programOf(pid int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return "unknown"
	}
	return filepath.Base(path)
}

func isGo(pid int) bool {
	_, err := buildinfo.ReadFile(fmt.Sprintf("/proc/%d/exe", pid))
	return err == nil
}

func isJava(pid int) bool {
	maps, err := os.ReadFile(fmt.Sprintf("/proc/%d/maps", pid))
	return err == nil && bytes.Contains(maps, []byte("/libjvm.so"))
}

// stateOf says of a program without stacks whether it runs, or waits in the kernel, and where.
func stateOf(pid int) string {
	state := "its state is unknown"
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, "State:"); ok {
			state = "state " + strings.TrimSpace(value)
		}
	}
	if wait, err := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid)); err == nil && len(wait) > 1 {
		state += ", in " + string(wait)
	}
	return state
}
