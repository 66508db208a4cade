package worker

import (
	"bytes"
	"cmp"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// maxDumped bounds the processes of a tree that are asked.
const maxDumped = 16

// requestStacks has each process of the tree print its stacks. It reports whether one was sent a
// signal.
func (c *child) requestStacks(to *stacks, environ []string) (signalled bool) {
	return requestAllStacks(to, environ, func(pid int) bool { return c.carries(environOf(pid)) }).signalled
}

// requestContainerStacks is requestStacks of the processes in a container, whose id stands in the path of
// their control group. It also reports whether all of them could be asked from here.
func requestContainerStacks(to *stacks, id string, environ []string) (all, signalled bool) {
	done := requestAllStacks(to, environ, func(pid int) bool {
		groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		return err == nil && id != "" && bytes.Contains(groups, []byte(id)) && !monitors(pid)
	})
	return done.n > 0 && !done.refused, done.signalled
}

// monitors reports whether a process is podman's own beside a container.
func monitors(pid int) bool { return programOf(pid) == "conmon" }

// requestAllStacks has processes print their stacks: Python by py-spy where it is there, and others by
// SIGQUIT if they handle it, as Go programs and Java virtual machines do. It would end the rest,
// some with a large core file.
func requestAllStacks(to *stacks, environ []string, wanted func(pid int) bool) (done asked) {
	eachNumberIn("/proc", func(pid int) {
		if done.n == maxDumped || !wanted(pid) {
			return
		}
		done.n++
		name, python := programOf(pid), false
		if python = strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy"); python {
			to.note("process %d, %s:", pid, name)
			if pySpy(to, pid, environ) {
				return
			}
		}
		switch err := quit(pid); {
		case err == nil:
			done.signalled = true
			if !python {
				to.note("process %d, %s:", pid, name)
			}
		case errors.Is(err, errUnhandled) && !python:
			to.note("process %d, %s: %s", pid, name, stateOf(pid))
		case !errors.Is(err, errUnhandled):
			done.refused = true
			to.note("process %d, %s: %s; it cannot be asked for its stacks: %v: run accelgate as its user", pid, name, stateOf(pid), err)
		}
	})
	return done
}

// asked is what became of asking processes for their stacks.
type asked struct {
	n         int  // processes
	signalled bool // one was sent SIGQUIT
	refused   bool // one handles it, and it may not be sent from here
}

// errUnhandled means that a process has no handler of SIGQUIT.
var errUnhandled = errors.New("it does not handle SIGQUIT")

// quit sends SIGQUIT to a process that handles it.
func quit(pid int) error {
	if !handles(pid, syscall.SIGQUIT) {
		return errUnhandled
	}
	return syscall.Kill(pid, syscall.SIGQUIT)
}

// handles reports whether a process has a handler of a signal, by SigCgt of proc_pid_status(5).
func handles(pid int, signal syscall.Signal) bool {
	mask, err := strconv.ParseUint(statusOf(pid, "SigCgt"), 16, 64)
	return err == nil && mask>>(signal-1)&1 == 1
}

// statusOf is a field of a process's status; "" if that cannot be read.
func statusOf(pid int, field string) string {
	status, _ := os.ReadFile(fmt.Sprintf("/proc/%d/status", pid))
	for line := range strings.Lines(string(status)) {
		if value, ok := strings.CutPrefix(line, field+":"); ok {
			return strings.TrimSpace(value)
		}
	}
	return ""
}

// pySpyWait bounds the time of py-spy, which stops the process while it reads its memory.
const pySpyWait = 10 * time.Second

// pySpy has py-spy print the stacks of a process, and reports whether it did.
func pySpy(to *stacks, pid int, environ []string) bool {
	looks := &Isolated{Environ: environ}
	response, err := looks.Do(context.Background(),
		Request{Args: []string{"py-spy", "dump", "--pid", strconv.Itoa(pid)}, Timeout: pySpyWait})
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
	return err == nil && response.OK()
}

// programOf is the name of the program that a process runs.
func programOf(pid int) string {
	path, err := os.Readlink(fmt.Sprintf("/proc/%d/exe", pid))
	if err != nil {
		return "unknown"
	}
	return filepath.Base(path)
}

// stateOf returns, for a program without stacks, whether it runs or waits in the kernel, and where.
func stateOf(pid int) string {
	state := cmp.Or(statusOf(pid, "State"), "unknown")
	if wait, err := os.ReadFile(fmt.Sprintf("/proc/%d/wchan", pid)); err == nil && len(wait) > 1 {
		state += ", in " + string(wait)
	}
	return "state " + state
}
