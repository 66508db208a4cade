package archtest

import (
	"path/filepath"
	"strings"
	"testing"
	"time"
)

// TestJobsOutliveTheWait: a job that talks to GitHub has a limit that is five minutes longer than api-wait. A
// killed job leaves its check in progress.
func TestJobsOutliveTheWait(t *testing.T) {
	var action struct {
		Inputs map[string]struct {
			Default string `yaml:"default"`
		} `yaml:"inputs"`
	}
	load(t, "action.yml", &action)
	wait, err := time.ParseDuration(action.Inputs["api-wait"].Default)
	if err != nil {
		t.Fatal(err)
	}
	names, jobs := workflowFiles(t), 0
	for _, name := range names {
		var w struct {
			Jobs map[string]struct {
				Timeout any `yaml:"timeout-minutes"`
				Steps   []struct {
					Uses string            `yaml:"uses"`
					With map[string]string `yaml:"with"`
				} `yaml:"steps"`
			} `yaml:"jobs"`
		}
		load(t, name, &w)
		for id, job := range w.Jobs {
			for _, step := range job.Steps {
				token, set := step.With["github-token"]
				if !strings.HasPrefix(step.Uses, "accelgate/accelgate@") && !strings.HasPrefix(step.Uses, "accelgate/accelgate/native@") || set && token == "" {
					continue
				}
				jobs++
				if minutes, ok := job.Timeout.(uint64); !ok || time.Duration(minutes)*time.Minute < wait+5*time.Minute {
					t.Errorf("%s: job %s ends after %v minutes, want 5 more than api-wait, which is %v", name, id, job.Timeout, wait)
				}
			}
		}
	}
	if jobs < 4 {
		t.Errorf("%d jobs talk to GitHub, want 4: the test looks at nothing", jobs)
	}
}

func workflowFiles(t *testing.T) (names []string) {
	t.Helper()
	found, err := filepath.Glob(filepath.Join("..", "..", ".github", "workflows", "*.yml"))
	if err != nil || len(found) == 0 {
		t.Fatalf("no workflows: %v", err)
	}
	for _, name := range found {
		names = append(names, strings.TrimPrefix(filepath.ToSlash(name), "../../"))
	}
	return names
}
