package worker_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

// hurry is a grace that a deaf child is not worth more than.
const hurry = 10 * time.Millisecond

func startProcess(t testing.TB, w *worker.Isolated, req worker.Request) *worker.Process {
	t.Helper()
	p, err := w.Start(req)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _, _ = p.Stop(worker.Cancelled) })
	return p
}

func TestProcessIsTalkedWith(t *testing.T) {
	t.Parallel()
	p := startProcess(t, new(worker.Isolated), request(t, "noop", ""))
	for id := range 3 {
		if err := <-p.Send([]byte("{\"id\":" + string(rune('0'+id)) + ",\n")); err != nil {
			t.Fatal(err)
		}
		got := <-p.Lines()
		if want := "{\"id\":" + string(rune('0'+id)) + ",\"result\":{}}"; string(got.Text) != want || got.Cut {
			t.Errorf("got %q, want %q", got.Text, want)
		}
	}
	p.CloseInput()
	got, err := p.Wait(within(t), 0)
	if err != nil || !got.OK() {
		t.Errorf("end %q, code %d, error %v, want code 0", got.End, got.ExitCode, err)
	}
}

func TestProcessLinesAreBounded(t *testing.T) {
	t.Parallel()
	text := strings.Repeat("x", 100) + "\nshort\r\n\nno end"
	p := startProcess(t, &worker.Isolated{MaxStdout: 10}, request(t, "print", text))
	var got []string
	for line := range p.Lines() {
		if line.Cut {
			line.Text = append(line.Text, "..."...)
		}
		got = append(got, string(line.Text))
	}
	if want := []string{"xxxxxxxxxx...", "short", "", "no end"}; !slices.Equal(got, want) {
		t.Errorf("lines %q, want %q", got, want)
	}
}

func TestProcessFloodIsNotKept(t *testing.T) {
	t.Parallel()
	p := startProcess(t, &worker.Isolated{MaxStderr: 100}, request(t, "flood", "4"))
	got, err := p.Wait(within(t), 0) // no reader receives the lines
	if err != nil || !got.OK() {
		t.Fatalf("end %q, code %d, error %v, want code 0", got.End, got.ExitCode, err)
	}
	if len(got.Stderr) != 100 || !bytes.HasSuffix(got.Stderr, []byte("the end")) {
		t.Errorf("stderr ends in %q, want the last 100 bytes", got.Stderr)
	}
}

func TestProcessStopsWithItsTree(t *testing.T) {
	t.Parallel()
	for name, stop := range map[string]func(*worker.Process) (worker.Response, error){
		"stop": func(p *worker.Process) (worker.Response, error) { return p.Stop(worker.TimedOut) },
		"kill": func(p *worker.Process) (worker.Response, error) { return p.Kill(worker.TimedOut) },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			l := listen(t)
			p := startProcess(t, &worker.Isolated{Grace: hurry}, request(t, "parent", "stay", l.env()))
			conns := []io.Reader{l.accept(), l.accept()}
			got, err := stop(p)
			if err != nil || got.End != worker.TimedOut {
				t.Errorf("end %q, error %v, want a timeout", got.End, err)
			}
			for _, conn := range conns {
				if _, err := io.Copy(io.Discard, conn); err != nil && !strings.Contains(err.Error(), "reset") {
					t.Errorf("a process lives on: %v", err)
				}
			}
			again, err := p.Stop(worker.Cancelled)
			if err != nil || again.End != worker.TimedOut {
				t.Errorf("the second stop: end %q, error %v, want the first answer", again.End, err)
			}
		})
	}
}

func TestProcessLeavesNoSurvivor(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := startProcess(t, &worker.Isolated{Grace: hurry}, request(t, "parent", "exit", l.env()))
	first, second := l.accept(), l.accept()
	for _, conn := range []io.Writer{first, second} {
		_, _ = conn.Write([]byte("x")) // the one that waits for it exits
	}
	if got := <-p.Lines(); string(got.Text) != "parent is done" {
		t.Fatalf("got %q", got.Text)
	}
	<-p.Exited()
	got, err := p.Stop(worker.TimedOut) // while the survivor holds both pipes
	if err != nil || !got.OK() {
		t.Errorf("end %q, error %v, want what the child itself did", got.End, err)
	}
	dies(t, first)
	dies(t, second)
}

func TestProcessWaitIsCancelled(t *testing.T) {
	t.Parallel()
	p := startProcess(t, &worker.Isolated{Grace: hurry}, request(t, "noop", ""))
	ctx, cancel := context.WithCancelCause(within(t))
	cause := errors.New("enough")
	cancel(cause)
	if got, err := p.Wait(ctx, 0); got.End != worker.Cancelled || !errors.Is(err, cause) {
		t.Errorf("end %q, error %v, want it cancelled by %v", got.End, err, cause)
	}
	if err := <-p.Send([]byte("x")); err == nil {
		t.Error("a dead process can be written to")
	}
}

func TestProcessThatNeverReadsCanBeStopped(t *testing.T) {
	t.Parallel()
	l := listen(t)
	p := startProcess(t, &worker.Isolated{Grace: hurry}, request(t, "hold", "", l.env()))
	l.accept()
	sent := p.Send(make([]byte, 4<<20))
	if _, err := p.Kill(worker.TimedOut); err != nil {
		t.Error(err)
	}
	if err := <-sent; err == nil {
		t.Error("4 MiB were written to a process that does not read")
	}
}

func TestProcessNotesAreLogged(t *testing.T) {
	t.Parallel()
	p := startProcess(t, new(worker.Isolated), request(t, "exit", "3"))
	p.Note("first\nsecond")
	got, err := p.Wait(within(t), 0)
	if err != nil || got.ExitCode != 3 || !strings.Contains(got.Log, "first\nsecond\n") || !strings.Contains(got.Log, "to stderr\n") {
		t.Errorf("code %d, error %v, log %q", got.ExitCode, err, got.Log)
	}
}

func TestStartSaysWhatIsWrong(t *testing.T) {
	t.Parallel()
	if _, err := new(worker.Isolated).Start(worker.Request{Args: []string{"no-such-program"}}); !errors.Is(err, worker.ErrNotFound) {
		t.Errorf("got %v, want not found", err)
	}
	if _, err := new(worker.Isolated).Start(worker.Request{}); err == nil {
		t.Error("nothing was started without an error")
	}
	if _, err := new(worker.Isolated).Start(worker.Request{Args: []string{os.Args[0]}, Timeout: time.Second}); err == nil {
		t.Error("a time limit was ignored")
	}
}

// BenchmarkProcess compares a round trip with one over the bare pipes of the
// same child; the two take turns.
func BenchmarkProcess(b *testing.B) {
	req := request(b, "noop", "")
	p := startProcess(b, new(worker.Isolated), req)
	in, out := barePipes(b, req)
	line := []byte("{\"id\":1,\"method\":\"run\"}\n")
	buf := make([]byte, 100)
	var times [2][]time.Duration
	for b.Loop() {
		start := time.Now()
		if _, err := in.Write(line); err != nil {
			b.Fatal(err)
		}
		if _, err := out.Read(buf); err != nil {
			b.Fatal(err)
		}
		turn := time.Now()
		sent := p.Send(line)
		<-p.Lines()
		<-sent
		times[0], times[1] = append(times[0], turn.Sub(start)), append(times[1], time.Since(turn))
	}
	for i, name := range []string{"bare-us", "process-us"} {
		slices.Sort(times[i])
		b.ReportMetric(float64(times[i][len(times[i])/2].Nanoseconds())/1000, name)
	}
}

func barePipes(b *testing.B, req worker.Request) (io.WriteCloser, io.Reader) {
	b.Helper()
	cmd := exec.Command(req.Args[0])
	cmd.Env = req.Env
	in, err := cmd.StdinPipe()
	if err != nil {
		b.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		b.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		b.Fatal(err)
	}
	b.Cleanup(func() {
		in.Close()
		_ = cmd.Wait()
	})
	return in, out
}
