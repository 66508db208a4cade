package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testtier"
)

const (
	repoName = "octo/repo"
	token    = "ghs_e2e0123456789"       // github.token of every job
	image    = "act-dockeraction:latest" // what act calls the image of "uses: ./"
)

// world is what all scenarios share.
type world struct {
	repo       string // the fixture repository
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
	w := &world{repo: filepath.Join(dir, "repo"), cache: filepath.Join(dir, "act"), artifacts: filepath.Join(dir, "artifacts"),
		actions: filepath.Join(root(t), "e2e", "workflows", "testdata", "actions"), binary: binary, fakegithub: filepath.Join(dir, "fakegithub")}
	command(t, root(t), "go", "build", "-o", w.fakegithub, "./cmd/fakegithub")
	w.env = append(w.env, "DOCKER_HOST="+engine.listen(t))
	engine.build(t)
	w.fixture(t)
	return w
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
	t.Cleanup(func() {
		if out, err := try(context.Background(), "", string(e), "rmi", "--force", name); err != nil {
			t.Errorf("remove the image: %v\n%s", err, out)
		}
	})
	command(t, root(t), string(e), append(args, ".")...)
}

// fixture makes a repository of the checkout's files but its tests, with a small
// suite and no baselines, and two workflows more.
func (w *world) fixture(t *testing.T) {
	t.Helper()
	for name := range strings.SplitSeq(strings.TrimRight(command(t, root(t), "git", "ls-files", "-z"), "\x00"), "\x00") {
		if strings.HasPrefix(name, "baselines/") || strings.Contains(name, "/testdata/") || strings.HasSuffix(name, "_test.go") {
			continue // nothing that a workflow here needs
		}
		info, err := os.Lstat(filepath.Join(root(t), name))
		if errors.Is(err, os.ErrNotExist) {
			continue // deleted and not committed
		}
		if err != nil {
			t.Fatal(err)
		}
		if info.Mode().IsRegular() {
			w.copy(t, filepath.Join(root(t), name), name)
		}
	}
	w.copy(t, filepath.Join("testdata", "accelgate.yaml"), "accelgate.yaml")
	w.derive(t, "native.yml", "uses: ./\n", "uses: ./native\n", "persist-credentials: false\n      - uses: ./native", `persist-credentials: false
      - uses: actions/setup-go@d35c59abb061a4a6fb18e82ac0862c26744d6ab5 # v5.5.0
        with:
          go-version-file: go.mod
      - uses: ./native`)
	w.derive(t, "unguarded.yml", "    if: github.event_name != 'pull_request' || github.event.pull_request.head.repo.full_name == github.repository\n", "")
	w.git(t, "init", "-q", "-b", "main")
	w.git(t, "remote", "add", "origin", "https://github.com/"+repoName+".git")
	w.commit(t, "fixture")
}

// derive writes a workflow that is accelgate.yml but for some texts, each of
// which must be there.
func (w *world) derive(t *testing.T, name string, replacements ...string) {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(w.repo, ".github", "workflows", "accelgate.yml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(data)
	for i := 0; i < len(replacements); i += 2 {
		if !strings.Contains(text, replacements[i]) {
			t.Fatalf("accelgate.yml has no %q: correct e2e", replacements[i])
		}
		text = strings.ReplaceAll(text, replacements[i], replacements[i+1])
	}
	w.write(t, filepath.Join(".github", "workflows", name), text)
}

func (w *world) copy(t *testing.T, from, name string) {
	t.Helper()
	data, err := os.ReadFile(from)
	if err != nil {
		t.Fatal(err)
	}
	w.write(t, name, string(data))
}

func (w *world) write(t *testing.T, name, content string) {
	t.Helper()
	path := filepath.Join(w.repo, name)
	if err := errors.Join(os.MkdirAll(filepath.Dir(path), 0o755), os.WriteFile(path, []byte(content), 0o644)); err != nil {
		t.Fatal(err)
	}
}

func (w *world) git(t *testing.T, args ...string) string {
	t.Helper()
	return command(t, w.repo, "git", append([]string{"-c", "user.name=octo", "-c", "user.email=octo@example.com", "-c", "advice.detachedHead=false"}, args...)...)
}

// commit commits everything on the branch that is checked out.
func (w *world) commit(t *testing.T, message string) (sha string) {
	t.Helper()
	w.git(t, "add", "--all", "--force")
	w.git(t, "commit", "-q", "--allow-empty", "-m", message)
	return w.git(t, "rev-parse", "HEAD")
}
