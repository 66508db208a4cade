package worker_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accelgate/accelgate/internal/worker"
)

func TestDo(t *testing.T) {
	tests := []struct {
		name, mode, arg string
		want            worker.Response
		wantReason      string
	}{
		{
			name: "success", mode: "exit", arg: "0",
			want: worker.Response{
				End: worker.Exited, Stdout: []byte("to stdout\n"), Stderr: []byte("to stderr\n"),
			},
		},
		{
			name: "failure", mode: "exit", arg: "3",
			want: worker.Response{
				End: worker.Exited, ExitCode: 3, Stdout: []byte("to stdout\n"), Stderr: []byte("to stderr\n"),
			},
			wantReason: "exit code 3",
		},
		{
			name: "no output", mode: "print", arg: "",
			want: worker.Response{End: worker.Exited},
		},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := &worker.Isolated{}
			got, err := w.Do(within(t), request(t, test.mode, test.arg))
			if err != nil {
				t.Fatal(err)
			}
			ignore := cmpopts.IgnoreFields(worker.Response{}, "Wall", "Log", "Usage")
			if diff := cmp.Diff(test.want, got, ignore, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			if got.Wall <= 0 {
				t.Errorf("wall time is %v, want more than zero", got.Wall)
			}
			if got.OK() != (test.wantReason == "") || got.Reason() != test.wantReason {
				t.Errorf("OK %v, reason %q, want reason %q", got.OK(), got.Reason(), test.wantReason)
			}
			if err := w.Close(); err != nil {
				t.Errorf("close: %v", err)
			}
		})
	}
}

func TestDoDoesNotStart(t *testing.T) {
	here := t.TempDir()
	if err := os.WriteFile(filepath.Join(here, "plain"), []byte("no program"), 0o600); err != nil {
		t.Fatal(err)
	}
	inPath := "PATH=" + here
	program := request(t, "exit", "0").Args
	tests := []struct {
		name         string
		req          worker.Request
		wantNotFound bool
		wantReason   string
	}{
		{"no arguments", worker.Request{}, false, "no program was named"},
		{"empty name", worker.Request{Args: []string{""}}, false, "did not start"},
		{"absent name", worker.Request{Args: []string{"absent"}, Env: []string{inPath}}, true, `"absent": executable file not found in PATH`},
		{"absent name, no PATH", worker.Request{Args: []string{"absent"}}, true, "not found in PATH"},
		{"absent path", worker.Request{Args: []string{filepath.Join(here, "absent")}}, true, "not found"},
		{"not executable", worker.Request{Args: []string{"plain"}, Env: []string{inPath}}, true, "not found in PATH"},
		{"relative PATH", worker.Request{Args: []string{"sh"}, Env: []string{"PATH=.:bin"}}, true, "not found in PATH"},
		{"absent folder", worker.Request{Args: program, Dir: filepath.Join(here, "gone")}, false, "working directory: "},
		{"null byte", worker.Request{Args: []string{program[0], "a\x00b"}}, false, "did not start"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := new(worker.Isolated).Do(within(t), test.req)
			if err != nil {
				t.Fatal(err)
			}
			if got.End != worker.NotStarted || got.ExitCode != -1 || got.StartErr == nil || got.OK() {
				t.Errorf("response %+v, want one that was not started", got)
			}
			if errors.Is(got.StartErr, worker.ErrNotFound) != test.wantNotFound {
				t.Errorf("start error %v wraps ErrNotFound: %v, want %v", got.StartErr, !test.wantNotFound, test.wantNotFound)
			}
			if !strings.Contains(got.Reason(), test.wantReason) {
				t.Errorf("reason %q, want it to contain %q", got.Reason(), test.wantReason)
			}
		})
	}
}

func TestDoFindsProgramInChildsPath(t *testing.T) {
	self := request(t, "print", "found").Args[0]
	name := filepath.Base(self)
	for _, test := range []struct {
		name         string
		environ, env []string
	}{
		{"of the worker", []string{"PATH=" + filepath.Dir(self)}, nil},
		{"of the request", []string{"PATH=" + t.TempDir()}, []string{"PATH=" + filepath.Dir(self)}},
	} {
		t.Run(test.name, func(t *testing.T) {
			req := request(t, "print", "found", test.env...)
			req.Args = []string{name}
			got, err := (&worker.Isolated{Environ: test.environ}).Do(within(t), req)
			if err != nil || string(got.Stdout) != "found" {
				t.Errorf("stdout %q, reason %q, error %v, want %q", got.Stdout, got.Reason(), err, "found")
			}
		})
	}
}

func TestDoSetsDir(t *testing.T) {
	dir, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	req := request(t, "dir", "")
	req.Dir = dir
	got, err := new(worker.Isolated).Do(within(t), req)
	if err != nil || string(got.Stdout) != dir {
		t.Errorf("working directory %q, error %v, want %q", got.Stdout, err, dir)
	}
}

func TestDoAfterCancel(t *testing.T) {
	cause := errors.New("the user went home")
	ctx, cancel := context.WithCancelCause(t.Context())
	cancel(cause)
	got, err := new(worker.Isolated).Do(ctx, request(t, "exit", "0"))
	if !errors.Is(err, cause) || got.End != worker.Cancelled || got.OK() {
		t.Errorf("end %q, error %v, want %q and %v", got.End, err, worker.Cancelled, cause)
	}
}

func TestDoIsConcurrent(t *testing.T) {
	w := &worker.Isolated{Environ: []string{"SHARED=1"}}
	for i := range 8 {
		t.Run(fmt.Sprint(i), func(t *testing.T) {
			t.Parallel()
			want := fmt.Sprint("own ", i)
			got, err := w.Do(within(t), request(t, "print", want, "OWN="+want))
			if err != nil || string(got.Stdout) != want {
				t.Errorf("stdout %q, error %v, want %q", got.Stdout, err, want)
			}
		})
	}
}

func TestDoKeepsBoundedOutput(t *testing.T) {
	const mib = 64
	const maxStdout, maxStderr = 1 << 20, 100
	w := &worker.Isolated{MaxStdout: maxStdout, MaxStderr: maxStderr}
	var before, after runtime.MemStats
	runtime.ReadMemStats(&before)
	got, err := w.Do(within(t), request(t, "flood", fmt.Sprint(mib)))
	runtime.ReadMemStats(&after)
	if err != nil || !got.OK() {
		t.Fatalf("reason %q, error %v, want success", got.Reason(), err)
	}
	if len(got.Stdout) != maxStdout || !got.StdoutTruncated {
		t.Errorf("kept %d bytes of stdout, truncated %v, want %d and true", len(got.Stdout), got.StdoutTruncated, maxStdout)
	}
	if len(got.Stderr) != maxStderr || !strings.HasSuffix(string(got.Stderr), "abcde\nthe end") {
		t.Errorf("kept stderr %q, want its last %d bytes", got.Stderr, maxStderr)
	}
	if used := after.TotalAlloc - before.TotalAlloc; used > 16<<20 {
		t.Errorf("allocated %d bytes for %d MiB of output, want a bounded number", used, 2*mib)
	}
}

func TestDoKeepsWholeStdoutAtTheLimit(t *testing.T) {
	w := &worker.Isolated{MaxStdout: 4}
	for arg, wantTruncated := range map[string]bool{"1234": false, "12345": true} {
		got, err := w.Do(within(t), request(t, "print", arg))
		if err != nil || string(got.Stdout) != "1234" || got.StdoutTruncated != wantTruncated {
			t.Errorf("%q: stdout %q, truncated %v, error %v, want truncated %v", arg, got.Stdout, got.StdoutTruncated, err, wantTruncated)
		}
	}
}

func TestDoLogsLastLines(t *testing.T) {
	got, err := new(worker.Isolated).Do(within(t), request(t, "log", ""))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.Split(strings.TrimSuffix(got.Log, "\n"), "\n")
	if len(lines) != 40 {
		t.Errorf("log has %d lines, want 40", len(lines))
	}
	for _, want := range []string{"100%", strings.Repeat("x", 1000) + "...", "no newline \uFFFD"} {
		if !slices.Contains(lines, want) {
			t.Errorf("log lacks the line %q:\n%s", want, got.Log)
		}
	}
	if !strings.Contains(got.Log, "line 99\n") || strings.Contains(got.Log, "line 9\n") {
		t.Errorf("log is not the end of the output:\n%s", got.Log)
	}
}

func TestDoLogsBothStreams(t *testing.T) {
	got, err := new(worker.Isolated).Do(within(t), request(t, "exit", "1"))
	if err != nil {
		t.Fatal(err)
	}
	lines := strings.SplitAfter(got.Log, "\n") // in the order in which they were read
	slices.Sort(lines)
	if diff := cmp.Diff([]string{"", "to stderr\n", "to stdout\n"}, lines); diff != "" {
		t.Errorf("log lines (-want +got):\n%s", diff)
	}
}

func TestReasonExplainsShellCodes(t *testing.T) {
	if runtime.GOOS == "windows" {
		t.Skip("a Unix convention")
	}
	for code, want := range map[int]string{
		1:   "exit code 1",
		128: "exit code 128",
		137: "exit code 137 (a shell's code for: ended by signal killed) (by the system, which may have run out of memory: look at dmesg)",
		139: "exit code 139 (a shell's code for: ended by signal segmentation fault)",
		255: "exit code 255",
	} {
		got := worker.Response{End: worker.Exited, ExitCode: code}.Reason()
		if got != want {
			t.Errorf("code %d: reason %q, want %q", code, got, want)
		}
	}
}

func TestReasonOfTimeout(t *testing.T) {
	got := worker.Response{End: worker.TimedOut, ExitCode: -1, Signal: "killed", Wall: 1234567890 * time.Nanosecond}.Reason()
	if want := "timed out after 1.235s"; got != want {
		t.Errorf("reason %q, want %q", got, want)
	}
}
