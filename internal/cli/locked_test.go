package cli_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
)

// TestLockedPullRequest: where GitHub refuses the comment because the conversation is
// locked, the message says to unlock it and not to add a permission, and the check has
// the verdict.
func TestLockedPullRequest(t *testing.T) {
	t.Parallel()
	for name, token := range stepTokens {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := lockedStep(t, token)
			if code := s.run(t.Context()); code != exit.Passed {
				t.Fatalf("exit code %d, want 0: %s", code, s.stderr.String())
			}
			s.conclude(token, "neutral")
			if !token.Integration { // a user with write permission may comment
				if s.report() == "" {
					t.Errorf("there is no comment: %s", s.stderr.String())
				}
				return
			}
			warned := s.stdout.String()
			if s.report() != "" || strings.Count(warned, "unlock the conversation of the pull request, then run it again") != 1 || strings.Contains(warned, "permissions") {
				t.Errorf("warned:\n%s", warned)
			}
		})
	}
}
