package workflows_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const (
	repoName = "octo/repo"
	token    = "ghs_e2e0123456789" // github.token of every job
)

// world is what all scenarios share.
type world struct {
	*host
	repo      string // the repository of a user
	source    string // this checkout's files, for the workflows and actions that users name
	unguarded string // the same with a gate.yml that does not skip forks
	cache     string // act's folder, in which the jobs run
	artifacts string // what upload-artifact leaves, by run and name
	actions   string // stand-ins for the actions of others
	binary    string // act
}

// newWorld finds the tools and makes the fixture, with actions that download a release. Where a tool is absent the
// test is skipped, or fails where nothing may be missing.
func newWorld(t *testing.T) *world {
	t.Helper()
	w := makeWorld(t)
	pins, err := w.pins()
	if err != nil {
		t.Fatal(err)
	}
	w.fixture(t, func(to string) {
		copyFiles(t, to, "action.yml", "native", "site", ".github/workflows")
		put(t, filepath.Join(to, "native", "release.txt"), pins)
	})
	return w
}

// newSourceWorld is newWorld with actions that build this checkout, as users of main have them.
func newSourceWorld(t *testing.T) *world {
	t.Helper()
	w := makeWorld(t)
	w.fixture(t, func(to string) { copyFiles(t, to, ".") })
	return w
}

func makeWorld(t *testing.T) *world {
	t.Helper()
	var lacks []string
	tools := os.Getenv("ACCELGATE_TOOLS")
	if tools == "" {
		tools = filepath.Join(root(t), ".tools")
	}
	binary := filepath.Join(tools, "bin", "act")
	if _, err := os.Stat(binary); err != nil {
		if binary, err = exec.LookPath("act"); err != nil {
			lacks = append(lacks, "act: run GOBIN="+filepath.Join(tools, "bin")+" go install github.com/nektos/act@v0.2.89, or say in ACCELGATE_TOOLS where bin/act is")
		}
	}
	for _, command := range []string{"git", "bash", "go", "curl"} {
		if _, err := exec.LookPath(command); err != nil {
			lacks = append(lacks, command)
		}
	}
	h, err := theHost()
	if reason, ok := errors.AsType[missing](err); ok {
		lacks = append(lacks, string(reason))
	} else if err != nil {
		t.Fatal(err)
	}
	if len(lacks) > 0 {
		testtier.Missing(t, "the workflows were NOT tested, as these are missing:\n  "+strings.Join(lacks, "\n  "))
	}
	dir := t.TempDir()
	return &world{host: h, repo: filepath.Join(dir, "repo"), source: filepath.Join(dir, "accelgate"), unguarded: filepath.Join(dir, "unguarded"),
		cache: filepath.Join(dir, "act"), artifacts: filepath.Join(dir, "artifacts"),
		actions: filepath.Join(root(t), "e2e", "workflows", "testdata", "actions"), binary: binary}
}

// worlds is the number of the last world.
var worlds atomic.Int32

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

// fixture makes a user's repository, with the workflows of examples, a small suite and no baselines, and
// two copies of accelgate's files for act to find, which provide fills. The gate's workflow has a name of its own, because act names containers
// after it.
func (w *world) fixture(t *testing.T, provide func(to string)) {
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
		provide(source)
		gate := filepath.Join(source, ".github", "workflows", "gate.yml")
		put(t, gate, replace(t, gate, "name: accelgate gate\n", name))
	}
	gate := filepath.Join(w.unguarded, ".github", "workflows", "gate.yml")
	put(t, gate, replace(t, gate, "github.event_name != 'pull_request' || github", "true || github"))
}

// copyFiles copies this checkout's files below some paths, but its tests.
func copyFiles(t *testing.T, to string, paths ...string) {
	t.Helper()
	files := command(t, root(t), "git", append([]string{"ls-files", "-z"}, paths...)...)
	for name := range strings.SplitSeq(strings.TrimRight(files, "\x00"), "\x00") {
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
