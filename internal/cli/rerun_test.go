package cli_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// TestRerunAfterAFailedPost: the failed jobs alone ran again where the measurement
// was the cause, and nothing where the report could not be posted.
func TestRerunAfterAFailedPost(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		run    [2]string // replaced in the run document
		refuse func(*http.Request) bool
		want   githubtest.Dispatch
	}{
		"a wrong answer": {[2]string{"blue", "green"}, nil, githubtest.Dispatch{Rerun: 77}},
		"no cell passed": {[2]string{`"outcome": "passed"`, `"outcome": "skipped"`}, nil, githubtest.Dispatch{Rerun: 77}},
		"neither the comment nor the check could be written": {[2]string{}, func(r *http.Request) bool {
			return r.Method != http.MethodGet && !strings.HasSuffix(r.URL.Path, "/check-runs")
		}, githubtest.Dispatch{Rerun: 77, Failed: true}},
	} {
		for kind, token := range stepTokens {
			if c.refuse != nil && !token.Integration {
				continue // such a token leaves no trace of a run that could not be posted
			}
			t.Run(name+"/"+kind, func(t *testing.T) {
				t.Parallel()
				s := changedStep(t, token, strings.ReplaceAll(expectingConfig, "%s", ""), map[string]string{"b": "b"}, githubtest.RunSeed{ID: 77, HeadSHA: "x", Conclusion: "failure"})
				if c.run[0] != "" {
					s.editRun(c.run[0], c.run[1])
				}
				s.refuse = c.refuse
				if code := s.run(t.Context()); code == exit.Passed {
					t.Fatalf("exit code 0: %s", s.stderr.String())
				}
				s.refuse = nil
				s.env["GITHUB_EVENT_NAME"], s.env["INPUT_RUNS"] = "issue_comment", ""
				s.comment("ghp_alice", "/accelgate rerun")
				s.write("event.json", strings.ReplaceAll(chatPayload, "%s", "/accelgate rerun"))
				code, started := s.run(t.Context()), s.server.Dispatches()
				if code != exit.Passed || len(started) != 1 || started[0].Rerun != c.want.Rerun || started[0].Failed != c.want.Failed {
					t.Errorf("exit code %d, started %+v, want %+v: %s", code, started, c.want, s.stderr.String())
				}
			})
		}
	}
}
