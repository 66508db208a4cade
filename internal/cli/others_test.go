package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// TestTwoDispatchesIntoOneRefresh: the text of a refresh was of the last host alone,
// and covers every file that earlier runs proposed in its pull request.
func TestTwoDispatchesIntoOneRefresh(t *testing.T) {
	t.Parallel()
	for kind, token := range stepTokens {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			twoDispatches(t, token, nil, func(title, text string) {
				if title != "Refresh the baselines of 2 hosts" {
					t.Errorf("the title is %q", title)
				}
				for want, there := range map[string]bool{"`desk`": true, "`lab`": true, "`on-desk`": true, "`on-lab`": true, "0 numbers renewed and 2 new, on 2 hosts": true,
					"proposed by an earlier run in `": true, "Not from accelgate": false} {
					if strings.Contains(text, want) != there {
						t.Errorf("want %q in the text: %t:\n%s", want, there, text)
					}
				}
			})
		})
	}
}

// TestPushesIntoARefresh: a refresh kept what others had pushed to its branch, and wrote the numbers of a loosened
// baseline into its own text. They are named first, and nothing else is said of them. The control is
// TestTwoDispatchesIntoOneRefresh.
func TestPushesIntoARefresh(t *testing.T) {
	t.Parallel()
	for kind, token := range stepTokens {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			pushed := map[string]string{"baselines/baseline-desk.json": loosened, ".github/workflows/own.yml": "on: push\n", "waivers.yml": "[]\n", "@evil.txt": "x"}
			twoDispatches(t, token, pushed, func(title, text string) {
				first, rest, _ := strings.Cut(text, "\n\n")
				for path := range pushed {
					if !strings.HasPrefix(first, "> [!WARNING]\n> **Not from accelgate**: `") || !strings.Contains(first, "`"+path+"`") || strings.Contains(rest, path) {
						t.Errorf("%s is not named first, and only there:\n%s", path, text)
					}
				}
				if title != "Refresh the baseline of lab" || strings.Contains(text, "`on-desk`") || !strings.Contains(rest, "`on-lab`") {
					t.Errorf("the text is not of the run's own host alone: %s\n%s", title, text)
				}
			})
		})
	}
}

// TestPushesIntoAWaiver: the same for the branch of a waiver. The first answer is the control.
func TestPushesIntoAWaiver(t *testing.T) {
	t.Parallel()
	s := newActionStep(t, "issue_comment", "", nil)
	for days, warned := range []bool{false, true} {
		s.write("event.json", fmt.Sprintf(chatPayload, fmt.Sprintf("/accelgate accept m__c__f__baseline tps 10%% %d the driver", days+7)))
		if code := s.run(t.Context()); code != exit.Passed {
			t.Fatalf("exit code %d: %s%s", code, s.stdout.String(), s.stderr.String())
		}
		waiver := s.server.PullRequests("octo/repo")[1]
		if first, _, _ := strings.Cut(waiver.Body, "\n\n"); strings.Contains(first, "**Not from accelgate**: `baselines/baseline-desk.json`") != warned {
			t.Errorf("want a warning: %t\n%s", warned, waiver.Body)
		}
		s.server.Commit("octo/repo", waiver.Head, map[string]string{"baselines/baseline-desk.json": loosened})
	}
}

// loosened is the baseline of desk with another number.
const loosened = `{"host_label": "desk", "captured_at": "2026-01-01T00:00:00Z", "commit": "0123abc", "schema": 1, "entries": [
	{"case_id": "on-desk", "ok": true, "metrics": {"tps": {"median": 5, "mad": 0, "n": 5, "better": "higher", "unit": "tok/s"}}}]}`

// twoDispatches refreshes two hosts by two runs, between which others push files to the branch.
func twoDispatches(t *testing.T, token githubtest.Token, pushed map[string]string, look func(title, text string)) {
	t.Helper()
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
		if host == "desk" && pushed != nil {
			s.server.Commit("octo/repo", "accelgate/refresh-baselines", pushed)
		}
	}
	pulls := s.server.PullRequests("octo/repo")
	if len(pulls) != 2 {
		t.Fatalf("%d pull requests", len(pulls))
	}
	look(pulls[1].Title, pulls[1].Body)
}
