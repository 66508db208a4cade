package worker_test

import (
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// TestContainerThorough shares one engine among its tests.
func TestContainerThorough(t *testing.T) {
	testtier.Thorough(t)
	e := newEngine(t)
	t.Cleanup(func() {
		if left := e.containers(t); left != "" {
			t.Errorf("containers are left: %s", left)
		}
	})
	// Any new worker removes leftovers, so these are looked at alone.
	t.Run("leftovers", func(t *testing.T) { containerLeftovers(t, e) })
	for name, test := range map[string]func(*testing.T, *testEngine){
		"outcomes":       containerOutcomes,
		"does not start": containerDoesNotStart,
		"flood":          containerFlood,
		"sees":           containerSees,
		"writes":         containerWrites,
		"refuses":        containerRefuses,
		"timeout":        containerTimeout,
		"tree":           containerTree,
		"ends in time":   containerEndsInTime,
		"cancelled":      containerCancelled,
		"out of memory":  containerOutOfMemory,
		"many at once":   containerManyAtOnce,
		"nested":         containerNested,
		"about":          containerAbout,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			test(t, e)
		})
	}
}

// containerAbout asks the engine what it is.
func containerAbout(t *testing.T, e *testEngine) {
	got, err := (&worker.Container{Socket: e.socket}).About(t.Context())
	if err != nil || got.Command != e.cli[0] || got.Version == "" || got.Address != e.socket || len(got.Runtimes) == 0 {
		t.Errorf("got %+v, %v", got, err)
	}
}

func containerOutcomes(t *testing.T, e *testEngine) {
	tests := []struct {
		args       []string
		want       worker.Response
		wantReason string
	}{
		{
			args: []string{"exit", "0"},
			want: worker.Response{End: worker.Exited, Stdout: []byte("to stdout\n"), Stderr: []byte("to stderr\n")},
		},
		{
			args:       []string{"exit", "3"},
			want:       worker.Response{End: worker.Exited, ExitCode: 3, Stdout: []byte("to stdout\n"), Stderr: []byte("to stderr\n")},
			wantReason: "exit code 3",
		},
		{ // its output ends before it does
			args:       []string{"late"},
			want:       worker.Response{End: worker.Exited, ExitCode: 5, Stdout: []byte("here\n")},
			wantReason: "exit code 5",
		},
	}
	w := e.worker(t)
	for _, test := range tests {
		t.Run(strings.Join(test.args, " "), func(t *testing.T) {
			got, err := w.Do(within(t), e.request(t, test.args...))
			if err != nil {
				t.Fatal(err)
			}
			ignore := cmpopts.IgnoreFields(worker.Response{}, "Wall", "Log")
			if diff := cmp.Diff(test.want, got, ignore, cmpopts.EquateEmpty()); diff != "" {
				t.Errorf("response (-want +got):\n%s", diff)
			}
			if got.Wall <= 0 || got.Reason() != test.wantReason {
				t.Errorf("wall time %v, reason %q, want more than zero and %q", got.Wall, got.Reason(), test.wantReason)
			}
		})
	}
}

func containerDoesNotStart(t *testing.T, e *testEngine) {
	dir := t.TempDir()
	comma := filepath.Join(dir, "a,b")
	if err := os.Mkdir(comma, 0o700); err != nil {
		t.Fatal(err)
	}
	run := worker.Request{Args: []string{"/cell", "exit", "0"}, Dir: dir}
	tests := []struct {
		name         string
		set          func(*worker.Container)
		req          worker.Request
		wantNotFound bool
		wantReason   string
	}{
		{"no arguments", nil, worker.Request{Dir: dir}, false, "no program was named"},
		{"params", nil, worker.Request{Args: run.Args, Params: []byte("{}")}, false, "persistent"},
		{"absent program", nil, worker.Request{Args: []string{"absent"}, Dir: dir}, true, "absent"},
		{"absent path", nil, worker.Request{Args: []string{"/absent/program"}, Dir: dir}, true, "/absent/program"},
		{"absent folder", nil, worker.Request{Args: run.Args, Dir: filepath.Join(dir, "gone")}, false, "working directory: "},
		{"folder outside of root", func(w *worker.Container) { w.Root = t.TempDir() }, run, false, "choose a folder in it"},
		{"absent image", func(w *worker.Container) { w.Image = "localhost/absent:1" }, run, false, "pull localhost/absent:1'"},
		{"image that cannot be pulled", func(w *worker.Container) { w.Image, w.Pull = "localhost:1/absent:1", true }, run, false, "pull image localhost:1/absent:1: "},
		{"absent mount", func(w *worker.Container) { w.Mounts = []string{filepath.Join(dir, "gone") + ":/mnt"} }, run, false, "gone"},
		{"absent device", func(w *worker.Container) { w.Devices = []string{"/dev/absent"} }, run, false, "/dev/absent"},
		{"absent user", func(w *worker.Container) { w.User = "no-user-of-this-name" }, run, false, "no-user-of-this-name"},
		{"absent network", func(w *worker.Container) { w.Network = "absent-network" }, run, false, "absent-network"},
		{"folder with a comma", nil, worker.Request{Args: run.Args, Dir: comma}, false, "rename it"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			w := e.worker(t)
			if test.set != nil {
				test.set(w)
			}
			got, err := w.Do(within(t), test.req)
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

func containerFlood(t *testing.T, e *testEngine) {
	w := e.worker(t)
	w.MaxStdout, w.MaxStderr = 1000, 100
	got, err := w.Do(within(t), e.request(t, "flood", "16"))
	if err != nil || !got.OK() {
		t.Fatal(err, got.Reason())
	}
	if len(got.Stdout) != 1000 || !got.StdoutTruncated || !strings.HasPrefix(string(got.Stdout), "0123456789abcde\n") {
		t.Errorf("stdout has %d bytes, truncated: %v, want the first 1000 and true", len(got.Stdout), got.StdoutTruncated)
	}
	if len(got.Stderr) != 100 || !strings.HasSuffix(string(got.Stderr), "the end") || !strings.HasSuffix(got.Log, "\nthe end\n") {
		t.Errorf("stderr ends in %q and the log in %q, want the last 100 bytes and the last line", got.Stderr, got.Log[max(0, len(got.Log)-20):])
	}
}

// sight is what the program "show" prints.
type sight struct {
	Dir             string
	UID, CPUs       int
	Nodes           string
	Env, Networks   []string
	Files           map[string]string
	NoNewPrivileges bool
}

func look(t *testing.T, w *worker.Container, req worker.Request) (s sight) {
	t.Helper()
	got, err := w.Do(within(t), req)
	if err != nil || !got.OK() {
		t.Fatalf("%v %s\n%s", err, got.Reason(), got.Log)
	}
	if err := json.Unmarshal(got.Stdout, &s); err != nil {
		t.Fatalf("%v: %s", err, got.Stdout)
	}
	return s
}

func containerSees(t *testing.T, e *testEngine) {
	root, elsewhere := t.TempDir(), t.TempDir()
	put(t, filepath.Join(root, "file"), "of the root")
	put(t, filepath.Join(elsewhere, "file"), "of elsewhere")
	dir := filepath.Join(root, "sub")
	if err := os.Mkdir(dir, 0o755); err != nil {
		t.Fatal(err)
	}
	w := e.worker(t)
	w.Root, w.User, w.Mounts = root, "1234", []string{elsewhere + ":/mnt:ro"}
	w.Env = []string{"OWN=1", "HF_TOKEN=secret", "LEFT_OUT=1"}
	w.Environ = []string{"WANTED=1", "UNWANTED=1", "AWS_SECRET=1", "GITHUB_SHA=1"}
	w.Inherit = []string{"WANTED", "AWS_SECRET", "GITHUB_SHA", "UNKNOWN"}
	s := look(t, w, worker.Request{Args: []string{"/cell", "show", "../file", "/mnt/file", "/var/run/docker.sock"}, Dir: dir,
		Env: []string{"OWN=2", "MY_PASSWORD=secret", worker.CPUs + "=0", worker.Nodes + "=0"}, Unset: []string{"LEFT_OUT"}})
	want := sight{Dir: dir, UID: 1234, CPUs: 1, Nodes: "0", Networks: []string{"lo"}, NoNewPrivileges: true,
		Files: map[string]string{"../file": "of the root", "/mnt/file": "of elsewhere", "/var/run/docker.sock": "absent"}}
	if diff := cmp.Diff(want, s, cmpopts.IgnoreFields(sight{}, "Env")); diff != "" {
		t.Errorf("what the container sees (-want +got):\n%s", diff)
	}
	for _, entry := range []string{"OWN=2", "WANTED=1", "FROM_IMAGE=yes"} {
		if !slices.Contains(s.Env, entry) {
			t.Errorf("environment %q lacks %s", s.Env, entry)
		}
	}
	for _, name := range []string{"HF_TOKEN", "MY_PASSWORD", "AWS_SECRET", "GITHUB_SHA", "UNWANTED", "LEFT_OUT", "UNKNOWN"} {
		if strings.Contains(strings.Join(s.Env, "\n"), name) {
			t.Errorf("environment %q has %s", s.Env, name)
		}
	}
}

func put(t *testing.T, name, text string) {
	t.Helper()
	if err := os.WriteFile(name, []byte(text), 0o644); err != nil {
		t.Fatal(err)
	}
}

func containerWrites(t *testing.T, e *testEngine) {
	dir, readOnly := t.TempDir(), t.TempDir()
	w := e.worker(t)
	w.Mounts = []string{readOnly + ":/mnt:ro", dir + ":/copy"}
	got, err := w.Do(within(t), worker.Request{Args: []string{"/cell", "write", "one", "/copy/two", "/mnt/three"}, Dir: dir})
	if err != nil || !got.OK() {
		t.Fatal(err, got.Reason())
	}
	if want := "one true\n/copy/two true\n/mnt/three false\n"; string(got.Stdout) != want {
		t.Errorf("wrote %q, want %q", got.Stdout, want)
	}
	for _, name := range []string{"one", "two"} {
		if data, err := os.ReadFile(filepath.Join(dir, name)); string(data) != "written" {
			t.Errorf("%s: %q, %v", name, data, err)
		}
	}
}

// What would hand the engine to the container is refused.
func containerRefuses(t *testing.T, e *testEngine) {
	socket := strings.TrimPrefix(e.socket, "unix://")
	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(filepath.Dir(socket), link); err != nil {
		t.Fatal(err)
	}
	for _, mount := range []string{socket, filepath.Dir(socket), link, "/", "/run", "/var/run"} {
		w := e.worker(t)
		w.Mounts = []string{mount + ":/mnt"}
		got, err := w.Do(within(t), e.request(t, "exit", "0"))
		if err != nil || got.End != worker.NotStarted || !strings.Contains(got.Reason(), "engine's socket") {
			t.Errorf("mount %s: %v, %s %s", mount, err, got.End, got.Reason())
		}
	}
}

// However short a command is, its output is complete, and one worker serves
// many requests.
func containerManyAtOnce(t *testing.T, e *testEngine) {
	w := e.worker(t)
	var wait sync.WaitGroup
	defer wait.Wait()
	for range 4 {
		wait.Go(func() {
			for range 5 {
				got, err := w.Do(within(t), e.request(t, "exit", "0"))
				if err != nil || !got.OK() || string(got.Stdout) != "to stdout\n" || string(got.Stderr) != "to stderr\n" {
					t.Errorf("%v %s: %q, %q", err, got.Reason(), got.Stdout, got.Stderr)
				}
			}
		})
	}
}

func TestContainerWithoutEngine(t *testing.T) {
	t.Parallel()
	absent := "unix://" + filepath.Join(t.TempDir(), "absent.sock")
	tests := []struct {
		name string
		w    *worker.Container
		want string
	}{
		{"absent socket", &worker.Container{Image: "x", Socket: absent}, "start it again"},
		{"DOCKER_HOST", &worker.Container{Image: "x", Environ: []string{"DOCKER_HOST=" + absent}}, absent},
		{"other transport", &worker.Container{Image: "x", Socket: "ssh://user@host"}, "set DOCKER_HOST"},
		{"no image", &worker.Container{Socket: absent}, "set image"},
		{"malformed mount", &worker.Container{Image: "x", Mounts: []string{"here"}}, "write HOST:CONTAINER"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			got, err := test.w.Do(within(t), worker.Request{Args: []string{"true"}, Dir: t.TempDir()})
			if err == nil || !strings.Contains(err.Error(), test.want) || got.End != worker.NotStarted {
				t.Errorf("error %v, response %+v, want an error with %q", err, got, test.want)
			}
			if err := test.w.Close(); err != nil {
				t.Error(err)
			}
		})
	}
}
