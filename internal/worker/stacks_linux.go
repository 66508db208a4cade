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

// askForStacks has each process of the tree print its stacks. It reports whether one was sent a
// signal.
func (c *child) askForStacks(to *stacks, environ []string) (signalled bool) {
	_, signalled = askAll(to, environ, func(pid int) bool { return c.carries(environOf(pid)) })
	return signalled
}

// askContainer is askForStacks of the processes in a container, whose id stands in the path of
// their control group. It also reports whether there are any.
func askContainer(to *stacks, id string, environ []string) (found, signalled bool) {
	n, signalled := askAll(to, environ, func(pid int) bool {
		groups, err := os.ReadFile(fmt.Sprintf("/proc/%d/cgroup", pid))
		return err == nil && id != "" && bytes.Contains(groups, []byte(id)) && !monitors(pid)
	})
	return n > 0, signalled
}

// monitors reports whether a process is podman's own beside a container.
func monitors(pid int) bool { return programOf(pid) == "conmon" }

// askAll has processes print their stacks: Go programs and Java virtual machines by SIGQUIT,
// Python by py-spy. It reports how many there are and whether one was sent a signal, which
// would end other programs, some with a large core file.
func askAll(to *stacks, environ []string, wanted func(pid int) bool) (n int, signalled bool) {
	eachNumberIn("/proc", func(pid int) {
		if n == mostDumped || !wanted(pid) {
			return
		}
		n++
		switch name := programOf(pid); {
		case isGo(pid) || isJava(pid):
			to.note("process %d, %s:", pid, name)
			if err := syscall.Kill(pid, syscall.SIGQUIT); err != nil {
				to.note("it cannot be asked: %v: run accelgate as its user", err)
				return
			}
			signalled = true
		case strings.HasPrefix(name, "python") || strings.HasPrefix(name, "pypy"):
			to.note("process %d, %s:", pid, name)
			pySpy(to, pid, environ)
		default:
			to.note("process %d, %s: %s", pid, name, stateOf(pid))
		}
	})
	return n, signalled
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
