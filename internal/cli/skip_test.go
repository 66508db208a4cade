package cli_test

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github/githubtest"
)

// labelledStep is a step on a pull request whose run is incorrect and on which labels
// were set and removed.
func labelledStep(t *testing.T, token githubtest.Token, labels ...githubtest.LabelSeed) *actionStep {
	t.Helper()
	s := changedStep(t, token, fmt.Sprintf(expectingConfig, ""), map[string]string{"b": "b"})
	before := s.head()
	s.server = s.github(githubtest.State{
		Repos: []githubtest.Repo{{Name: "octo/repo", Files: map[string]string{"accelgate.yaml": fmt.Sprintf(expectingConfig, ""), "a": "a"},
			Branches:     map[string]map[string]string{"work": {"b": "b"}},
			PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work", Author: "alice", Labels: labels}},
			Permissions:  map[string]string{"alice": "write", "tess": "triage", "mallory": "read"}}},
		Tokens: []githubtest.Token{token},
	})
	has := ""
	for _, l := range labels {
		if has = `"` + l.Name + `"`; l.Removed {
			has = `"other"` // the label was there when the event happened, and another one is now
		}
	}
	payload := strings.Replace(pullPayload, `"pull_request": {`, `"pull_request": {"labels": [{"name": "x"}, {"name": `+has+`}], `, 1)
	s.write("event.json", strings.ReplaceAll(payload, "$HEAD", s.head()))
	s.env["GITHUB_SHA"] = s.head()
	s.editRun(before, s.head())
	s.editRun("The sky is blue.", "The sky is green.")
	return s
}

// TestSkipLabel: the label takes a pull request out of the gate, whatever the token,
// and the check, the comment and the summary say who set it.
func TestSkipLabel(t *testing.T) {
	t.Parallel()
	for name, token := range stepTokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := labelledStep(t, token, githubtest.LabelSeed{Name: "accelgate-skip", By: "alice"})
			if code := s.run(t.Context()); code != exit.Passed {
				t.Fatalf("exit code %d, want %d: %s", code, exit.Passed, s.stderr.String())
			}
			summary, _ := os.ReadFile(s.env["GITHUB_STEP_SUMMARY"])
			for where, said := range map[string]string{"comment": s.report(), "summary": string(summary)} {
				if !strings.Contains(said, "`alice` set the label `accelgate-skip`") {
					t.Errorf("the %s does not say who set the label:\n%s", where, said)
				}
			}
			for _, check := range s.server.CheckRuns("octo/repo", s.head()) {
				if check.Status != "completed" || check.Conclusion != "neutral" || !strings.Contains(check.Title, "alice set the label accelgate-skip") {
					t.Errorf("the check is %s %s, %q", check.Status, check.Conclusion, check.Title)
				}
			}
		})
	}
}

// TestSkipLabelsThatDoNotCount: users who may only triage may set labels; neither
// theirs nor an earlier label takes a pull request out of the gate.
func TestSkipLabelsThatDoNotCount(t *testing.T) {
	t.Parallel()
	const label = "accelgate-skip"
	for name, labels := range map[string][]githubtest.LabelSeed{
		"triage":         {{Name: label, By: "tess"}},
		"reader":         {{Name: label, By: "mallory"}},
		"stranger":       {{Name: label, By: "ghost"}},
		"removed, again": {{Name: label, By: "alice"}, {Name: label, By: "alice", Removed: true}, {Name: label, By: "tess"}},
		"another label":  {{Name: "performance", By: "alice"}},
		"removed":        {{Name: label, By: "alice"}, {Name: label, By: "alice", Removed: true}},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := labelledStep(t, stepTokens["actions"], labels...)
			if code := s.run(t.Context()); code != exit.GateFailed {
				t.Errorf("exit code %d, want %d: %s", code, exit.GateFailed, s.stdout.String())
			}
			if last := labels[len(labels)-1]; last.Name == label && !last.Removed && !strings.Contains(s.stdout.String(), "::warning") {
				t.Errorf("nothing says that the label is ignored:\n%s", s.stdout.String())
			}
		})
	}
}
