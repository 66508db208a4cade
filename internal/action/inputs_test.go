package action

import (
	"io"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"

	"github.com/accelgate/accelgate/internal/github/actions"
)

// callers are the workflows that users call, with the events that their steps get.
var callers = map[string]actions.Event{
	"gate.yml":  {Name: "pull_request", PullRequest: &actions.PullRequest{Number: 1}},
	"forks.yml": {Name: "workflow_run", Run: &actions.Run{}},
	"chat.yml":  {Name: "issue_comment", Comment: &actions.Comment{}},
}

// sampled are values of inputs that do not take any word.
var sampled = map[string]string{
	"ab": "base", "comment": "on-change", "history-branch": "accelgate-history", "hosts": "gpu-a,gpu-b", "mode": "run",
	"report-url": "https://github.com/o/r/actions/runs/1#artifacts", "site-url": "https://o.github.io/r",
	"force": "false", "notify": "true", "publish": "false", "require-baseline": "false", "update-baseline": "false", "workflow": "accelgate.yml",
}

// TestWorkflowsGiveWhatTheActionTakes: a step of a called workflow that gets every one of
// its inputs refuses none of them.
func TestWorkflowsGiveWhatTheActionTakes(t *testing.T) {
	t.Parallel()
	steps := 0
	for name, event := range callers {
		for _, with := range ourSteps(t, filepath.Join("..", "..", ".github", "workflows", name)) {
			steps++
			env := map[string]string{}
			for input, value := range with {
				if value = strings.TrimSpace(value); strings.Contains(value, "${{") {
					value = "x"
					if one, ok := sampled[input]; ok {
						value = one
					}
				}
				env["INPUT_"+strings.ToUpper(input)] = value
			}
			event.Inputs = map[string]string{}
			gh := actions.New(actions.Options{Getenv: func(name string) string { return env[name] }, Stdout: io.Discard})
			if _, err := readInputs(gh, event); err != nil {
				t.Errorf("%s, %s: %v", name, env["INPUT_MODE"], err)
			}
		}
	}
	if steps != 7 {
		t.Errorf("%d steps of called workflows use the action, want 7: correct how this test finds them", steps)
	}
}

// ourSteps are the inputs of the steps of a workflow that use this project's action.
func ourSteps(t *testing.T, path string) (with []map[string]string) {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	var workflow struct {
		Jobs map[string]struct {
			Steps []struct {
				Uses string            `yaml:"uses"`
				With map[string]string `yaml:"with"`
			} `yaml:"steps"`
		} `yaml:"jobs"`
	}
	if err := yaml.Unmarshal(data, &workflow); err != nil {
		t.Fatal(err)
	}
	for _, job := range workflow.Jobs {
		for _, s := range job.Steps {
			if strings.HasPrefix(s.Uses, "accelgate/accelgate@") || strings.HasPrefix(s.Uses, "accelgate/accelgate/native@") {
				with = append(with, s.With)
			}
		}
	}
	return with
}
