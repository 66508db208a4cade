package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

const skipLabel = "accelgate-skip"

// label sets the label as a user does.
func (s *actionStep) label(login string) { s.server.Label("octo/repo", 1, login, skipLabel) }

func (s *actionStep) unlabel(login string) { s.server.Unlabel("octo/repo", 1, login, skipLabel) }

// skippedRun judges a run with a wrong answer, so that a step that judges it fails.
func skippedRun(t *testing.T, token githubtest.Token) *actionStep {
	t.Helper()
	s := changedStep(t, token, fmt.Sprintf(expectingConfig, ""), map[string]string{"b": "b"})
	s.editRun("blue", "green")
	return s
}

// TestSkipLabel: a label of a user with write permission takes the pull request out of
// the gate, in sight of all; it holds while it is set, and comment and check change
// with it.
func TestSkipLabel(t *testing.T) {
	t.Parallel()
	for name, token := range stepTokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := skippedRun(t, token)
			s.judged(token, "failure")
			s.label("alice")
			if code := s.run(t.Context()); code != exit.Passed {
				t.Fatalf("exit code %d with the label, want 0: %s", code, s.stderr.String())
			}
			s.conclude(token, "neutral")
			if runs := s.server.CheckRuns("octo/repo", s.head()); token.Integration && runs[len(runs)-1].Title != "skipped by @alice: label accelgate-skip" {
				t.Errorf("the title of the check is %q", runs[len(runs)-1].Title)
			}
			all := s.written()
			for where, want := range map[string]string{"summary": "Skipped by `@alice`", "output": "skipped", "stdout": "skipped by @alice: label accelgate-skip (set at 20"} {
				if !strings.Contains(all[where], want) {
					t.Errorf("%s lacks %q:\n%s", where, want, all[where])
				}
			}
			if !strings.Contains(s.report(), "Skipped by `@alice`") || strings.Count(s.report(), "`@alice` set the label `accelgate-skip` at 20") != 1 || len(s.server.Comments("octo/repo", 1)) != 1 {
				t.Errorf("want one comment that says who skipped and when:\n%v", s.server.Comments("octo/repo", 1))
			}
			s.unlabel("mallory")
			s.judged(token, "failure")
		})
	}
}

// judged demands that the step judges, and fails.
func (s *actionStep) judged(token githubtest.Token, conclusion string) {
	s.t.Helper()
	if code := s.run(s.t.Context()); code != exit.GateFailed || !strings.Contains(s.report(), "the answer lacks") {
		s.t.Fatalf("exit code %d, want %d: %s\n%s", code, exit.GateFailed, s.report(), s.stderr.String())
	}
	s.conclude(token, conclusion)
}

// TestSkipLabelsThatAreNone: the label counts by the permission of the user who set it
// last; any other one is a warning, and the pull request is gated.
func TestSkipLabelsThatAreNone(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		set  func(s *actionStep)
		want string
	}{
		"a stranger's":               {func(s *actionStep) { s.label("mallory") }, "mallory set it and has no write permission"},
		"a triager's":                {func(s *actionStep) { s.label("tina") }, "tina set it and has no write permission"},
		"a former collaborator's":    {func(s *actionStep) { s.label("gone") }, "gone set it and has no write permission"},
		"an app's":                   {func(s *actionStep) { s.label("github-actions[bot]") }, "GitHub names no user who set it"},
		"a stranger's after alice's": {func(s *actionStep) { s.label("alice"); s.unlabel("mallory"); s.label("mallory") }, "mallory set it and has no write permission"},
		"of a name that is none":     {func(s *actionStep) { s.label("x`</details>@everyone") }, "is not a login"},
	} {
		for kind, token := range stepTokens {
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s := skippedRun(t, token)
				c.set(s)
				s.judged(token, "failure")
				if report := s.report(); !strings.Contains(report, c.want) || strings.Contains(report, "</details>@everyone") {
					t.Errorf("the comment lacks the warning %q:\n%s", c.want, report)
				}
				if !strings.Contains(s.stdout.String(), "::warning title=label accelgate-skip::") {
					t.Errorf("no annotation:\n%s", s.stdout.String())
				}
			})
		}
	}
}

// TestSkipIsNeverSilent: a skip that neither check nor comment shows is no green step.
func TestSkipIsNeverSilent(t *testing.T) {
	t.Parallel()
	for name, token := range stepTokens {
		want := map[bool]int{true: exit.Passed, false: exit.NoMeasure}[token.Integration]
		s := skippedRun(t, token)
		s.env["INPUT_COMMENT"] = "off"
		s.label("alice")
		if code := s.run(t.Context()); code != want {
			t.Errorf("%s, without a comment: exit code %d, want %d: %s", name, code, want, s.stderr.String())
		}
		s.conclude(token, "neutral")
	}
}

// TestSkipOfAFork: the required check of a fork's pull request asks for a maintainer,
// and is neutral after a maintainer has set the label.
func TestSkipOfAFork(t *testing.T) {
	t.Parallel()
	const head = "ffffffffffffffffffffffffffffffffffffffff"
	for _, kind := range []string{"actions", "app"} {
		token := stepTokens[kind]
		for login, want := range map[string]string{"alice": "neutral", "mallory": "action_required"} {
			s := newActionStep(t, "workflow_run", fmt.Sprintf(`{"action": "completed", "repository": {"full_name": "octo/repo", "default_branch": "main"},
				"workflow_run": {"id": 500, "run_attempt": 1, "event": "pull_request", "conclusion": "skipped", "head_sha": %q, "head_branch": "work",
				"head_repository": {"full_name": "mallory/repo"}}}`, head), nil)
			s.server = s.github(githubtest.State{
				Repos: []githubtest.Repo{{Name: "octo/repo", Files: map[string]string{"a": "a"}, Permissions: map[string]string{"alice": "write", "mallory": "read"},
					PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work", Fork: "mallory/repo", HeadSHA: head, Author: "mallory"}}}},
				Tokens: []githubtest.Token{token},
			})
			s.env["INPUT_GITHUB-TOKEN"] = token.Value
			s.label(login)
			code := s.run(t.Context())
			checks := s.server.CheckRuns("octo/repo", head)
			if code != exit.Passed || len(checks) != 1 || checks[0].Name != "accelgate" || checks[0].Conclusion != want {
				t.Errorf("%s, label of %s: exit code %d, checks %+v, want one that is %s: %s", kind, login, code, checks, want, s.stderr.String())
			}
			if shown := strings.Contains(checks[0].Summary, "mallory set it and has no write permission"); shown != (login == "mallory") {
				t.Errorf("%s, label of %s: the check says that the label is ignored: %t\n%s", kind, login, shown, checks[0].Summary)
			}
		}
	}
}

// TestRerunAfterASkip measures again: no job of a skipped run has failed.
func TestRerunAfterASkip(t *testing.T) {
	t.Parallel()
	for name, token := range stepTokens {
		s := changedStep(t, token, fmt.Sprintf(expectingConfig, ""), map[string]string{"b": "b"}, githubtest.RunSeed{ID: 77, HeadSHA: "x", Conclusion: "success"})
		s.label("alice")
		if code := s.run(t.Context()); code != exit.Passed {
			t.Fatalf("%s: exit code %d: %s", name, code, s.stderr.String())
		}
		s.unlabel("alice")
		s.env["GITHUB_EVENT_NAME"], s.env["INPUT_RUNS"] = "issue_comment", ""
		s.comment("ghp_alice", "/accelgate rerun")
		s.write("event.json", strings.ReplaceAll(chatPayload, "%s", "/accelgate rerun"))
		code, started := s.run(t.Context()), s.server.Dispatches()
		if code != exit.Passed || len(started) != 1 || started[0].Rerun != 77 || started[0].Failed {
			t.Errorf("%s: exit code %d, started %+v, want all jobs of run 77: %s", name, code, started, s.stderr.String())
		}
	}
}
