package cli_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"io/fs"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/cli"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

const actionToken = "ghs_16C7e42F292c6912E7710c838347Ae178B4a"

// actionStep is one step of a workflow in a checkout of its own, with a GitHub that
// keeps every request.
type actionStep struct {
	t          *testing.T
	work, temp string
	env        map[string]string
	server     *githubtest.Server
	prefix     string // of the API's address, as GitHub Enterprise Server has one
	refuse     func(*http.Request) bool
	direct     bool                                             // GitHub is reached without a network
	waited     time.Duration                                    // by the last run, for GitHub
	alter      func(r *http.Request, answer map[string]any) any // makes another answer of a successful one

	mu             sync.Mutex
	sent           []string // address, headers and body of each request, without the credential
	stdout, stderr bytes.Buffer
}

func newActionStep(t *testing.T, event, payload string, inputs map[string]string) *actionStep {
	t.Helper()
	s := &actionStep{t: t, work: t.TempDir(), temp: t.TempDir()}
	s.server = s.github(stepState(githubtest.Token{Value: actionToken, Login: "github-actions[bot]", Integration: true}))
	listener := httptest.NewServer(s)
	t.Cleanup(listener.Close)
	s.write("accelgate.yaml", stepConfig)
	s.write("event.json", strings.ReplaceAll(payload, "$HEAD", s.head()))
	s.env = map[string]string{"ACCELGATE_HEALTH": "off",
		"GITHUB_ACTIONS": "true", "GITHUB_API_URL": listener.URL, "GITHUB_REPOSITORY": "octo/repo", "GITHUB_RUN_ID": "77", "GITHUB_SHA": s.head(),
		"GITHUB_WORKSPACE": s.work, "GITHUB_OUTPUT": filepath.Join(s.temp, "output"), "GITHUB_STEP_SUMMARY": filepath.Join(s.temp, "summary"),
		"GITHUB_EVENT_NAME": event, "GITHUB_EVENT_PATH": filepath.Join(s.work, "event.json"), "RUNNER_TEMP": s.temp, "GITHUB_REF": "refs/heads/main",
		"INPUT_GITHUB-TOKEN": actionToken, "INPUT_CONFIG": filepath.Join(s.work, "accelgate.yaml"),
	}
	maps.Copy(s.env, inputs)
	return s
}

// stepState is a repository with a pull request and a comment.
func stepState(token githubtest.Token) githubtest.State {
	return githubtest.State{
		Repos: []githubtest.Repo{{Name: "octo/repo", Files: map[string]string{"a": "a"}, Branches: map[string]map[string]string{"work": {"b": "b"}},
			PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work"}}, Permissions: map[string]string{"alice": "write", "carol": "write", "dave": "write"},
			Comments: []githubtest.CommentSeed{{Issue: 1, Author: "alice", Body: "hello"}}}},
		Tokens: []githubtest.Token{token},
	}
}

// withToken begins again on a GitHub that has this token alone.
func (s *actionStep) withToken(token githubtest.Token) *actionStep {
	s.server = s.github(stepState(token))
	s.env["INPUT_GITHUB-TOKEN"], s.env["INPUT_TOKEN-AUTHOR"] = token.Value, token.Login
	return s
}

const stepConfig = `{version: 1, suites: [{name: s, kind: models, command: ["true"], models: [m], backends: [c], features: [f], ` +
	`metrics: [{name: tps, json: tps, unit: tok/s, better: higher}]}]}`

func (s *actionStep) github(state githubtest.State) *githubtest.Server {
	server, err := githubtest.NewServer(state)
	if err != nil {
		s.t.Fatal(err)
	}
	s.t.Cleanup(func() {
		for _, v := range server.Violations() {
			s.t.Errorf("GitHub's API description is violated: %s", v)
		}
	})
	return server
}

func (s *actionStep) head() string { return s.server.Head("octo/repo", "work") }

func (s *actionStep) write(name, text string) {
	s.t.Helper()
	path := filepath.Join(s.work, name)
	if err := os.MkdirAll(filepath.Dir(path), 0o700); err != nil {
		s.t.Fatal(err)
	}
	if err := os.WriteFile(path, []byte(text), 0o600); err != nil {
		s.t.Fatal(err)
	}
}

// ServeHTTP keeps a request and passes it on. A server may say anything about a
// refusal, the credential included.
func (s *actionStep) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	r.Body = io.NopCloser(bytes.NewReader(body))
	headers := r.Header.Clone()
	credential := headers.Get("Authorization")
	headers.Del("Authorization")
	s.mu.Lock()
	s.sent = append(s.sent, fmt.Sprint(r.Method, " ", r.URL, " ", headers, "\n", string(body)))
	s.mu.Unlock()
	if s.refuse != nil && s.refuse(r) {
		w.Header().Set("Content-Type", "application/json")
		w.Header().Set("X-Echo", credential)
		w.WriteHeader(http.StatusForbidden)
		_ = json.NewEncoder(w).Encode(map[string]string{"message": "no access for " + credential})
		return
	}
	if s.alter == nil {
		http.StripPrefix(s.prefix, s.server).ServeHTTP(w, r)
		return
	}
	s.altered(w, r)
}

// altered passes on what alter makes of an answer: nil is "null", and missing is 404.
func (s *actionStep) altered(w http.ResponseWriter, r *http.Request) {
	recorded := httptest.NewRecorder()
	http.StripPrefix(s.prefix, s.server).ServeHTTP(recorded, r)
	body := recorded.Body.Bytes()
	var answer map[string]any
	if recorded.Code == http.StatusOK && json.Unmarshal(body, &answer) == nil {
		other := s.alter(r, answer)
		if other == missing {
			recorded.Code, other = http.StatusNotFound, map[string]any{"message": "Not Found"}
		}
		body, _ = json.Marshal(other)
	}
	maps.Copy(w.Header(), recorded.Header())
	w.Header().Del("Content-Length")
	w.WriteHeader(recorded.Code)
	_, _ = w.Write(body)
}

const missing = "missing"

func (s *actionStep) run(ctx context.Context) int { return s.main(ctx, "action") }

func (s *actionStep) main(ctx context.Context, args ...string) int {
	s.waited = 0
	c := cli.Command{Stdin: strings.NewReader(""), Stdout: &s.stdout, Stderr: &s.stderr, Getenv: func(name string) string { return s.env[name] },
		Now: func() time.Time { return time.Now().Add(s.waited) }, Sleep: s.sleep}
	if s.direct {
		c.Transport = s.server.Direct()
	}
	return c.Main(ctx, args)
}

// sleep moves the clock of a run and takes no time.
func (s *actionStep) sleep(ctx context.Context, d time.Duration) error {
	s.waited += d
	return ctx.Err()
}

// written is all that the step left, by where: streams, files and requests.
// The folder of runs is one that another program left.
func (s *actionStep) written() map[string]string {
	all := map[string]string{"stdout": s.stdout.String(), "stderr": s.stderr.String(), "requests": strings.Join(s.sent, "\n\n")}
	for _, root := range []string{s.work, s.temp} {
		err := filepath.WalkDir(root, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() {
				return err
			}
			rel, _ := filepath.Rel(root, name)
			if rel == "event.json" || strings.HasPrefix(rel, "runs") {
				return nil
			}
			data, err := os.ReadFile(name)
			all[rel] = string(data)
			return err
		})
		if err != nil {
			s.t.Fatal(err)
		}
	}
	return all
}

// stepRun is a run whose every text is the given one.
func (s *actionStep) stepRun(text string) string {
	q, _ := json.Marshal(text)
	return strings.NewReplacer("$T", string(q), "$HEAD", s.head()).Replace(`{"schema": 1, "tool": $T, "revision": "$HEAD", "started": "2026-01-01T00:00:00Z",
		"host": {"label": "desk", "cpu": $T, "cores": 2, "driver": $T}, "context": {"note": $T}, "warnings": [$T],
		"metrics": [{"name": "tps", "unit": "tok/s", "better": "higher"}],
		"results": [{"cell": {"id": $T}, "outcome": "failed", "reason": $T, "log": $T, "command": [$T], "context": {"x": $T}, "warnings": [$T]},
			{"cell": {"id": "b"}, "outcome": "incorrect", "reason": $T, "output": $T},
			{"cell": {"id": "d"}, "outcome": "passed", "samples": [{"metric": "tps", "values": [1]}]},
			{"cell": {"id": "c"}, "outcome": "passed", "caveat": $T, "samples": [{"metric": "tps", "values": [1]}],
				"breakdowns": [{"title": $T, "unit": "ms", "entries": [{"name": $T, "total": 1, "calls": 1}]}]}]}`)
}

const (
	pullPayload = `{"action": "synchronize", "number": 1, "pull_request": {"number": 1, "head": {"sha": "$HEAD", "ref": "work", "repo": {"full_name": "octo/repo"}},
		"base": {"sha": "$HEAD", "ref": "main", "repo": {"full_name": "octo/repo"}}}, "repository": {"full_name": "octo/repo", "default_branch": "main"}}`
	pushPayload     = `{"ref": "refs/heads/main", "after": "$HEAD", "repository": {"full_name": "octo/repo", "default_branch": "main"}}`
	dispatchPayload = `{"inputs": {}, "ref": "refs/heads/main", "repository": {"full_name": "octo/repo", "default_branch": "main"}}`
	chatPayload     = `{"action": "created", "repository": {"full_name": "octo/repo", "default_branch": "main"}, "issue": {"number": 1, "pull_request": {"url": "x"}},
		"comment": {"id": 3, "body": "%s", "user": {"login": "alice"}}}`
)

// TestTokenIsNowhere greps everything that a step writes: streams, summary,
// outputs, reports, and the address, headers and body of every request.
func TestTokenIsNowhere(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, event, payload string
		inputs               map[string]string
		refuse               bool
		code                 int
		want                 string // in what was written, so that something was
	}{
		{"a program that got hold of it", "pull_request", pullPayload, nil, false, exit.GateFailed, "stolen: ***"},
		{"a server that repeats it", "pull_request", pullPayload, nil, true, exit.GateFailed, "could not publish"},
		{"a file named by it", "pull_request", pullPayload, map[string]string{"INPUT_CONFIG": "/nowhere/" + actionToken + ".yaml"}, false, exit.Usage, "/nowhere/***.yaml"},
		{"a folder named by it", "pull_request", pullPayload, map[string]string{"INPUT_RUNS": "/nowhere/" + actionToken}, false, exit.NoMeasure, "/nowhere/***"},
		{"a mode named by it", "pull_request", pullPayload, map[string]string{"INPUT_MODE": actionToken}, false, exit.Usage, "mode is"},
		{"a check named by it", "pull_request", pullPayload, map[string]string{"INPUT_CHECK-NAME": actionToken}, false, exit.GateFailed, "holds the token, and was not sent"},
		{"a reason that is it", "workflow_dispatch", dispatchPayload,
			map[string]string{"INPUT_UPDATE-BASELINE": "true", "INPUT_FORCE": "true", "INPUT_REASON": "because of " + actionToken}, false, exit.Passed, "because of ***"},
		{"a comment that holds it", "issue_comment", fmt.Sprintf(chatPayload, "/accelgate refresh now "+actionToken), nil, false, exit.Passed, "now ***"},
		{"a command that is it", "issue_comment", fmt.Sprintf(chatPayload, "/accelgate accept c m "+actionToken+" 7 x"), nil, false, exit.Usage, "ceiling: want a percentage"},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			s := newActionStep(t, c.event, c.payload, map[string]string{"INPUT_RUNS": ""})
			s.write("runs/run.json", s.stepRun("stolen: "+actionToken))
			if c.event != "issue_comment" {
				s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
			}
			maps.Copy(s.env, c.inputs)
			if c.refuse {
				s.refuse = func(r *http.Request) bool { return r.Method != http.MethodGet }
			}
			code, found := s.run(t.Context()), false
			for where, text := range s.written() {
				if strings.Contains(text, actionToken) {
					t.Errorf("%s holds the token:\n%.2000s", where, text)
				}
				found = found || strings.Contains(text, c.want)
			}
			if code != c.code || !found {
				t.Errorf("exit code %d, want %d, and %q found: %t\n%s", code, c.code, c.want, found, s.stderr.String())
			}
		})
	}
}

// TestEnterpriseServer: the API is below a path, and links lead to that server.
func TestEnterpriseServer(t *testing.T) {
	t.Parallel()
	s := newActionStep(t, "pull_request", pullPayload, nil)
	s.prefix = "/api/v3"
	s.env["GITHUB_API_URL"] += s.prefix
	s.env["GITHUB_SERVER_URL"] = "https://github.example.com"
	s.write("runs/run.json", s.stepRun("x"))
	s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
	if code := s.run(t.Context()); code != exit.GateFailed {
		t.Fatalf("exit code %d: %s", code, s.stderr.String())
	}
	comments := s.server.Comments("octo/repo", 1)
	if len(comments) != 2 || !strings.Contains(comments[1].Body, "(https://github.example.com/octo/repo/actions/runs/77/attempts/1)") {
		t.Errorf("comments are %v, want one with a link to the run there", comments)
	}
	for _, sent := range s.sent {
		if !strings.Contains(sent, " /api/v3/") && !strings.Contains(sent, " /api/graphql ") {
			t.Errorf("a request went elsewhere: %.200s", sent)
		}
	}
}

// TestCheckNeverLingers cancels the job before each of its requests in turn:
// whatever was begun is completed, and never green.
func TestCheckNeverLingers(t *testing.T) {
	t.Parallel()
	seen := false
	for n := 1; ; n++ {
		s := newActionStep(t, "pull_request", pullPayload, nil)
		s.write("runs/run.json", s.stepRun("x"))
		s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
		ctx, cancel := context.WithCancel(t.Context())
		requests := 0
		s.server.Between(func(githubtest.Request) {
			if requests++; requests == n {
				cancel()
			}
		})
		s.run(ctx)
		cancel()
		for _, check := range s.server.CheckRuns("octo/repo", s.head()) {
			seen = true
			if check.Status != "completed" || check.Conclusion == "success" {
				t.Errorf("cancelled at request %d, the check is %s, %q", n, check.Status, check.Conclusion)
			}
		}
		if requests < n {
			break
		}
	}
	if !seen {
		t.Error("no check was ever begun")
	}
}

// TestPushBetweenSearchAndComment: the pull request is found, then a user
// pushes. What is said names the commit that was measured, and is its check; the
// new head has none, and the run says nothing once the head is another.
func TestPushBetweenSearchAndComment(t *testing.T) {
	t.Parallel()
	s := newActionStep(t, "workflow_run", "", nil)
	old := s.head()
	s.env["INPUT_CHECK-NAME"] = "gate"
	s.write("event.json", fmt.Sprintf(`{"action": "completed", "repository": {"full_name": "octo/repo", "default_branch": "main"}, "workflow_run": {"id": 500,
		"run_attempt": 1, "event": "pull_request", "head_sha": %q, "head_branch": "work", "head_repository": {"full_name": "octo/repo"}}}`, old))
	pushed := ""
	s.server.Between(func(next githubtest.Request) {
		if pushed == "" && strings.Contains(next.Path, "/artifacts") {
			pushed = s.server.Commit("octo/repo", "work", map[string]string{"evil": "x"})
		}
	})
	for range 2 {
		if code := s.run(t.Context()); code != exit.NoMeasure { // there is no such run, hence no artifact
			t.Fatalf("exit code %d: %s", code, s.stderr.String())
		}
	}
	if pushed == "" || len(s.server.CheckRuns("octo/repo", pushed)) != 0 || len(s.server.CheckRuns("octo/repo", old)) != 1 {
		t.Errorf("checks are not of the commit that was measured: %v", s.server.CheckRuns("octo/repo", pushed))
	}
	if comments := s.server.Comments("octo/repo", 1); len(comments) != 2 {
		t.Errorf("%d comments, want another user's and one of ours", len(comments))
	}
}

// TestRefreshGoesOnWithoutAnAbsentHost: one host that is away does not keep the
// others from being refreshed, and the pull request names it.
func TestRefreshGoesOnWithoutAnAbsentHost(t *testing.T) {
	t.Parallel()
	for kind, token := range stepTokens {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newActionStep(t, "workflow_dispatch", dispatchPayload, map[string]string{
				"INPUT_UPDATE-BASELINE": "true", "INPUT_REASON": "new driver", "INPUT_HOSTS": "desk,mi300x"}).withToken(token)
			s.write("runs/run.json", s.faultRun(true))
			s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
			if code := s.run(t.Context()); code != exit.Passed {
				t.Fatalf("exit code %d: %s", code, s.stderr.String())
			}
			pulls := s.server.PullRequests("octo/repo")
			if len(pulls) != 2 || !strings.Contains(pulls[1].Body, "host mi300x delivered no run.json") {
				t.Errorf("got pull requests %+v, want one that names the absent host", pulls)
			}
			if output := s.written()["output"]; !strings.Contains(output, "report.json") || !strings.Contains(output, `{"untracked":1}`) && !strings.Contains(output, `"new":1`) {
				t.Errorf("the outputs lack the JSON report or the counts:\n%s", output)
			}
			files := strings.Join(s.server.Files("octo/repo", "accelgate/refresh-baselines"), " ")
			if !strings.Contains(files, "baseline-desk.json") || strings.Contains(files, "mi300x") {
				t.Errorf("the branch has %s, want the baseline of desk alone", files)
			}
		})
	}
}
