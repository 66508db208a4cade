package cli_test

import (
	"fmt"
	"net/http"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// everyToken runs a test with each kind of credentials.
func everyToken(t *testing.T, test func(t *testing.T, token githubtest.Token)) {
	t.Helper()
	t.Parallel()
	for kind, token := range stepTokens {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			test(t, token)
		})
	}
}

// TestSkippedForkWithEveryToken: a fork's pull request whose workflow was skipped has
// the required check, which asks for a maintainer. A user's token may not write checks:
// the step fails rather than leaving none.
func TestSkippedForkWithEveryToken(t *testing.T) {
	head := strings.Repeat("f", 40)
	everyToken(t, func(t *testing.T, token githubtest.Token) {
		s := skippedFork(t, token, head)
		code, checks := s.run(t.Context()), s.server.CheckRuns("octo/repo", head)
		if !token.Integration {
			if code == exit.Passed || !strings.Contains(s.stderr.String(), "check") {
				t.Errorf("exit code %d without a check: %s", code, s.stderr.String())
			}
			return
		}
		if code != exit.Passed || len(checks) != 1 || checks[0].Name != "accelgate" || checks[0].Conclusion != "action_required" || !strings.Contains(checks[0].Summary, "`/accelgate run`") {
			t.Errorf("exit code %d, checks %+v: %s", code, checks, s.stderr.String())
		}
	})
}

// skippedFork is the step of post.yml after a fork's workflow was skipped.
func skippedFork(t *testing.T, token githubtest.Token, head string) *actionStep {
	t.Helper()
	s := newActionStep(t, "workflow_run", fmt.Sprintf(`{"action": "completed", "repository": {"full_name": "octo/repo", "default_branch": "main"},
		"workflow_run": {"id": 500, "run_attempt": 1, "event": "pull_request", "conclusion": "skipped", "head_sha": %q, "head_branch": "work",
		"head_repository": {"full_name": "mallory/repo"}}}`, head), nil)
	state := stepState(token)
	state.Repos[0].PullRequests = []githubtest.PullRequestSeed{{Title: "Work", Head: "work", Fork: "mallory/repo", HeadSHA: head, Author: "mallory"}}
	s.server = s.withToken(token).github(state)
	return s
}

// TestTagWithEveryToken: a dispatch on a tag proposes nothing, whatever the token.
func TestTagWithEveryToken(t *testing.T) {
	everyToken(t, func(t *testing.T, token githubtest.Token) {
		s := newActionStep(t, "workflow_dispatch", strings.Replace(dispatchPayload, "refs/heads/main", "refs/tags/v1", 1), map[string]string{
			"INPUT_UPDATE-BASELINE": "true", "INPUT_REASON": "new driver"}).withToken(token)
		s.env["GITHUB_REF"] = "refs/tags/v1"
		s.write("runs/run.json", s.faultRun(true))
		s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
		if code := s.run(t.Context()); code != exit.Usage || !strings.Contains(s.stderr.String(), "start the workflow on the branch main") {
			t.Errorf("exit code %d, want %d: %s", code, exit.Usage, s.stderr.String())
		}
		if pulls := s.server.PullRequests("octo/repo"); len(pulls) != 1 {
			t.Errorf("%d pull requests, want the seeded one", len(pulls))
		}
	})
}

// TestRateLimitWithEveryToken: a primary rate limit that ends is waited for, and one
// that outlasts the budget makes a green step red.
func TestRateLimitWithEveryToken(t *testing.T) {
	everyToken(t, func(t *testing.T, token githubtest.Token) {
		for name, c := range map[string]struct {
			chaos githubtest.Chaos
			code  int
		}{
			"ends":     {githubtest.Chaos{At: 4}, exit.Passed},
			"outlasts": {githubtest.Chaos{Share: 1}, exit.NoMeasure},
		} {
			s := changedStep(t, token, fmt.Sprintf(expectingConfig, ", config_changes: warn"), map[string]string{"b": "b"})
			c.chaos.Kinds = []githubtest.Kind{githubtest.Exhausted}
			if err := s.server.Disturb(c.chaos); err != nil {
				t.Fatal(err)
			}
			code := s.run(t.Context())
			if published := s.report() != ""; code != c.code || published != (code == exit.Passed) {
				t.Errorf("%s: exit code %d, want %d; published: %t\n%s", name, code, c.code, published, s.stderr.String())
			}
			if code == exit.NoMeasure && !strings.Contains(s.stdout.String(), "the verdict was not published") {
				t.Errorf("%s: nothing says what was not published:\n%s", name, s.stdout.String())
			}
		}
	})
}

// TestStrangersCommandWithEveryToken: commands of a user without write permission leave
// one reaction each, no reply, no job and no failed step.
func TestStrangersCommandWithEveryToken(t *testing.T) {
	everyToken(t, func(t *testing.T, token githubtest.Token) {
		s := newActionStep(t, "issue_comment", "", nil).withToken(token)
		for _, body := range []string{"/accelgate rerun", "/accelgate run", "/accelgate approve-config x", "/accelgate refresh me", "/accelgate accept c m 1% 1 x", "/accelgate x"} {
			id := s.server.Comment("octo/repo", 1, "mallory", body)
			s.write("event.json", fmt.Sprintf(`{"action": "created", "repository": {"full_name": "octo/repo", "default_branch": "main"}, "issue": {"number": 1, "pull_request": {}},
				"comment": {"id": %d, "body": %q, "user": {"login": "mallory"}}}`, id, body))
			for range 3 {
				if code := s.run(t.Context()); code != exit.Passed {
					t.Errorf("%s: exit code %d, want 0: %s", body, code, s.stderr.String())
				}
			}
			if got := s.server.Reactions("octo/repo", id); len(got) != 1 || got[0] != token.Login+": -1" {
				t.Errorf("%s: reactions %q, want one", body, got)
			}
		}
		if comments, started := s.server.Comments("octo/repo", 1), s.server.Dispatches(); len(comments) != 7 || len(started) != 0 {
			t.Errorf("%d comments, want 7 without a reply; started %v", len(comments), started)
		}
	})
}

// TestOutputsWithEveryToken: what later steps of a workflow read.
func TestOutputsWithEveryToken(t *testing.T) {
	everyToken(t, func(t *testing.T, token githubtest.Token) {
		s := changedStep(t, token, fmt.Sprintf(expectingConfig, ""), map[string]string{"b": "b"})
		if code := s.run(t.Context()); code != exit.Passed {
			t.Fatalf("exit code %d: %s", code, s.stderr.String())
		}
		output := s.written()["output"]
		for name, value := range map[string]string{"verdict": "warned", "config-changed": "false", "counts": `{"untracked":1}`, "json": "report.json", "comment-url": "#issuecomment-"} {
			if _, rest, ok := strings.Cut(output, name+"<<"); !ok || !strings.Contains(strings.Join(strings.SplitN(rest, "\n", 3)[:2], " "), value) {
				t.Errorf("output %s lacks %q:\n%s", name, value, output)
			}
		}
		if _, rest, _ := strings.Cut(output, "check-url<<"); strings.Contains(strings.Join(strings.SplitN(rest+"\n\n", "\n", 3)[:2], " "), "/runs/") != token.Integration {
			t.Errorf("output check-url where checks may be written: %t\n%s", token.Integration, output)
		}
	})
}

// TestSummaryWithoutPublishing: the summary of the job has the report, and GitHub
// gets nothing.
func TestSummaryWithoutPublishing(t *testing.T) {
	everyToken(t, func(t *testing.T, token githubtest.Token) {
		s := changedStep(t, token, fmt.Sprintf(expectingConfig, ""), map[string]string{"b": "b"})
		s.env["INPUT_PUBLISH"] = "false"
		s.refuse = func(r *http.Request) bool {
			t.Errorf("asked GitHub: %s %s", r.Method, r.URL)
			return false
		}
		if code := s.run(t.Context()); code != exit.Passed || !strings.Contains(s.written()["summary"], "answers are right") {
			t.Errorf("exit code %d, want 0 and a summary: %s\n%s", code, s.written()["summary"], s.stderr.String())
		}
	})
}
