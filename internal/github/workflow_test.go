package github_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

func TestWorkflowsAreStarted(t *testing.T) {
	seed, _ := artifacts()
	s, address := githubtest.New(t, seed)
	c := client(t, address, token)
	if err := c.Dispatch(t.Context(), repo, "accelgate.yml", "main", map[string]string{"reason": "new driver"}); err != nil {
		t.Error(err)
	}
	if err := c.RerunFailedJobs(t.Context(), repo, 100); err != nil {
		t.Error(err)
	}
	if err := c.RerunFailedJobs(t.Context(), repo, 100); err == nil || !strings.Contains(err.Error(), "wait until it has ended") {
		t.Errorf("again: got %v", err)
	}
	want := []githubtest.Dispatch{
		{Workflow: "accelgate.yml", Ref: "main", Payload: map[string]any{"reason": "new driver"}, Login: actionsBot},
		{Rerun: 100, Failed: true, Login: actionsBot},
	}
	if diff := cmp.Diff(s.Dispatches(), want); diff != "" {
		t.Errorf("dispatches (-got +want):\n%s", diff)
	}
	for _, wrong := range []string{"", "..", "a/b", "a b", "x?y", strings.Repeat("a", 201)} {
		if err := c.Dispatch(t.Context(), repo, wrong, "main", nil); err == nil {
			t.Errorf("workflow %q: accepted", wrong)
		}
	}
	if err := c.Dispatch(t.Context(), repo, "accelgate.yml", "nowhere", nil); err == nil || !strings.Contains(err.Error(), "No ref found") {
		t.Errorf("unknown branch: got %v", err)
	}
}

// TestNothingIsStartedTwice loses the answers to everything that starts
// something: who asked is told to look.
func TestNothingIsStartedTwice(t *testing.T) {
	for _, kind := range []githubtest.Kind{githubtest.ResetAfter, githubtest.DownAfter, githubtest.Truncated} {
		seed, _ := artifacts()
		seed.Chaos = &githubtest.Chaos{Share: 1, Kinds: []githubtest.Kind{kind}}
		s, address := githubtest.New(t, seed)
		c := client(t, address, token)
		for i, err := range []error{
			c.Dispatch(t.Context(), repo, "accelgate.yml", "main", nil),
			c.RerunFailedJobs(t.Context(), repo, 100),
		} {
			// An empty answer cannot be cut short.
			if kind == githubtest.Truncated && err == nil {
				continue
			}
			if err == nil || !strings.Contains(err.Error(), "look at the workflow's runs") {
				t.Errorf("%s: call %d: got %v", kind, i, err)
			}
		}
		if got := s.Dispatches(); len(got) != 2 {
			t.Errorf("%s: got %s, want each once", kind, fmt.Sprint(got))
		}
	}
}
