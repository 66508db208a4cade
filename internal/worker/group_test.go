//go:build linux || darwin

package worker_test

import (
	"context"
	"errors"
	"os/exec"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

const terminate = syscall.SIGTERM

func leaveGroup(cmd *exec.Cmd) { cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true} }

// signalSelf is the program "signal".
func signalSelf(name string) {
	sig := map[string]syscall.Signal{"KILL": syscall.SIGKILL, "TERM": syscall.SIGTERM}[name]
	_ = syscall.Kill(syscall.Getpid(), sig)
	select {}
}

func TestDoNamesSignal(t *testing.T) {
	for arg, want := range map[string]string{
		"KILL": "ended by signal: killed (by the system, which may have run out of memory: look at dmesg)",
		"TERM": "ended by signal: terminated",
	} {
		got, err := new(worker.Isolated).Do(within(t), request(t, "signal", arg))
		if err != nil {
			t.Fatal(err)
		}
		if got.End != worker.Signalled || got.ExitCode != -1 || got.Reason() != want {
			t.Errorf("%s: end %q, code %d, reason %q, want a signal and %q", arg, got.End, got.ExitCode, got.Reason(), want)
		}
	}
}

// do runs a request beside the test.
func do(ctx context.Context, w worker.Worker, req worker.Request) func() (worker.Response, error) {
	var resp worker.Response
	var err error
	done := make(chan struct{})
	go func() {
		defer close(done)
		resp, err = w.Do(ctx, req)
	}()
	return func() (worker.Response, error) {
		<-done
		return resp, err
	}
}

// soon is a grace that a deaf child is not worth more than.
const soon = 10 * time.Millisecond

func TestTimeoutAsksFirst(t *testing.T) {
	t.Parallel()
	l := listen(t)
	conns, got, err := l.timeout(&worker.Isolated{Grace: time.Minute}, request(t, "report", "", l.env()), 1)
	if err != nil || got.End != worker.TimedOut || got.ExitCode != 7 || got.Signal != "" {
		t.Errorf("end %q, code %d, signal %q, error %v, want a timeout with the child's own code 7",
			got.End, got.ExitCode, got.Signal, err)
	}
	dies(t, conns[0])
}

func TestTimeoutKillsTheDeaf(t *testing.T) {
	t.Parallel()
	l := listen(t)
	conns, got, err := l.timeout(&worker.Isolated{Grace: soon}, request(t, "hold", "", l.env()), 1)
	if err != nil || got.End != worker.TimedOut || got.ExitCode != -1 || got.Signal != "killed" {
		t.Errorf("end %q, code %d, signal %q, error %v, want a timeout by kill", got.End, got.ExitCode, got.Signal, err)
	}
	if !strings.HasPrefix(got.Reason(), "timed out after ") {
		t.Errorf("reason %q, want a timeout", got.Reason())
	}
	dies(t, conns[0])
}

func TestCancelStopsTheChild(t *testing.T) {
	l := listen(t)
	cause := errors.New("interrupted")
	ctx, cancel := context.WithCancelCause(within(t))
	wait := do(ctx, &worker.Isolated{Grace: time.Minute}, request(t, "report", "", l.env()))
	conn := l.accept()
	cancel(cause)
	got, err := wait()
	if !errors.Is(err, cause) || got.End != worker.Cancelled || got.ExitCode != 7 {
		t.Errorf("end %q, code %d, error %v, want %q, 7 and %v", got.End, got.ExitCode, err, worker.Cancelled, cause)
	}
	dies(t, conn)
}

// A grandchild that keeps the pipes open must neither hold up Do nor survive
// it, however the child itself ended.

func TestNothingIsLeftBehindByAnExit(t *testing.T) {
	t.Parallel()
	l := listen(t)
	wait := do(within(t), new(worker.Isolated), request(t, "parent", "exit", l.env()))
	parent, grandchild := l.accept(), l.accept() // in either order
	parent.Write([]byte{1})
	grandchild.Write([]byte{1})
	got, err := wait()
	if err != nil || !got.OK() || string(got.Stdout) != "parent is done\n" {
		t.Errorf("reason %q, stdout %q, error %v, want success and all output", got.Reason(), got.Stdout, err)
	}
	dies(t, parent)
	dies(t, grandchild)
}

func TestNothingIsLeftBehindByATimeout(t *testing.T) {
	t.Parallel()
	l := listen(t)
	conns, got, err := l.timeout(&worker.Isolated{Grace: soon}, request(t, "parent", "stay", l.env()), 2)
	if err != nil || got.End != worker.TimedOut {
		t.Errorf("end %q, error %v, want %q", got.End, err, worker.TimedOut)
	}
	dies(t, conns[0])
	dies(t, conns[1])
}

func TestNothingIsLeftBehindByACancel(t *testing.T) {
	t.Parallel()
	l := listen(t)
	ctx, cancel := context.WithCancel(within(t))
	defer cancel()
	wait := do(ctx, &worker.Isolated{Grace: soon}, request(t, "parent", "stay", l.env()))
	first, second := l.accept(), l.accept()
	cancel()
	if got, err := wait(); !errors.Is(err, context.Canceled) || got.End != worker.Cancelled {
		t.Errorf("end %q, error %v, want %q", got.End, err, worker.Cancelled)
	}
	dies(t, first)
	dies(t, second)
}

// A process that left the group cannot hold up Do, even where it is out of reach.
func TestDaemonDoesNotHoldUp(t *testing.T) {
	t.Parallel()
	l := listen(t)
	wait := do(within(t), new(worker.Isolated), request(t, "daemon", "exit", l.env()))
	first, second := l.accept(), l.accept()
	first.Write([]byte{1})
	second.Write([]byte{1})
	got, err := wait()
	if err != nil || !got.OK() || string(got.Stdout) != "parent is done\n" {
		t.Errorf("reason %q, stdout %q, error %v, want success", got.Reason(), got.Stdout, err)
	}
}
