package workflows_test

import (
	"bytes"
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"
)

// line is one line of act --json.
type line struct {
	Job     string            `json:"jobID"`
	Level   string            `json:"level"`
	Message string            `json:"msg"`
	Command string            `json:"command"` // such as "error" or "summary"
	Arg     string            `json:"arg"`
	Content string            `json:"content"` // of a summary
	Pairs   map[string]string `json:"kvPairs"`
	Result  string            `json:"jobResult"`
}

// outcome is what act told of one run of a workflow.
type outcome struct {
	t       *testing.T
	code    int
	lines   []line
	results map[string]string // by job; a skipped one is not there
	output  string            // for messages
}

// started is a run of a workflow to be.
type started struct {
	workflow string // file below .github/workflows
	event    string
	payload  any
	run      int64
	fake     *fake
	token    string   // of the job that talks to GitHub; token where empty
	repo     string   // the user's repository where it is empty
	into     string   // the commit that GitHub merges a pull request into; the base of the payload where empty
	args     []string // more for act
}

// pinned finds the actions of others that a workflow uses, by their commits.
var pinned = regexp.MustCompile(`(?m)uses: actions/([a-z-]+)@([0-9a-f]{40})\b`)

// standins returns what act uses for the actions and workflows of others: this checkout for accelgate's own, at the
// refs that callers and called workflows name.
func (w *world) standins(t *testing.T) []string {
	t.Helper()
	list := []string{"accelgate/accelgate@main=" + w.source, "accelgate/accelgate@unguarded=" + w.unguarded}
	files, err := filepath.Glob(filepath.Join(w.source, ".github", "workflows", "*.yml"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, file := range files {
		for _, m := range pinned.FindAllStringSubmatch(read(t, file), -1) {
			standin := filepath.Join(w.actions, m[1])
			if _, err := os.Stat(standin); err != nil {
				continue // of a workflow that no test runs; act would fail to find it
			}
			list = append(list, "actions/"+m[1]+"@"+m[2]+"="+standin)
		}
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// inherited are the variables that steps get of this process; act hands on all
// that it has.
var inherited = []string{"PATH", "HOME", "TMPDIR", "CONTAINERS_CONF", "XDG_RUNTIME_DIR", "GOPATH", "GOROOT", "GOCACHE", "GOMODCACHE", "GOPROXY", "GOSUMDB", "SSL_CERT_FILE"}

// act runs a workflow of the fixture by the event, as a host that is its own
// runner: its steps run here, and container actions in the engine.
func (w *world) act(t *testing.T, s started) *outcome {
	t.Helper()
	payload := filepath.Join(t.TempDir(), "event.json")
	writeJSON(t, payload, s.payload)
	repo := cmp.Or(s.repo, w.repo)
	if s.event == "pull_request" {
		defer merge(t, repo, s.payload, s.into)()
	}
	file := filepath.Join(repo, ".github", "workflows", s.workflow)
	args := []string{s.event, "-W", file, "--eventpath", payload, "--json", "--no-skip-checkout", "--no-cache-server",
		"--pull=false", "--rebuild=false", "--action-cache-path", w.cache, "--container-options", "-v " + w.cache + ":" + w.cache + " --network host", // the event and the files for outputs are there
		"-P", "ubuntu-latest=-self-hosted", "-P", "self-hosted=-self-hosted", "-a", "alice", "-s", "GITHUB_TOKEN=" + cmp.Or(s.token, token)}
	for name, value := range map[string]string{"GITHUB_API_URL": s.fake.address, "GITHUB_RUN_ID": fmt.Sprint(s.run),
		"E2E_REPOSITORY": repo, "E2E_ARTIFACTS": w.artifacts, "DOWNLOADS": "file://" + w.downloads, "GOFLAGS": "-buildvcs=false"} {
		args = append(args, "--env", name+"="+value)
	}
	for _, standin := range w.standins(t) {
		args = append(args, "--local-repository", standin)
	}
	return w.start(t, repo, append(args, s.args...))
}

// merge checks out what GitHub checks out for a pull request: the merge of its head into its base, which act takes for
// GITHUB_SHA. It returns what checks out the former commit or branch again. A fork's commit is not here.
func merge(t *testing.T, repo string, payload any, into string) (back func()) {
	t.Helper()
	pr := payload.(object)["pull_request"].(object)
	head, base := pr["head"].(object), cmp.Or(into, pr["base"].(object)["sha"].(string))
	if head["repo"].(object)["full_name"] != repoName {
		return func() {}
	}
	tree := gitIn(t, repo, "merge-tree", "--write-tree", base, head["sha"].(string))
	merged := gitIn(t, repo, "commit-tree", tree, "-p", base, "-p", head["sha"].(string), "-m", "merge")
	before := cmp.Or(gitIn(t, repo, "branch", "--show-current"), gitIn(t, repo, "rev-parse", "HEAD"))
	gitIn(t, repo, "checkout", "-q", "--detach", merged)
	return func() { gitIn(t, repo, "checkout", "-q", before) }
}

// start runs act and reads its lines. What it shows must not hold the token.
func (w *world) start(t *testing.T, dir string, args []string) *outcome {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Minute)
	defer cancel()
	cmd := exec.CommandContext(ctx, w.binary, args...)
	cmd.Dir = dir
	cmd.Env = []string{"DOCKER_HOST=" + w.address}
	for _, name := range inherited {
		if value, set := os.LookupEnv(name); set {
			cmd.Env = append(cmd.Env, name+"="+value)
		}
	}
	cmd.Cancel = func() error { return cmd.Process.Signal(os.Interrupt) }
	cmd.WaitDelay = 20 * time.Second
	began := time.Now()
	data, err := cmd.CombinedOutput()
	var exit *exec.ExitError
	if err != nil && !errors.As(err, &exit) {
		t.Fatalf("act: %v\n%s", err, data)
	}
	o := &outcome{t: t, code: cmd.ProcessState.ExitCode(), results: map[string]string{}}
	for text := range bytes.Lines(data) {
		var l line
		if err := json.Unmarshal(text, &l); err != nil {
			o.output += string(text)
			continue
		}
		o.lines = append(o.lines, l)
		o.output += l.Job + ": " + strings.TrimRight(l.Message, "\n") + "\n"
		if l.Result != "" {
			o.results[l.Job] = l.Result
		}
	}
	t.Logf("act took %v", time.Since(began).Round(100*time.Millisecond))
	if strings.Contains(o.output, token) {
		t.Error("act shows the token: it was not masked")
	}
	return o
}

// want checks how the jobs that ran ended.
func (o *outcome) want(results map[string]string) {
	o.t.Helper()
	code := 0
	if slices.Contains(slices.Collect(maps.Values(results)), "failure") {
		code = 1
	}
	if !maps.Equal(o.results, results) || o.code != code {
		o.t.Fatalf("jobs ended with %v and act with %d, want %v and %d\n%s", o.results, o.code, results, code, o.output)
	}
}

// says checks that a job gave a workflow command, with an argument or a content
// that holds a text.
func (o *outcome) says(job, command, text string) {
	o.t.Helper()
	if !slices.ContainsFunc(o.lines, func(l line) bool {
		return l.Job == job && l.Command == command && strings.Contains(l.Arg+l.Content, text)
	}) {
		o.t.Errorf("job %s has no %s with %q\n%s", job, command, text, o.output)
	}
}
