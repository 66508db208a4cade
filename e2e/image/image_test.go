package image_test

import (
	"context"
	"crypto/rand"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/goccy/go-yaml"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestImageThorough builds the image of action.yml and starts it as GitHub's runner
// starts a container action: a warning without a baseline, green with one, one
// comment throughout, and no need for root or for a writable image. The recipes of docs/containers.md need it, too.
func TestImageThorough(t *testing.T) {
	testtier.Thorough(t)
	engine, base := containerEngine(t)
	action := readManifest(t)
	image := engine.build(t, action.Runs.Image)
	server, address := githubtest.New(t, githubtest.State{
		Repos: []githubtest.Repo{{Name: "octo/repo", Branches: map[string]map[string]string{"work": {"main.go": "package main\n"}},
			PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work"}}}},
		Tokens: []githubtest.Token{{Value: stepToken, Login: "github-actions[bot]", Integration: true,
			Permissions: map[string]string{"contents": "read", "pull-requests": "write", "checks": "write"}}},
	})
	head := server.Head("octo/repo", "work")
	event := fmt.Sprintf(`{"number": 1, "pull_request": {"number": 1,
		"head": {"sha": %q, "ref": "work", "repo": {"full_name": "octo/repo"}},
		"base": {"sha": %q, "ref": "main", "repo": {"full_name": "octo/repo"}}},
		"repository": {"full_name": "octo/repo", "default_branch": "main"}}`, head, server.Head("octo/repo", "main"))
	env := stepEnv(address, head, action.inputs(map[string]string{"only": "*__short_text__baseline"}))

	s := newStep(t, engine, base, event, 0o644)
	published := func(t *testing.T, conclusion, text string) {
		t.Helper()
		comments, checks := server.Comments("octo/repo", 1), server.CheckRuns("octo/repo", head)
		if len(comments) != 1 || !strings.Contains(comments[0].Body, text) {
			t.Errorf("comments are %+v, want one with %q", comments, text)
		}
		// Each run of a workflow has a check run of its own; the newest of a name counts.
		if len(checks) == 0 || checks[len(checks)-1].Conclusion != conclusion {
			t.Errorf("check runs are %+v, want that the last one says %s", checks, conclusion)
		}
		for _, k := range checks {
			if k.Status != "completed" {
				t.Errorf("check run %d lingers: %s", k.ID, k.Status)
			}
		}
	}
	t.Run("the first run creates the comment", func(t *testing.T) {
		s.run(t, 1, image, env, nil, action.Runs.Args)
		s.left(t, "action_required", "speed was NOT judged")
		published(t, "action_required", "speed was NOT judged")
	})
	t.Run("the second run updates it", func(t *testing.T) {
		s.run(t, 0, image, env, nil, []string{"baseline", "update", "--from", ".accelgate/run.json", "--reason", "first"})
		env["INPUT_THRESHOLD"] = "99" // the host is running other tests
		s.run(t, 0, image, env, nil, action.Runs.Args)
		s.left(t, "passed", "Passed")
		published(t, "success", "Passed")
	})
	t.Run("any user on a read-only image", func(t *testing.T) {
		s := newStep(t, engine, base, event, 0o666)
		s.run(t, 1, image, env, []string{"--read-only", "--user=1001:121", "--cap-drop=all", "--security-opt=no-new-privileges"}, action.Runs.Args)
		s.left(t, "action_required", "speed was NOT judged")
		published(t, "action_required", "speed was NOT judged")
	})
	t.Run("docs/containers.md", func(t *testing.T) { recipes(t, engine, image) })
}

// manifest is what the runner takes from action.yml.
type manifest struct {
	Inputs map[string]struct {
		Default string `yaml:"default"`
	} `yaml:"inputs"`
	Runs struct {
		Image string   `yaml:"image"`
		Args  []string `yaml:"args"`
	} `yaml:"runs"`
}

func readManifest(t *testing.T) (m manifest) {
	t.Helper()
	if err := yaml.Unmarshal([]byte(repositoryFile(t, "action.yml")), &m); err != nil {
		t.Fatal(err)
	}
	return m
}

// stepToken is the github.token of the steps.
const stepToken = "s3cret-for-the-test"

// inputs returns the variables of all inputs: what the workflow gives, else
// the default.
func (m *manifest) inputs(with map[string]string) map[string]string {
	env := map[string]string{}
	for name, input := range m.Inputs {
		value, given := with[name]
		if !given {
			value = input.Default
		}
		env["INPUT_"+strings.ToUpper(name)] = strings.ReplaceAll(value, "${{ github.token }}", stepToken)
	}
	return env
}

func repositoryFile(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// engine is the command of a container engine that works.
type engine string

var buildStage = regexp.MustCompile(`(?m)^FROM (\S+) AS build$`)

// containerEngine finds an engine by running the image that the Dockerfile
// builds in, which is then known to be there. Without one the test is skipped,
// or fails where ACCELGATE_TEST_REQUIRE=1 says that nothing may be missing.
func containerEngine(t *testing.T) (e engine, base string) {
	t.Helper()
	if runtime.GOOS != "linux" {
		t.Skip("container actions run on Linux only")
	}
	base = buildStage.FindStringSubmatch(repositoryFile(t, "Dockerfile"))[1]
	missing := "the image was NOT tested: no container engine runs " + base + ". Install podman or start docker; where no registry " +
		"can be reached, .ci/containers prepares both on Debian and prints the value of CONTAINERS_CONF\n"
	for _, e := range []engine{"podman", "docker"} {
		out, err := e.command(t.Context(), "run", "--rm", "--network=host", base, "go", "version")
		if err == nil {
			return e, base
		}
		missing += fmt.Sprintf("%s: %v\n%s", e, err, out)
	}
	testtier.Missing(t, missing)
	return "", ""
}

// command runs the engine and returns what it prints. An interrupt rather than
// a kill lets it remove its container when time is up.
func (e engine) command(ctx context.Context, args ...string) ([]byte, error) {
	ctx, cancel := context.WithTimeout(ctx, 5*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, string(e), args...)
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 10 * time.Second
	return cmd.CombinedOutput()
}

// cleanup runs the engine when the test ends.
func (e engine) cleanup(t *testing.T, args ...string) {
	t.Helper()
	t.Cleanup(func() {
		if out, err := e.command(context.Background(), args...); err != nil {
			t.Errorf("%s %s: %v\n%s", e, args, err, out)
		}
	})
}

// build builds the image of a Dockerfile in the repository's root, for as long
// as the test runs.
func (e engine) build(t *testing.T, dockerfile string) (image string) {
	t.Helper()
	root := filepath.Join("..", "..")
	image = "accelgate-test:" + strings.ToLower(rand.Text())
	args := []string{"build", "--quiet", "--network=host", "--tag", image, "--file", filepath.Join(root, dockerfile)}
	if e == "podman" {
		args = append(args, podmanBuild(t)...)
	}
	e.cleanup(t, "rmi", "--force", image)
	if out, err := e.command(t.Context(), append(args, root)...); err != nil {
		t.Fatalf("build the image: %v\n%s", err, out)
	}
	return image
}

// podmanBuild has podman keep no layers, which unlike docker it would never
// remove; this machine's Go caches save as much time.
func podmanBuild(t *testing.T) []string {
	t.Helper()
	out, err := exec.CommandContext(t.Context(), "go", "env", "GOMODCACHE", "GOCACHE").Output()
	if err != nil {
		t.Fatal(err)
	}
	modules, objects, _ := strings.Cut(strings.TrimSpace(string(out)), "\n")
	return []string{"--pull=never", "--layers=false", "--security-opt=label=disable",
		"--volume=" + modules + ":/go/pkg/mod", "--volume=" + objects + ":/root/.cache/go-build"}
}

// stepEnv is the environment of a step of a pull request's workflow.
func stepEnv(address, sha string, inputs map[string]string) map[string]string {
	env := map[string]string{
		"CI": "true", "GITHUB_ACTIONS": "true", "HOME": "/github/home", "RUNNER_TEMP": "/github/runner_temp",
		"GITHUB_API_URL": address, "GITHUB_REPOSITORY": "octo/repo", "GITHUB_RUN_ID": "77", "GITHUB_RUN_ATTEMPT": "1",
		"GITHUB_EVENT_NAME": "pull_request", "GITHUB_REF": "refs/pull/1/merge", "GITHUB_SHA": sha,
		"GITHUB_WORKSPACE": "/github/workspace", "GITHUB_EVENT_PATH": "/github/workflow/event.json",
		"GITHUB_OUTPUT": "/github/file_commands/output", "GITHUB_STEP_SUMMARY": "/github/file_commands/summary",
	}
	maps.Copy(env, inputs)
	return env
}

// step is where a step of a job runs.
type step struct {
	engine engine
	box    string      // holds the folders that the runner mounts
	perm   os.FileMode // of files, and with x of folders
}

// mounts are those folders, below /github. The runner's source lists them in
// src/Runner.Worker/Handlers/ContainerActionHandler.cs; the socket of docker,
// which it mounts too, is left out.
var mounts = []string{"home", "workflow", "file_commands", "runner_temp", "workspace"}

// newStep lays out the folders: the event, and a checkout of the quickstart.
func newStep(t *testing.T, e engine, base, event string, perm os.FileMode) *step {
	t.Helper()
	s := &step{engine: e, box: t.TempDir(), perm: perm}
	for _, dir := range mounts {
		if err := errors.Join(os.Mkdir(s.path(dir), 0o700), os.Chmod(s.path(dir), perm|0o111)); err != nil {
			t.Fatal(err)
		}
	}
	s.write(t, "workflow/event.json", event)
	for _, name := range []string{"accelgate.yaml", "cases/tiny-decode.json", "cases/tiny-prefill.json"} {
		s.write(t, "workspace/"+name, repositoryFile(t, name))
	}
	// This user may not remove what another one wrote.
	e.cleanup(t, "run", "--rm", "--security-opt=label=disable", "--volume="+s.box+":/box", base, "sh", "-c", "rm -rf /box/*")
	return s
}

func (s *step) path(name string) string { return filepath.Join(s.box, filepath.FromSlash(name)) }

// write writes a file with the step's permissions, whatever the umask.
func (s *step) write(t *testing.T, name, content string) {
	t.Helper()
	folder := filepath.Dir(s.path(name))
	if err := errors.Join(os.MkdirAll(folder, 0o700), os.Chmod(folder, s.perm|0o111),
		os.WriteFile(s.path(name), []byte(content), 0o600), os.Chmod(s.path(name), s.perm)); err != nil {
		t.Fatal(err)
	}
}

func (s *step) read(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(s.path(name))
	if err != nil {
		t.Error(err)
	}
	return string(data)
}

// run runs the image by the runner's line, as of DockerRun in
// src/Runner.Worker/Container/DockerCommandManager.cs, but in the network of
// this host, where the server is. It demands an exit code.
func (s *step) run(t *testing.T, want int, image string, env map[string]string, options, args []string) {
	t.Helper()
	s.write(t, "file_commands/output", "")
	s.write(t, "file_commands/summary", "")
	line := append([]string{"run", "--rm", "--network=host", "--security-opt=label=disable", "--workdir=/github/workspace"}, options...)
	for name, value := range env {
		line = append(line, "-e", name+"="+value)
	}
	for _, dir := range mounts {
		line = append(line, "-v", s.path(dir)+":/github/"+dir)
	}
	out, err := s.engine.command(t.Context(), append(append(line, image), args...)...)
	got := 0
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		got = exit.ExitCode()
	} else if err != nil {
		t.Fatal(err)
	}
	if got != want {
		t.Fatalf("accelgate %s: exit code %d, want %d\n%s", strings.Join(args, " "), got, want, out)
	}
}

var outputs = regexp.MustCompile(`(?m)^([a-z-]+)<<(accelgate_\w+)\n(.*)\n(accelgate_\w+)$`)

// left checks what the steps after this one find.
func (s *step) left(t *testing.T, verdict, text string) {
	t.Helper()
	got := map[string]string{}
	for _, m := range outputs.FindAllStringSubmatch(s.read(t, "file_commands/output"), -1) {
		got[m[1]] = m[3]
	}
	if got["verdict"] != verdict || got["comment-url"] == "" {
		t.Errorf("outputs are %q, want the verdict %s and a comment", got, verdict)
	}
	for _, name := range []string{"run", "report"} {
		if path := got[name]; !filepath.IsLocal(path) || s.read(t, "workspace/"+path) == "" {
			t.Errorf("output %s is %q, want a file by a path that is valid outside of the container too", name, path)
		}
	}
	if summary := s.read(t, "file_commands/summary"); !strings.HasPrefix(summary, "### ") || !strings.Contains(summary, text) {
		t.Errorf("the summary has no %q:\n%s", text, summary)
	}
}
