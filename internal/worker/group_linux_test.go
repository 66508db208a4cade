package worker_test

import (
	"bufio"
	"context"
	"fmt"
	"io"
	"net"
	"os"
	"os/exec"
	"runtime"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

var systemPrograms = map[string]func(string){
	"signal":    signalSelf,
	"traced":    traced,
	"tracer":    tracer,
	"sleep":     func(string) { time.Sleep(time.Hour) },
	"orphan":    func(string) { start("sleep", false) },
	"first":     first,
	"secretive": parentWithSecret,
	"doomed":    doomed,
	"leaver":    leaver,
	"leftover":  leftover,
	"nest":      nest,
	"hog":       hog,
}

func traced(string) {
	const setPtracer, anyone = 0x59616d61, ^uintptr(0) // PR_SET_PTRACER, PR_SET_PTRACER_ANY
	_, _, _ = syscall.RawSyscall(syscall.SYS_PRCTL, setPtracer, anyone, 0)
	os.Setenv(childArg, strconv.Itoa(os.Getpid()))
	start("tracer", true)
	time.Sleep(time.Hour)
}

func tracer(arg string) { // not getppid: by now the parent may be dead, and the test adopts orphans
	runtime.LockOSThread() // tracing belongs to the thread
	message := "traced"
	tracee, _ := strconv.Atoi(arg)
	if err := syscall.PtraceAttach(tracee); err != nil {
		message = err.Error()
	}
	_, _ = io.Copy(io.Discard, dial(message))
}

// A child that hangs in the kernel cannot be made at will. One whose death is
// withheld looks the same from here: a tracer gets the exit first, and the
// parent only once the tracer has let go.
func TestUnkillableChildIsAnError(t *testing.T) {
	t.Parallel()
	l := listen(t)
	w := &worker.Isolated{Grace: soon, KillWait: soon}
	var got worker.Response
	var err error
	message := ""
	for try := 1; message == ""; try++ { // one that is killed between connecting and writing says nothing
		var conns []net.Conn
		var readErr error
		conns, got, err = l.timeout(w, request(t, "traced", "", l.env()), 1)
		if message, readErr = bufio.NewReader(conns[0]).ReadString('\n'); readErr != nil && try == 10 {
			t.Fatal(readErr)
		}
	}
	if message != "traced\n" {
		t.Skipf("this system does not let a process trace its parent: %s", message)
	}
	if err == nil || !strings.Contains(err.Error(), "after it was killed") {
		t.Errorf("error %v, want one that says that the child does not die", err)
	}
	if got.End != worker.TimedOut || got.ExitCode != -1 || got.Wall <= 0 {
		t.Errorf("response %+v, want a timeout without an exit code", got)
	}
}

// first is the first process of a container: it inherits every orphan.
func first(string) {
	self, err := os.Executable()
	if err == nil {
		err = syscall.Mount("proc", "/proc", "proc", 0, "")
	}
	if err != nil {
		fmt.Println(err)
		return
	}
	req := worker.Request{Args: []string{self}, Env: []string{childMode + "=orphan", "GORACE=atexit_sleep_ms=0"}}
	resp, err := new(worker.Isolated).Do(context.Background(), req)
	left, waitErr := syscall.Wait4(-1, nil, syscall.WNOHANG, nil)
	fmt.Print(os.Getpid(), resp.OK(), err, left, waitErr)
}

func TestFirstProcessKeepsNoZombies(t *testing.T) {
	t.Parallel()
	cmd := exec.Command(request(t, "first", "").Args[0])
	cmd.Env = request(t, "first", "").Env
	cmd.SysProcAttr = &syscall.SysProcAttr{Cloneflags: syscall.CLONE_NEWPID, Unshareflags: syscall.CLONE_NEWNS}
	if os.Geteuid() != 0 {
		cmd.SysProcAttr.Cloneflags |= syscall.CLONE_NEWUSER
	}
	got, err := cmd.CombinedOutput()
	if err != nil || strings.Contains(string(got), "not permitted") {
		t.Skipf("this system does not let us start a container: %v\n%s", err, got)
	}
	if want := fmt.Sprint(1, true, nil, -1, syscall.ECHILD); string(got) != want {
		t.Errorf("first process, success, error, left over: %s, want %s", got, want)
	}
}
