package worker_test

import (
	"bytes"
	"crypto/rand"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
)

// order is what the program "do" reads: a container to run next to itself.
type order struct {
	Image, Socket, Dir string
	Mounts, Args       []string
	SamePaths          bool
}

func (o order) reader(t *testing.T) *bytes.Reader {
	t.Helper()
	data, err := json.Marshal(o)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.NewReader(data)
}

// containerNested runs the worker in a container that has the engine's socket
// and some folders under other paths.
func containerNested(t *testing.T, e *testEngine) {
	folder, readOnly := t.TempDir(), t.TempDir()
	put(t, filepath.Join(folder, "file"), "of the folder")
	put(t, filepath.Join(readOnly, "file"), "of the other")
	if err := os.Mkdir(filepath.Join(folder, "sub"), 0o755); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink("sub", filepath.Join(folder, "link")); err != nil {
		t.Fatal(err)
	}
	mounts := []string{"--volume=" + folder + ":/elsewhere/work", "--volume=" + readOnly + ":/elsewhere/work/ro:ro",
		"--volume=" + strings.TrimPrefix(e.socket, "unix://") + ":/var/run/docker.sock"}
	tests := []struct {
		name    string
		options []string
		order   order
		want    string // on stdout
		wantErr string // on stderr
	}{
		{"folder", nil, order{Dir: "/elsewhere/work", Args: []string{"show", "file"}}, `"file":"of the folder"`, ""},
		{"folder below", nil, order{Dir: "/elsewhere/work/sub", Args: []string{"show"}}, `"dir":"/elsewhere/work/sub"`, ""},
		{"link", nil, order{Dir: "/elsewhere/work/link", Args: []string{"write", "through-link"}}, "through-link true", ""},
		{"longest mount", nil, order{Dir: "/elsewhere/work/ro", Args: []string{"show", "file"}}, `"file":"of the other"`, ""},
		{"stays read-only", nil, order{Dir: "/elsewhere/work/ro", Args: []string{"write", "new"}}, "new false", ""},
		{"mount", nil, order{Dir: "/elsewhere/work", Mounts: []string{"/elsewhere/work/ro:/mnt"}, Args: []string{"show", "/mnt/file"}},
			`"/mnt/file":"of the other"`, ""},
		{"host's network", []string{"--network=host"}, order{Dir: "/elsewhere/work", Args: []string{"show", "file"}}, `"file":"of the folder"`, ""},
		{"host's control groups", []string{"--cgroupns=host"}, order{Dir: "/elsewhere/work", Args: []string{"show", "file"}}, `"file":"of the folder"`, ""},
		{"no mount", nil, order{Dir: "/tmp", Args: []string{"exit", "0"}}, "", "mount the folder into accelgate's container"},
		{"socket", nil, order{Dir: "/elsewhere/work", Mounts: []string{"/var/run/docker.sock:/mnt"}, Args: []string{"exit", "0"}},
			"", "engine's socket"},
	}
	for _, test := range tests {
		t.Run(test.name, func(t *testing.T) {
			test.order.Image, test.order.Args = e.image, append([]string{"/cell"}, test.order.Args...)
			args := append([]string{"run", "--rm", "--interactive", "--security-opt=label=disable", "--entrypoint=/cell"}, mounts...)
			if len(test.options) == 0 {
				args = append(args, "--network=none")
			}
			outer := e.command(append(append(args, test.options...), e.image, "do")...)
			var stdout, stderr bytes.Buffer
			outer.Stdin, outer.Stdout, outer.Stderr = test.order.reader(t), &stdout, &stderr
			err := outer.Run()
			if err != nil || !strings.Contains(stdout.String(), test.want) || !strings.Contains(stderr.String(), test.wantErr) {
				t.Errorf("%v\nstdout: %s\nstderr: %s\nwant %q and %q", err, &stdout, &stderr, test.want, test.wantErr)
			}
		})
	}
	if _, err := os.Stat(filepath.Join(folder, "sub", "through-link")); err != nil {
		t.Error(err)
	}
}

// containerLeftovers kills what owns containers, and expects the next worker
// to remove them, but not those of others.
func containerLeftovers(t *testing.T, e *testEngine) {
	killed, living, inside := "marker-"+rand.Text(), "marker-"+rand.Text(), "marker-"+rand.Text()
	dead, alive := e.owner(t, killed), e.owner(t, living)
	name := "accelgate-test-" + strings.ToLower(rand.Text())
	nested := e.command("run", "--rm", "--interactive", "--name="+name, "--network=none", "--security-opt=label=disable", "--entrypoint=/cell",
		"--volume="+strings.TrimPrefix(e.socket, "unix://")+":/var/run/docker.sock", "--volume="+t.TempDir()+":/elsewhere", e.image, "do")
	nested.Stdin = order{Image: e.image, Dir: "/elsewhere", Args: []string{"/cell", "hold", inside}}.reader(t)
	if err := nested.Start(); err != nil {
		t.Fatal(err)
	}
	lives := func(marker string) func() bool { return func() bool { return marked(t, marker) > 0 } }
	waitFor(t, "the container in a container", lives(inside))
	waitFor(t, "the container", lives(living))
	waitFor(t, "the container to be left", lives(killed))

	_ = dead.Process.Kill()
	_ = dead.Wait()
	if out, err := e.command("rm", "--force", name).CombinedOutput(); err != nil {
		t.Fatalf("%v\n%s", err, out)
	}
	_ = nested.Wait()
	if marked(t, killed) == 0 || marked(t, inside) == 0 {
		t.Error("the containers ended with their owners: the test shows nothing")
	}
	next := func() {
		t.Helper()
		if got, err := e.worker(t).Do(within(t), e.request(t, "exit", "0")); err != nil || !got.OK() {
			t.Fatal(err, got.Reason())
		}
	}
	next()
	if marked(t, killed) > 0 || marked(t, inside) > 0 {
		t.Errorf("left of a dead process: %d, of a removed container: %d; want none", marked(t, killed), marked(t, inside))
	}
	if marked(t, living) == 0 {
		t.Error("the container of a living process was removed")
	}
	_ = alive.Process.Kill()
	_ = alive.Wait()
	next()
	if marked(t, living) > 0 {
		t.Error("the container of a process that died later is left")
	}
}

// owner starts a process that runs a container until it is killed.
func (e *testEngine) owner(t *testing.T, marker string) *exec.Cmd {
	t.Helper()
	cmd := exec.Command(e.cell, "do")
	cmd.Stdin = order{Image: e.image, Socket: e.socket, Dir: t.TempDir(), SamePaths: true, Args: []string{"/cell", "hold", marker}}.reader(t)
	if err := cmd.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	return cmd
}
