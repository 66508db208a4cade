package worker_test

import (
	"archive/tar"
	"bytes"
	"crypto/rand"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// testEngine is a container engine with an image that holds nothing but
// testdata/cell, and an entrypoint, a command and a health check that the
// worker must not use.
type testEngine struct {
	cli    []string // its command
	socket string
	image  string
	cell   string // the program, outside of the image
}

const (
	noEngine = "containers were NOT tested: no container engine works here. Install podman or start docker; " +
		".ci/containers prepares podman on Debian and prints the value of CONTAINERS_CONF\n"
	podmanLine = "system service --time=0"
)

// builtCell is the program for the image, built once.
var builtCell = sync.OnceValues(func() (string, error) {
	dir, err := os.MkdirTemp("", "accelgate-cell-")
	if err != nil {
		return "", err
	}
	cleanUp = append(cleanUp, dir)
	build := exec.Command("go", "build", "-o", filepath.Join(dir, "cell"), "./testdata/cell")
	build.Env = append(os.Environ(), "CGO_ENABLED=0")
	if out, err := build.CombinedOutput(); err != nil {
		return "", fmt.Errorf("build the program for the image: %w: %s", err, out)
	}
	return filepath.Join(dir, "cell"), nil
})

// shortDir is a folder whose path does not hold the test's name: podman takes no runroot of more than 50 characters.
func shortDir(t testing.TB) string {
	t.Helper()
	dir, err := os.MkdirTemp("", "podman-")
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) }) // what a mount holds goes with the engine
	return dir
}

// newEngine starts podman's service on a socket and a storage of the test's
// own, or takes docker. Without one the test is skipped, or fails where
// ACCELGATE_TEST_REQUIRE=1 says that nothing may be missing.
func newEngine(t testing.TB) *testEngine {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("containers are tested on Linux only")
	}
	cell, err := builtCell()
	if err != nil {
		t.Fatal(err)
	}
	podman := []string{"podman", "--root", filepath.Join(t.TempDir(), "root"), "--runroot", shortDir(t)}
	missing := noEngine
	for _, e := range []*testEngine{
		{cli: podman, socket: "unix://" + filepath.Join(t.TempDir(), "podman.sock")},
		{cli: []string{"docker"}, socket: "unix:///var/run/docker.sock"},
	} {
		e.cell = cell
		if e.cli[0] == "podman" {
			t.Cleanup(func() { // it may leave this folder mounted on itself, each process of it once more
				waitFor(t, "podman's processes", func() bool { return marked(t, e.cli[2]) == 0 })
				for exec.Command("umount", "--lazy", filepath.Join(e.cli[2], "overlay")).Run() == nil {
					continue
				}
			})
		}
		out, err := e.load(t)
		if err == nil {
			e.serve(t)
			return e
		}
		missing += fmt.Sprintf("%s: %v\n%s", e.cli[0], err, out)
	}
	testtier.Missing(t, missing)
	return nil
}

func (e *testEngine) command(args ...string) *exec.Cmd {
	return exec.Command(e.cli[0], append(e.cli[1:len(e.cli):len(e.cli)], args...)...)
}

// load makes the image and runs it.
func (e *testEngine) load(t testing.TB) ([]byte, error) {
	e.image = "localhost/accelgate-cell:" + strings.ToLower(rand.Text())
	load := e.command("import", "--change", `ENTRYPOINT ["/cell","exit","66"]`, "--change", `CMD ["67"]`,
		"--change", "ENV FROM_IMAGE=yes", "-", e.image)
	load.Stdin = e.layer(t)
	if out, err := load.CombinedOutput(); err != nil {
		return out, err
	}
	t.Cleanup(func() {
		if out, err := e.command("rmi", "--force", e.image).CombinedOutput(); err != nil {
			t.Errorf("remove the image: %v\n%s", err, out)
		}
	})
	return e.command("run", "--rm", "--network=none", "--entrypoint=/cell", e.image, "exit", "0").CombinedOutput()
}

func (e *testEngine) layer(t testing.TB) *bytes.Buffer {
	data, err := os.ReadFile(e.cell)
	if err != nil {
		t.Fatal(err)
	}
	var layer bytes.Buffer
	w := tar.NewWriter(&layer)
	for _, h := range []*tar.Header{
		{Name: "tmp/", Typeflag: tar.TypeDir, Mode: 0o1777},
		{Name: "cell", Typeflag: tar.TypeReg, Mode: 0o755, Size: int64(len(data))},
	} {
		if err := w.WriteHeader(h); err != nil {
			t.Fatal(err)
		}
	}
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return &layer
}

// serve starts podman's service; docker's is there. It returns what kills it.
func (e *testEngine) serve(t testing.TB) (kill func()) {
	t.Helper()
	if e.cli[0] != "podman" {
		return nil
	}
	line := append(append([]string{"adopt"}, e.cli...), append(strings.Fields(podmanLine), e.socket)...)
	service := exec.Command(e.cell, line...)
	service.Dir = t.TempDir() // where it leaves files
	var log bytes.Buffer
	service.Stdout, service.Stderr = &log, &log
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	ended := make(chan struct{})
	go func() {
		_ = service.Wait()
		close(ended)
	}()
	stop := func(signal os.Signal) {
		_ = service.Process.Signal(signal)
		<-ended
	}
	t.Cleanup(func() {
		stop(syscall.SIGTERM)
		if t.Failed() {
			t.Logf("%s", &log)
		}
	})
	path := strings.TrimPrefix(e.socket, "unix://")
	waitFor(t, "podman's service", func() bool {
		conn, err := net.Dial("unix", path)
		if err == nil {
			conn.Close()
		}
		return err == nil
	})
	return func() { stop(os.Kill) }
}

// worker returns a worker on this engine.
func (e *testEngine) worker(t testing.TB) *worker.Container {
	w := &worker.Container{Image: e.image, Socket: e.socket, SamePaths: true}
	t.Cleanup(func() { w.Close() })
	return w
}

// request makes a request for a program of testdata/cell.
func (e *testEngine) request(t testing.TB, args ...string) worker.Request {
	return worker.Request{Args: append([]string{"/cell"}, args...), Dir: t.TempDir()}
}

// containers returns the ids of all containers, running or not.
func (e *testEngine) containers(t testing.TB) string {
	t.Helper()
	out, err := e.command("ps", "--all", "--quiet", "--filter", "label=accelgate.owner").CombinedOutput()
	if err != nil {
		t.Errorf("list the containers: %v\n%s", err, out)
	}
	return string(out)
}

// marked counts the processes of this host that have the marker in their
// command lines; those in containers are among them.
func marked(t testing.TB, marker string) (n int) {
	t.Helper()
	all, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(all) == 0 {
		t.Fatalf("no processes: %v", err)
	}
	for _, name := range all {
		data, _ := os.ReadFile(name) // the process may be gone by now
		if bytes.Contains(data, []byte(marker)) {
			n++
		}
	}
	return n
}

// waitFor waits until something is so.
func waitFor(t testing.TB, what string, so func() bool) {
	t.Helper()
	for end := deadline(t); !so(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s: waited in vain", what)
		}
	}
}
