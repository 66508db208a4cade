package workers_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/harness/workers"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// written is the folder with all workers, and the C worker compiled, once.
var written = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "accelgate-workers-")
	if err != nil {
		return "", err
	}
	return dir, workers.Write(dir)
})

func folder(t testing.TB) string {
	t.Helper()
	dir, err := written()
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

var compiled = sync.OnceValues(func() (string, error) {
	dir, err := written()
	if err != nil {
		return "", err
	}
	args, program := workers.Compile("cc", dir)
	if out, err := exec.Command(args[0], append(args[1:], "-Wall", "-Wextra", "-Werror")...).CombinedOutput(); err != nil {
		return "", fmt.Errorf("%w\n%s", err, out)
	}
	return program, nil
})

// interpreter finds a Python that has a module: the system's own is tried
// beside the first on the path, because that is where packages put torch.
var interpreter = func() func(module string) string {
	var found sync.Map
	return func(module string) string {
		once, _ := found.LoadOrStore(module, sync.OnceValue(func() string {
			for _, python := range []string{os.Getenv("ACCELGATE_TEST_PYTHON"), "python3", "/usr/bin/python3"} {
				if python != "" && exec.Command(python, "-c", "import "+module).Run() == nil {
					return python
				}
			}
			return ""
		}))
		return once.(func() string)()
	}
}()

// command starts a worker: torch, trusted, numpy or c.
func command(t testing.TB, kind string) []string {
	t.Helper()
	if kind == "c" {
		if _, err := exec.LookPath("cc"); err != nil {
			testtier.Missing(t, "the C worker was NOT tested: install a C compiler named cc")
		}
		program, err := compiled()
		if err != nil {
			t.Fatal(err)
		}
		return []string{program}
	}
	module, program := "torch", workers.Torch
	if kind == "numpy" {
		module, program = "numpy", workers.Numpy
	}
	python := interpreter(module)
	if python == "" {
		testtier.Missing(t, fmt.Sprintf("the worker for %s was NOT tested: install Debian's python3-%s", module, module))
	}
	args := workers.Python(python, folder(t), program)
	if kind == "trusted" {
		args = append(args, workers.Trusted)
	}
	return args
}

// process is a worker and our end of its protocol, without the client that
// accelgate has: what is tested is what it writes.
type process struct {
	testing.TB
	in  io.WriteCloser
	out *bufio.Scanner
	cmd *exec.Cmd
	seq int
}

func start(t testing.TB, kind string) *process {
	t.Helper()
	args := command(t, kind)
	cmd := exec.Command(args[0], args[1:]...)
	cmd.Env = append(os.Environ(), "OMP_NUM_THREADS=1")
	in, err := cmd.StdinPipe()
	if err != nil {
		t.Fatal(err)
	}
	out, err := cmd.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	p := &process{TB: t, in: in, out: bufio.NewScanner(out), cmd: cmd, seq: 40}
	timer := time.AfterFunc(2*time.Minute, func() { _ = cmd.Process.Kill() })
	t.Cleanup(func() {
		timer.Stop()
		_ = in.Close()
		_ = cmd.Wait()
	})
	return p
}

// ask sends an object without its seq and returns the reply, nil at the end of
// the output. It fails the test for any line that is no reply and no event.
func (p *process) ask(request string) map[string]any {
	p.Helper()
	p.seq += 3
	if _, err := fmt.Fprintf(p.in, `{"seq":%d,%s`+"\n", p.seq, request[1:]); err != nil {
		p.Fatalf("%s: %v", request, err)
	}
	for p.out.Scan() {
		var m map[string]any
		if err := json.Unmarshal(p.out.Bytes(), &m); err != nil {
			p.Fatalf("%s: the worker wrote %.200q: %v", request, p.out.Text(), err)
		}
		switch {
		case m["event"] == "alive" && len(m) == 1:
		case m["seq"] == float64(p.seq):
			return m
		default:
			p.Fatalf("%s: the worker wrote %.200q", request, p.out.Text())
		}
	}
	return nil
}

// must is ask for what cannot fail.
func (p *process) must(format string, args ...any) map[string]any {
	p.Helper()
	request := fmt.Sprintf(format, args...)
	reply := p.ask(request)
	if reply == nil || reply["ok"] != true {
		p.Fatalf("%s: got %v", request, reply)
	}
	return reply
}

func TestMain(m *testing.M) {
	code := m.Run()
	if dir, err := written(); err == nil {
		_ = os.RemoveAll(dir)
	}
	os.Exit(code)
}

func TestWrite(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	if err := workers.Write(dir); err != nil {
		t.Fatal(err)
	}
	for _, name := range []string{workers.Torch, workers.Numpy, workers.C, "fib_dlpack.h"} {
		want, err := workers.Text(name)
		got, readErr := os.ReadFile(filepath.Join(dir, name))
		if err != nil || readErr != nil || string(got) != want || want == "" {
			t.Errorf("%s: %d bytes, want %d (%v, %v)", name, len(got), len(want), err, readErr)
		}
	}
	if _, err := workers.Text("../workers.go"); err == nil {
		t.Error("a file that is not a worker has a text")
	}
	if err := workers.Write(filepath.Join(dir, "none")); err == nil {
		t.Error("a folder that does not exist was written to")
	}
}

// BenchmarkRequest is a request that does nothing, there and back.
func BenchmarkRequest(b *testing.B) {
	for _, kind := range []string{"torch", "numpy", "c"} {
		b.Run(kind, func(b *testing.B) {
			p := start(b, kind)
			p.must(`{"op":"hello","proto":"fib-worker/1","device":"cpu"}`)
			for b.Loop() {
				p.ask(`{"op":"release","names":[]}`)
			}
		})
	}
}
