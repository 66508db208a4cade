package cli_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
)

// TestTwoDispatchesIntoOneRefresh: the text of a refresh was of the last host alone,
// and covers every file that the pull request changes.
func TestTwoDispatchesIntoOneRefresh(t *testing.T) {
	t.Parallel()
	for kind, token := range stepTokens {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			s := newActionStep(t, "workflow_dispatch", dispatchPayload, map[string]string{"INPUT_UPDATE-BASELINE": "true", "INPUT_REASON": "new driver"}).withToken(token)
			s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
			for _, host := range []string{"desk", "lab"} {
				if err := os.RemoveAll(filepath.Join(s.work, "baselines")); err != nil { // each job has a checkout of its own
					t.Fatal(err)
				}
				s.write("runs/run.json", strings.NewReplacer("$HOST", host, "$HEAD", s.head()).Replace(`{"schema": 1, "tool": "t", "revision": "$HEAD", "started": "2026-01-01T00:00:00Z",
					"host": {"label": "$HOST", "cpu": "x", "cores": 2}, "metrics": [{"name": "tps", "unit": "tok/s", "better": "higher"}],
					"results": [{"cell": {"suite": "s", "id": "on-$HOST"}, "outcome": "passed", "samples": [{"metric": "tps", "values": [123]}]}]}`))
				if code := s.run(t.Context()); code != exit.Passed {
					t.Fatalf("%s: exit code %d: %s%s", host, code, s.stdout.String(), s.stderr.String())
				}
				if host == "desk" { // another file on the branch is named
					s.server.Commit("octo/repo", "accelgate/refresh-baselines", map[string]string{"@evil.txt": "x"})
				}
			}
			pulls := s.server.PullRequests("octo/repo")
			last := pulls[len(pulls)-1]
			if len(pulls) != 2 || last.Title != "Refresh the baselines of 2 hosts" {
				t.Errorf("%d pull requests, the last is %q", len(pulls), last.Title)
			}
			for _, want := range []string{"`desk`", "`lab`", "`on-desk`", "`on-lab`", "0 numbers renewed and 2 new, on 2 hosts", "`@evil.txt`"} {
				if !strings.Contains(last.Body, want) {
					t.Errorf("the text lacks %q:\n%s", want, last.Body)
				}
			}
		})
	}
}
