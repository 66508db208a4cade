package cli_test

import (
	"bytes"
	"encoding/base64"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

const expectingConfig = `version: 1
policy: {remeasure: 0%s}
suites:
  - name: s
    kind: models
    command: ["true"]
    models: [m]
    backends: [c]
    features: [f]
    answer: {json: text}
    expect: [{contains: [blue]}]
    metrics: [{name: tps, json: tps, unit: tok/s, better: higher}]
`

// stepTokens are the kinds of credentials that a workflow may use.
var stepTokens = map[string]githubtest.Token{
	"actions": {Value: actionToken, Login: "github-actions[bot]", Integration: true},
	"user":    {Value: "ghp_carol0123456789", Login: "carol"},
	"app":     {Value: "ghs_gateapp0123456789", Login: "gate-app[bot]", Integration: true},
	"fine-grained": {Value: "github_pat_dave0123456789", Login: "dave", Permissions: map[string]string{
		"contents": "write", "issues": "write", "pull-requests": "write", "actions": "write"}},
}

// changedStep judges a run of a pull request whose branch holds these files beside
// or in place of the base's.
func changedStep(t *testing.T, token githubtest.Token, base string, changed map[string]string, runs ...githubtest.RunSeed) *actionStep {
	t.Helper()
	return judgingStep(t, token, base, changed, runs, false)
}

// lockedStep judges a run of a pull request whose conversation is locked.
func lockedStep(t *testing.T, token githubtest.Token) *actionStep {
	t.Helper()
	return judgingStep(t, token, fmt.Sprintf(expectingConfig, ""), map[string]string{"b": "b"}, nil, true)
}

func judgingStep(t *testing.T, token githubtest.Token, base string, changed map[string]string, runs []githubtest.RunSeed, locked bool) *actionStep {
	t.Helper()
	s := newActionStep(t, "pull_request", pullPayload, nil)
	s.server = s.github(githubtest.State{
		Repos: []githubtest.Repo{{Name: "octo/repo", Files: map[string]string{"accelgate.yaml": base, "a": "a", "baselines/baseline-desk.json": "{}"},
			Branches:     map[string]map[string]string{"work": changed},
			Runs:         runs,
			PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work", Author: "alice", Locked: locked}},
			Permissions:  map[string]string{"alice": "write", "bob": "admin", "mallory": "read", "carol": "write", "dave": "write", "tina": "triage"}}},
		Tokens: []githubtest.Token{token, {Value: "ghp_alice", Login: "alice"}, {Value: "ghp_bob", Login: "bob"}, {Value: "ghp_mallory", Login: "mallory"}},
	})
	s.write("accelgate.yaml", base)
	s.write("event.json", strings.ReplaceAll(pullPayload, "$HEAD", s.head()))
	s.write("runs/run.json", strings.ReplaceAll(`{"schema": 1, "tool": "t", "revision": "$HEAD", "started": "2026-01-01T00:00:00Z", "host": {"label": "desk", "cpu": "x", "cores": 2},
		"metrics": [{"name": "tps", "unit": "tok/s", "better": "higher"}],
		"results": [{"cell": {"suite": "s", "params": [{"key": "model", "value": "m"}, {"key": "backend", "value": "c"}, {"key": "feature", "value": "f"}, {"key": "env", "value": "baseline"}]},
			"outcome": "passed", "output": "The sky is blue.", "samples": [{"metric": "tps", "values": [1]}]}]}`, "$HEAD", s.head()))
	s.env["GITHUB_SHA"], s.env["INPUT_GITHUB-TOKEN"], s.env["INPUT_TOKEN-AUTHOR"] = s.head(), token.Value, token.Login
	s.env["INPUT_RUNS"], s.env["INPUT_REQUIRE-BASELINE"] = filepath.Join(s.work, "runs"), "false"
	return s
}

// editRun replaces a text in the run document.
func (s *actionStep) editRun(old, now string) {
	s.t.Helper()
	run, err := os.ReadFile(filepath.Join(s.work, "runs", "run.json"))
	if err != nil {
		s.t.Fatal(err)
	}
	if !strings.Contains(string(run), old) {
		s.t.Fatalf("the run document holds no %q, so this test would change nothing:\n%s", old, run)
	}
	s.write("runs/run.json", strings.Replace(string(run), old, now, 1))
}

// send sends a request as another user and returns the id in the answer.
func (s *actionStep) send(method, path, token, body string) int64 {
	s.t.Helper()
	text, _ := json.Marshal(map[string]string{"body": body})
	request := httptest.NewRequest(method, path, bytes.NewReader(text))
	request.Header.Set("Authorization", "Bearer "+token)
	request.Header.Set("Content-Type", "application/json")
	answer := httptest.NewRecorder()
	s.server.ServeHTTP(answer, request)
	var made struct{ ID int64 }
	if err := json.Unmarshal(answer.Body.Bytes(), &made); err != nil || answer.Code >= http.StatusBadRequest {
		s.t.Fatalf("%s %s: %d %s", method, path, answer.Code, answer.Body)
	}
	return made.ID
}

func (s *actionStep) comment(token, body string) int64 {
	return s.send("POST", "/repos/octo/repo/issues/1/comments", token, body)
}

// report is the comment that the step left.
func (s *actionStep) report() string {
	for _, c := range s.server.Comments("octo/repo", 1) {
		if strings.HasPrefix(c.Body, "<!-- accelgate") {
			return c.Body
		}
	}
	return ""
}

// TestPullRequestThatExcusesItself: a pull request that changed what is checked was
// green. Each kind of token finds the change, and a person approves it for one commit.
func TestPullRequestThatExcusesItself(t *testing.T) {
	t.Parallel()
	for name, token := range stepTokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			base := fmt.Sprintf(expectingConfig, "")
			s := changedStep(t, token, base, map[string]string{
				"accelgate.yaml":               strings.Replace(base, "[{contains: [blue]}]", `[{contains: ["@everyone </details>"]}]`, 1),
				"baselines/baseline-desk.json": "{ }"})
			if code := s.run(t.Context()); code != exit.GateFailed {
				t.Fatalf("exit code %d, want %d: %s", code, exit.GateFailed, s.stderr.String())
			}
			for _, want := range []string{"This pull request changes what is checked** (2 changes)", "`suites[s].expect[0].contains`", "`[blue]`", "`[\"@everyone </details>\"]`",
				"`baselines/baseline-desk.json`", "`/accelgate approve-config " + s.head() + "`"} {
				if !strings.Contains(s.report(), want) {
					t.Errorf("the comment lacks %q:\n%s", want, s.report())
				}
			}
			if doc := s.written()[".accelgate/report.json"]; !strings.Contains(doc, `"path":"suites[s].expect[0].contains"`) {
				t.Errorf("the JSON report lacks the change:\n%.3000s", doc)
			}
			s.conclude(token, "action_required")
			s.comment("ghp_alice", "/accelgate approve-config "+s.head())
			if code := s.run(t.Context()); code != exit.Passed {
				t.Fatalf("exit code %d after the approval, want 0: %s", code, s.stderr.String())
			}
			if !strings.Contains(s.report(), "Approved for this commit by `alice`") {
				t.Errorf("the comment does not state who approved:\n%s", s.report())
			}
			s.conclude(token, "neutral")
			s.push()
			if code := s.run(t.Context()); code != exit.GateFailed || strings.Contains(s.report(), "Approved for this commit") {
				t.Errorf("exit code %d after a push, want %d and no approval in\n%s", code, exit.GateFailed, s.report())
			}
			s.conclude(token, "action_required")
		})
	}
}

// push moves the head, and the event and the run follow.
func (s *actionStep) push() {
	s.t.Helper()
	old := s.head()
	s.server.Commit("octo/repo", "work", map[string]string{"pushed": "x"})
	s.editRun(old, s.head())
	s.write("event.json", strings.ReplaceAll(pullPayload, "$HEAD", s.head()))
	s.env["GITHUB_SHA"], s.env["GITHUB_RUN_ID"] = s.head(), "78"
}

// conclude demands a conclusion of the check, where the token may write one.
func (s *actionStep) conclude(token githubtest.Token, want string) {
	s.t.Helper()
	if !token.Integration {
		return
	}
	runs := s.server.CheckRuns("octo/repo", s.head())
	if last := runs[len(runs)-1]; last.Conclusion != want {
		s.t.Errorf("the check is %s, want %s", last.Conclusion, want)
	}
}

// TestApprovalsThatAreNone: comments that approve nothing leave the check as it is.
func TestApprovalsThatAreNone(t *testing.T) {
	t.Parallel()
	loose := fmt.Sprintf(expectingConfig, ", threshold: 90%")
	for name, c := range map[string]struct {
		policy string
		write  func(s *actionStep)
		code   int
	}{
		"a stranger's":      {"", func(s *actionStep) { s.comment("ghp_mallory", "/accelgate approve-config "+s.head()) }, exit.GateFailed},
		"without a commit":  {"", func(s *actionStep) { s.comment("ghp_alice", "/accelgate approve-config") }, exit.GateFailed},
		"of another commit": {"", func(s *actionStep) { s.comment("ghp_alice", "/accelgate approve-config "+strings.Repeat("2", 40)) }, exit.GateFailed},
		"a program's":       {"", func(s *actionStep) { s.comment(actionToken, "/accelgate approve-config "+s.head()) }, exit.GateFailed},
		"an edited one": {"", func(s *actionStep) {
			id := s.comment("ghp_alice", "/accelgate approve-config")
			s.send("PATCH", fmt.Sprintf("/repos/octo/repo/issues/comments/%d", id), "ghp_bob", "/accelgate approve-config "+s.head())
		}, exit.GateFailed},
		"quoted in a text":     {"", func(s *actionStep) { s.comment("ghp_alice", "Do not write /accelgate approve-config "+s.head()) }, exit.GateFailed},
		"the author's own":     {", config_changes: other-person", func(s *actionStep) { s.comment("ghp_alice", "/accelgate approve-config "+s.head()) }, exit.GateFailed},
		"the author's":         {"", func(s *actionStep) { s.comment("ghp_alice", "/accelgate approve-config "+s.head()) }, exit.Passed},
		"another person's":     {", config_changes: other-person", func(s *actionStep) { s.comment("ghp_bob", "/accelgate approve-config "+s.head()) }, exit.Passed},
		"none, and none asked": {", config_changes: warn", func(*actionStep) {}, exit.Passed},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], fmt.Sprintf(expectingConfig, c.policy), map[string]string{"accelgate.yaml": loose})
			c.write(s)
			if code := s.run(t.Context()); code != c.code {
				t.Errorf("exit code %d, want %d: %s", code, c.code, s.stderr.String())
			}
			if !strings.Contains(s.report(), "`policy.threshold`: added, `90%`") {
				t.Errorf("the comment lacks the change:\n%s", s.report())
			}
		})
	}
}

// TestConfigurationThatCannotBeCompared is never taken for one that did not change.
func TestConfigurationThatCannotBeCompared(t *testing.T) {
	t.Parallel()
	base := fmt.Sprintf(expectingConfig, "")
	for name, c := range map[string]struct {
		file   string
		refuse func(*http.Request) bool
		want   string
	}{
		"no YAML":         {"suites: [", nil, "could not be compared"},
		"two documents":   {base + "---\n" + base, nil, "could not be compared"},
		"too large":       {base + "# " + strings.Repeat("x", 2<<20), nil, "more than"},
		"empty":           {"", nil, "file is empty"},
		"a refused read":  {base + "# x", func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/compare/") }, "could not be compared"},
		"a refused read ": {base + "# x", func(r *http.Request) bool { return strings.Contains(r.URL.Path, "/contents/") }, "could not be compared"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], base, map[string]string{"accelgate.yaml": c.file})
			s.refuse = c.refuse
			if code := s.run(t.Context()); code != exit.GateFailed || !strings.Contains(s.report(), c.want) {
				t.Errorf("exit code %d, want %d and %q in\n%s", code, exit.GateFailed, c.want, s.report())
			}
		})
	}
	s := changedStep(t, stepTokens["actions"], base, map[string]string{"accelgate.yaml": "# a remark\n" + base})
	if code := s.run(t.Context()); code != exit.Passed || strings.Contains(s.report(), "changes what is checked") {
		t.Errorf("a remark: exit code %d, want 0 and no section in\n%s", code, s.report())
	}
}

// TestConfigurationThatIsReadInPart: whatever half of an answer GitHub gives, a pull request that
// sets its own limit is not green. The first case shows that the change is one.
func TestConfigurationThatIsReadInPart(t *testing.T) {
	t.Parallel()
	base := fmt.Sprintf(expectingConfig, "")
	compare, contents := "/compare/", "/contents/"
	set := func(key string, value any) func(map[string]any) any {
		return func(answer map[string]any) any { answer[key] = value; return answer }
	}
	for name, c := range map[string]struct {
		of    string // of which requests
		alter func(map[string]any) any
		want  string
	}{
		"as it is":                     {"/nothing/", nil, "`policy.threshold`: added, `90%`"},
		"a comparison of {}":           {compare, func(map[string]any) any { return map[string]any{} }, "empty document"},
		"a comparison of null":         {compare, func(map[string]any) any { return nil }, "empty document"},
		"no list of files":             {compare, set("files", nil), "has no list of files"},
		"files without names":          {compare, set("files", []any{map[string]any{}}), "has a file without a name"},
		"no merge base":                {compare, set("merge_base_commit", map[string]any{}), "names no commit"},
		"another merge base":           {compare, set("status", "identical"), "contradicts itself"},
		"no status":                    {compare, set("status", ""), "does not state how"},
		"contents of neither commit":   {contents, func(map[string]any) any { return missing }, "neither at"},
		"contents of {}":               {contents, func(map[string]any) any { return map[string]any{} }, "empty document"},
		"contents of null":             {contents, func(map[string]any) any { return nil }, "empty document"},
		"contents of half the size":    {contents, halved, "of the file's"},
		"contents without a size":      {contents, set("size", nil), "does not hold the file"},
		"contents without an encoding": {contents, set("encoding", ""), "does not hold the file"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], base, map[string]string{"accelgate.yaml": fmt.Sprintf(expectingConfig, ", threshold: 90%")})
			s.alter = func(r *http.Request, answer map[string]any) any {
				if strings.Contains(r.URL.Path, c.of) {
					return c.alter(answer)
				}
				return answer
			}
			if code := s.run(t.Context()); code != exit.GateFailed || !strings.Contains(strings.ReplaceAll(s.report(), "&#39;", "'"), c.want) {
				t.Errorf("exit code %d, want %d and %q in\n%s", code, exit.GateFailed, c.want, s.report())
			}
			s.conclude(stepTokens["actions"], "action_required")
		})
	}
}

// halved leaves of a file's contents what both sides begin with.
func halved(answer map[string]any) any {
	data, _ := base64.StdEncoding.DecodeString(answer["content"].(string))
	answer["content"] = base64.StdEncoding.EncodeToString(data[:len("version: 1\n")])
	return answer
}

// TestHeadsRuleForItsOwnChanges: one job that measures and posts has the pull request's
// configuration, whose config_changes counts for nothing, whatever GitHub answers.
func TestHeadsRuleForItsOwnChanges(t *testing.T) {
	t.Parallel()
	for name, refused := range map[string]string{"all answered": "/nothing/", "no comparison": "/compare/", "no file": "/contents/", "a link": "/nothing/"} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			head := fmt.Sprintf(expectingConfig, ", config_changes: warn")
			path := map[bool]string{true: "real.yaml", false: "accelgate.yaml"}[name == "a link"]
			s := changedStep(t, stepTokens["actions"], fmt.Sprintf(expectingConfig, ""), map[string]string{path: head})
			s.write(path, head)
			if path == "real.yaml" {
				if err := errors.Join(os.Remove(filepath.Join(s.work, "accelgate.yaml")), os.Symlink(path, filepath.Join(s.work, "accelgate.yaml"))); err != nil {
					t.Skip("this system makes no links: ", err)
				}
			}
			s.env["INPUT_RUNS"] = ""
			s.refuse = func(r *http.Request) bool { return strings.Contains(r.URL.Path, refused) }
			if s.run(t.Context()); !strings.Contains(s.report(), "can approve them for this commit") || strings.Contains(s.report(), "no approval is needed") {
				t.Errorf("the pull request approves itself:\n%s\n%s", s.report(), s.stderr.String())
			}
		})
	}
}

// TestOutcomeOfTheHeadsExpectations: a run that passed by its own expectations was
// green, whatever the base expects.
func TestOutcomeOfTheHeadsExpectations(t *testing.T) {
	t.Parallel()
	base := fmt.Sprintf(expectingConfig, ", config_changes: warn")
	for name, c := range map[string]struct {
		run  [2]string
		code int
		want string
	}{
		"the expected answer": {[2]string{"", ""}, exit.Passed, "answers are right"},
		"another answer":      {[2]string{"The sky is blue.", "The sky is green."}, exit.GateFailed, "the answer lacks"},
		"no answer":           {[2]string{`"output": "The sky is blue.", `, ""}, exit.GateFailed, "the run recorded no answer, which the configuration expects"},
		"a cut answer":        {[2]string{"The sky is blue.", strings.Repeat("x", 4096) + "..."}, exit.Passed, "do not show all that is expected"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], base, map[string]string{"accelgate.yaml": strings.Replace(base, "    expect: [{contains: [blue]}]\n", "", 1)})
			s.editRun(c.run[0], c.run[1])
			if code := s.run(t.Context()); code != c.code || !strings.Contains(s.report(), c.want) {
				t.Errorf("exit code %d, want %d and %q in\n%s\n%s", code, c.code, c.want, s.report(), s.stderr.String())
			}
			if !strings.Contains(s.report(), "`suites[s].expect[0].contains`: removed, was `[blue]`") {
				t.Errorf("the comment lacks the change:\n%s", s.report())
			}
		})
	}
}

// TestApproveConfigCommand: the command is refused for another commit than the head
// and, where the policy says so, for the author; otherwise it starts the posting job.
func TestApproveConfigCommand(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		policy, commit string
		code           int
		want           string
	}{
		"the head":         {"", "$HEAD", exit.Passed, "is approved. The failed jobs of run 77"},
		"no commit":        {"", "", exit.Usage, "approve-config takes the full id of the head"},
		"another commit":   {"", strings.Repeat("2", 40), exit.Usage, "approve-config takes the full id of the head"},
		"a short id":       {"", "$SHORT", exit.Usage, "approve-config takes the full id of the head"},
		"the author's own": {", config_changes: other-person", "$HEAD", exit.Usage, "ask another user with write permission"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], fmt.Sprintf(expectingConfig, c.policy), map[string]string{"accelgate.yaml": fmt.Sprintf(expectingConfig, ", threshold: 90%")},
				githubtest.RunSeed{ID: 77, HeadSHA: "x", Conclusion: "failure"})
			if code := s.run(t.Context()); code != exit.GateFailed {
				t.Fatalf("exit code %d: %s", code, s.stderr.String())
			}
			body := "/accelgate approve-config " + strings.NewReplacer("$HEAD", s.head(), "$SHORT", s.head()[:12]).Replace(c.commit)
			s.comment("ghp_alice", body)
			s.env["GITHUB_EVENT_NAME"], s.env["INPUT_RUNS"] = "issue_comment", ""
			s.write("event.json", fmt.Sprintf(chatPayload, body))
			code := s.run(t.Context())
			replied := strings.ReplaceAll(strings.ReplaceAll(s.stdout.String(), "[run 77]", "run 77"), "\n", " ")
			if started := len(s.server.Dispatches()); code != c.code || !strings.Contains(replied, c.want) || started > 0 != (c.code == exit.Passed) {
				t.Errorf("exit code %d, want %d and %q, %d runs started:\n%s%s", code, c.code, c.want, started, replied, s.stderr.String())
			}
		})
	}
}

// TestApproveConfigByTheBranchOfTheBase: whether the author may approve is the rule of the branch that the pull request
// goes into, and not of the default branch, which the workflow for comments has checked out.
func TestApproveConfigByTheBranchOfTheBase(t *testing.T) {
	t.Parallel()
	for name, code := range map[string]int{"main": exit.Passed, "release": exit.Usage} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := newActionStep(t, "issue_comment", "", nil)
			ours := fmt.Sprintf(expectingConfig, "")
			s.server = s.github(githubtest.State{Tokens: []githubtest.Token{stepTokens["actions"]}, Repos: []githubtest.Repo{{Name: "octo/repo", Files: map[string]string{"accelgate.yaml": ours},
				Branches:     map[string]map[string]string{"work": {"b": "b"}, "release": {"accelgate.yaml": fmt.Sprintf(expectingConfig, ", config_changes: other-person")}},
				PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work", Base: name, Author: "alice"}}, Permissions: map[string]string{"alice": "write"},
				Comments: []githubtest.CommentSeed{{Issue: 1, Author: "alice", Body: "hello"}}}}})
			s.write("accelgate.yaml", ours)
			s.write("event.json", fmt.Sprintf(chatPayload, "/accelgate approve-config "+s.head()))
			if got := s.run(t.Context()); got != code {
				t.Errorf("exit code %d, want %d:\n%s%s", got, code, s.stdout.String(), s.stderr.String())
			}
		})
	}
}

// TestApprovalsAreReadAlike: what the job that answers calls approved, the job that posts takes for an approval, and
// nothing else, however the command is spelt. The first spelling shows that the rest can be refused.
func TestApprovalsAreReadAlike(t *testing.T) {
	t.Parallel()
	for spelt, approves := range map[string]bool{
		"/accelgate approve-config $HEAD":             true,
		"/accelgate  approve-config   $HEAD ":         true,
		"/accelgate\u00a0approve-config\u00a0$HEAD":   true,
		"/accelgate\u2003approve-config $HEAD":        true,
		"/accelgate\tapprove-config $HEAD\nthank you": true,
		"/accelgate `approve-config` \"$HEAD\"":       true,
		"/accelgate approve-config $HEAD please":      false,
		"/accelgate approve-config \"$HEAD":           false,
		"/accelgate approve-config '$HEAD'":           false,
		"/accelgate Approve-Config $HEAD":             false,
		"/accelgate approve-config\n$HEAD":            false,
		"/accelgate engine: approve-config $HEAD":     false,
		"/accelgate\u200bapprove-config $HEAD":        false,
		"/accelgate-approve-config $HEAD":             false,
		"/accelgate rerun $HEAD":                      false,
	} {
		t.Run(spelt, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], fmt.Sprintf(expectingConfig, ""), map[string]string{"accelgate.yaml": fmt.Sprintf(expectingConfig, ", threshold: 90%")})
			body := strings.ReplaceAll(spelt, "$HEAD", s.head())
			s.comment("ghp_alice", body)
			if code := s.run(t.Context()); code == exit.Passed != approves {
				t.Errorf("the job that posts: exit code %d, want an approval: %t\n%s", code, approves, s.report())
			}
			s.stdout.Reset()
			text, _ := json.Marshal(body)
			s.env["GITHUB_EVENT_NAME"], s.env["INPUT_RUNS"] = "issue_comment", ""
			s.write("event.json", strings.Replace(chatPayload, `"%s"`, string(text), 1))
			s.run(t.Context())
			if answered := strings.Contains(s.stdout.String(), "is approved"); answered != approves {
				t.Errorf("the job that answers: approved %t, want %t\n%s%s", answered, approves, s.stdout.String(), s.stderr.String())
			}
		})
	}
}
