package cli_test

import (
	"fmt"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github/githubtest"
	"github.com/accelgate/accelgate/internal/testtier"
)

// faultTokens are the four kinds of credentials. Those of people cannot write
// check runs, which GitHub lets apps alone do.
var faultTokens = []githubtest.Token{
	{Value: actionToken, Login: "github-actions[bot]", Integration: true},
	{Value: "ghp_" + actionToken[4:], Login: "carol"},
	{Value: "ghs_app" + actionToken[4:], Login: "gate-app[bot]", Integration: true},
	{Value: "github_pat_" + actionToken[4:], Login: "dave", Permissions: map[string]string{
		"contents": "write", "issues": "write", "pull-requests": "write"}},
}

// faultKinds strike any request: drop, delay, duplicate, 403, 429, 500 and reset.
var faultKinds = []githubtest.Kind{
	githubtest.ResetBefore, githubtest.ResetAfter, githubtest.Late, githubtest.Duplicate, githubtest.Forbidden, githubtest.TooMany,
	githubtest.Exhausted, githubtest.Secondary, githubtest.Down, githubtest.DownAfter, githubtest.Truncated,
}

// TestFaultTrial publishes a verdict while a quarter of all requests go wrong.
// Whatever happens there are never two comments, a check that stays in progress,
// a check of another colour than the verdict, or exit code 0 with nothing published.
func TestFaultTrial(t *testing.T) { faultTrials(t, 8) }

// TestFaultTrialThorough is the same with 200 seeds.
func TestFaultTrialThorough(t *testing.T) {
	testtier.Thorough(t)
	faultTrials(t, 200)
}

func faultTrials(t *testing.T, seeds uint64) {
	t.Parallel()
	published := 0
	for seed := range seeds {
		for _, passes := range []bool{true, false} {
			if faultTrial(t, seed, faultTokens[seed%uint64(len(faultTokens))], passes) {
				published++
			}
		}
	}
	t.Logf("%d of %d verdicts were published", published, 2*seeds)
	if published < int(seeds) {
		t.Errorf("%d of %d verdicts were published, want most", published, 2*seeds)
	}
}

func faultTrial(t *testing.T, seed uint64, token githubtest.Token, passes bool) (published bool) {
	t.Helper()
	s := newActionStep(t, "pull_request", pullPayload, map[string]string{"INPUT_GITHUB-TOKEN": token.Value, "INPUT_REQUIRE-BASELINE": "false"})
	s.server = s.github(githubtest.State{
		Repos: []githubtest.Repo{{Name: "octo/repo", Files: map[string]string{"a": "a"}, Branches: map[string]map[string]string{"work": {"b": "b"}},
			PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work"}}}},
		Tokens: []githubtest.Token{token},
		Chaos:  &githubtest.Chaos{Seed: seed, Share: 0.25, Kinds: faultKinds},
	})
	listener := httptest.NewServer(s)
	defer listener.Close()
	s.env["GITHUB_API_URL"], s.env["GITHUB_SHA"] = listener.URL, s.head()
	s.write("event.json", strings.ReplaceAll(pullPayload, "$HEAD", s.head()))
	s.write("runs/run.json", s.faultRun(passes))
	s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
	code := s.run(t.Context())

	comments, checks := s.server.Comments("octo/repo", 1), s.server.CheckRuns("octo/repo", s.head())
	what := fmt.Sprintf("seed %d, %s, passes %t: exit code %d", seed, token.Login, passes, code)
	if len(comments) > 1 {
		t.Errorf("%s: %d comments\n%v", what, len(comments), s.server.Requests())
	}
	concluded := false
	for _, check := range checks {
		concluded = concluded || check.Status == "completed"
		if check.Status != "completed" {
			t.Errorf("%s: a check stays in progress\n%v", what, s.server.Requests())
		}
		if check.Conclusion == "success" && !passes || check.Conclusion == "failure" && passes {
			t.Errorf("%s: the check is %s\n%v", what, check.Conclusion, s.server.Requests())
		}
	}
	published = concluded || len(comments) == 1
	if !published && code == exit.Passed {
		t.Errorf("%s, and nothing is published\n%v", what, s.server.Requests())
	}
	// GitHub must show what the pull request changes; without an answer the check is action_required.
	unread := code == exit.GateFailed && strings.Contains(s.written()[filepath.Join(".accelgate", "report.md")], "configuration could not be compared")
	if want := map[bool]int{true: exit.Passed, false: exit.GateFailed}[passes]; code != want && !(passes && (code == exit.NoMeasure || unread)) {
		t.Errorf("%s, want %d\n%s", what, want, s.stderr.String())
	}
	return published
}

// faultRun is a run of the one cell, which passed or gave a wrong answer.
func (s *actionStep) faultRun(passes bool) string {
	outcome := map[bool]string{true: "passed", false: "incorrect"}[passes]
	return fmt.Sprintf(`{"schema": 1, "revision": %q, "started": "2026-01-01T00:00:00Z", "host": {"label": "desk"},
		"metrics": [{"name": "tps", "unit": "tok/s", "better": "higher"}],
		"results": [{"cell": {"id": "s/m/c/f"}, "outcome": %q, "reason": "r", "samples": [{"metric": "tps", "values": [1]}]}]}`, s.head(), outcome)
}
