package workflows_test

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const (
	repoName = "octo/repo"
	token    = "ghs_e2e0123456789"                                // github.token of every job
	image    = "act-accelgate-accelgate-main-dockeraction:latest" // what act calls the image of "uses: accelgate/accelgate@main"
)

// world is what all scenarios share.
type world struct {
	repo       string // the repository of a user
	source     string // this checkout's files, for the workflows and actions that users name
	unguarded  string // the same with a gate.yml that does not skip forks
	cache      string // act's folder, in which the jobs run
	artifacts  string // what upload-artifact leaves, by run and name
	actions    string // stand-ins for the actions of others
	binary     string // act
	fakegithub string
	env        []string // of act: where the container engine listens
}

// newWorld finds the tools and makes the fixture. Where a tool is absent the
// test is skipped, or fails where nothing may be missing.
func newWorld(t *testing.T) *world {
	t.Helper()
	var missing []string
	tools := os.Getenv("ACCELGATE_TOOLS")
	if tools == "" {
		tools = filepath.Join(root(t), ".tools")
	}
	binary := filepath.Join(tools, "bin", "act")
	if _, err := os.Stat(binary); err != nil {
		if binary, err = exec.LookPath("act"); err != nil {
			missing = append(missing, "act: run GOBIN="+filepath.Join(tools, "bin")+" go install github.com/nektos/act@v0.2.89, or say in ACCELGATE_TOOLS where bin/act is")
		}
	}
	for _, command := range []string{"git", "bash", "go"} {
		if _, err := exec.LookPath(command); err != nil {
			missing = append(missing, command)
		}
	}
	engine, reason := findEngine(t)
	if engine == "" {
		missing = append(missing, reason)
	}
	if len(missing) > 0 {
		testtier.Missing(t, "the workflows were NOT tested, as these are missing:\n  "+strings.Join(missing, "\n  "))
	}
	dir := t.TempDir()
	w := &world{repo: filepath.Join(dir, "repo"), source: filepath.Join(dir, "accelgate"), unguarded: filepath.Join(dir, "unguarded"),
		cache: filepath.Join(dir, "act"), artifacts: filepath.Join(dir, "artifacts"),
		actions: filepath.Join(root(t), "e2e", "workflows", "testdata", "actions"), binary: binary, fakegithub: filepath.Join(dir, "fakegithub")}
	command(t, root(t), "go", "build", "-o", w.fakegithub, "./cmd/fakegithub")
	w.env = append(w.env, "DOCKER_HOST="+engine.listen(t))
	buildOnce.Do(func() { engine.build(t) })
	w.fixture(t)
	return w
}

// What worlds that run at the same time share: the image, and the number of the last world.
var (
	buildOnce sync.Once
	removal   = func() error { return nil } // of the image
	worlds    atomic.Int32
)

func TestMain(m *testing.M) {
	flag.Parse()
	code := 1
	// The longest test takes as long as all others, and waits most of its time for containers: it starts with the first.
	if err := flag.Set("test.parallel", "4"); err == nil {
		code = m.Run()
	}
	if err := removal(); err != nil {
		fmt.Fprintln(os.Stderr, "remove the image:", err)
		code = max(code, 1)
	}
	os.Exit(code)
}

func root(t *testing.T) string {
	t.Helper()
	dir, err := filepath.Abs(filepath.Join("..", ".."))
	if err != nil {
		t.Fatal(err)
	}
	return dir
}

// command runs a program that has to succeed and returns what it prints.
func command(t *testing.T, dir, name string, args ...string) string {
	t.Helper()
	out, err := try(t.Context(), dir, name, args...)
	if err != nil {
		t.Fatalf("%s %s: %v\n%s", name, strings.Join(args, " "), err, out)
	}
	return strings.TrimSpace(out)
}

func try(ctx context.Context, dir, name string, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, name, args...)
	cmd.Dir = dir
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	out, err := cmd.CombinedOutput()
	return string(out), err
}

// engine is the command of a container engine that works.
type engine string

var buildStage = regexp.MustCompile(`(?m)^FROM (\S+) AS build$`)

// findEngine finds an engine by running the image that the Dockerfile builds in.
func findEngine(t *testing.T) (e engine, missing string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		return "", "container engine: container actions run on Linux only"
	}
	data, err := os.ReadFile(filepath.Join(root(t), "Dockerfile"))
	if err != nil {
		t.Fatal(err)
	}
	base := buildStage.FindStringSubmatch(string(data))[1]
	missing = "container engine that runs " + base + ": install podman or start docker; where no registry can be reached, .ci/containers " +
		"prepares both on Debian and prints the value of CONTAINERS_CONF"
	for _, e := range []engine{"podman", "docker"} {
		if out, err := try(t.Context(), "", string(e), "run", "--rm", "--network=host", base, "go", "version"); err != nil {
			missing += fmt.Sprintf("\n    %s: %v %s", e, err, strings.TrimSpace(out))
			continue
		}
		return e, ""
	}
	return "", missing
}

// listen returns the address at which act can talk to the engine.
func (e engine) listen(t *testing.T) string {
	t.Helper()
	if e == "docker" {
		return command(t, "", "docker", "context", "inspect", "--format", "{{.Endpoints.docker.Host}}")
	}
	dir, err := os.MkdirTemp("", "e2e") // the address of a socket has 108 characters at most
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { _ = os.RemoveAll(dir) })
	socket := filepath.Join(dir, "podman.sock")
	service := exec.Command("podman", "system", "service", "--time=0", "unix://"+socket)
	if err := service.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = service.Process.Signal(os.Interrupt)
		_ = service.Wait()
	})
	for deadline := time.Now().Add(30 * time.Second); time.Now().Before(deadline); time.Sleep(20 * time.Millisecond) {
		if c, err := net.Dial("unix", socket); err == nil {
			c.Close()
			return "unix://" + socket
		}
	}
	t.Fatal("podman system service does not listen")
	return ""
}

// build builds the image of "uses: ./" under the name that act looks for.
// Built by act itself it is the same, but without this machine's Go caches, and
// podman would keep its layers.
func (e engine) build(t *testing.T) {
	t.Helper()
	name := "docker.io/library/" + image
	args := []string{"build", "--quiet", "--network=host", "--tag", name}
	if e == "podman" {
		modules, objects, _ := strings.Cut(command(t, "", "go", "env", "GOMODCACHE", "GOCACHE"), "\n")
		args = append(args, "--pull=never", "--layers=false", "--security-opt=label=disable",
			"--volume="+modules+":/go/pkg/mod", "--volume="+objects+":/root/.cache/go-build")
	}
	removal = func() error {
		out, err := try(context.Background(), "", string(e), "rmi", "--force", name)
		if err != nil {
			return fmt.Errorf("%w\n%s", err, out)
		}
		return nil
	}
	command(t, root(t), string(e), append(args, ".")...)
}

// fixture makes a user's repository, with the workflows of examples, a small suite and no baselines, and
// two checkouts of accelgate for act to find. The gate's workflow has a name of its own, because act names containers
// after it.
func (w *world) fixture(t *testing.T) {
	t.Helper()
	for _, name := range []string{"accelgate.yml", "accelgate-forks.yml", "accelgate-chat.yml"} {
		w.write(t, filepath.Join(".github", "workflows", name), read(t, filepath.Join(root(t), "examples", "workflows", name)))
	}
	caller := filepath.Join(w.repo, ".github", "workflows", "accelgate.yml")
	put(t, caller, replace(t, caller, `["gpu-a","gpu-b","mac"]`, `["accelgate-cpu"]`, "build: make", "build: . ./build.sh"))
	put(t, filepath.Join(filepath.Dir(caller), "unguarded.yml"), replace(t, caller, "gate.yml@main", "gate.yml@unguarded"))
	w.write(t, "build.sh", "touch built\n")
	w.write(t, "accelgate.yaml", read(t, filepath.Join("testdata", "accelgate.yaml")))
	w.git(t, "init", "-q", "-b", "main")
	w.git(t, "remote", "add", "origin", "https://github.com/"+repoName+".git")
	w.commit(t, "fixture")
	name := fmt.Sprintf("name: accelgate gate %d\n", worlds.Add(1))
	for _, source := range []string{w.source, w.unguarded} {
		checkout(t, source)
		gate := filepath.Join(source, ".github", "workflows", "gate.yml")
		put(t, gate, replace(t, gate, "name: accelgate gate\n", name))
	}
	gate := filepath.Join(w.unguarded, ".github", "workflows", "gate.yml")
	put(t, gate, replace(t, gate, "github.event_name != 'pull_request' || github", "true || github"))
}

// checkout copies this checkout's files but its tests.
func checkout(t *testing.T, to string) {
	t.Helper()
	for name := range strings.SplitSeq(strings.TrimRight(command(t, root(t), "git", "ls-files", "-z"), "\x00"), "\x00") {
		if strings.Contains(name, "/testdata/") || strings.HasSuffix(name, "_test.go") || strings.HasPrefix(name, "e2e/") {
			continue
		}
		info, err := os.Lstat(filepath.Join(root(t), name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted and not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().IsRegular() {
			put(t, filepath.Join(to, name), read(t, filepath.Join(root(t), name)))
		}
	}
}

// replace returns a file with other texts in place of some, each of which it must hold.
func replace(t *testing.T, path string, replacements ...string) string {
	t.Helper()
	text := read(t, path)
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(text, replacements[i]) {
			t.Fatalf("%s has no %q: correct e2e", path, replacements[i])
		}
		text = strings.ReplaceAll(text, replacements[i], replacements[i+1])
	}
	return text
}

func read(t *testing.T, path string) string {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

func put(t *testing.T, path, content string) {
	t.Helper()
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

// write writes a file of the user's repository.
func (w *world) write(t *testing.T, name, content string) {
	t.Helper()
	put(t, filepath.Join(w.repo, name), content)
}

func (w *world) git(t *testing.T, args ...string) string {
	t.Helper()
	return gitIn(t, w.repo, args...)
}

func gitIn(t *testing.T, dir string, args ...string) string {
	t.Helper()
	return command(t, dir, "git", append([]string{"-c", "user.name=octo", "-c", "user.email=octo@example.com", "-c", "advice.detachedHead=false"}, args...)...)
}

// commit commits everything on the branch that is checked out.
func (w *world) commit(t *testing.T, message string) (sha string) {
	t.Helper()
	w.git(t, "add", "--all", "--force")
	w.git(t, "commit", "-q", "--allow-empty", "-m", message)
	return w.git(t, "rev-parse", "HEAD")
}
