package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github/githubtest"
	"github.com/accelgate/accelgate/internal/testtier"
)

// TestFaultTrialOfForksAndCommands is TestFaultTrial for the required check of a fork's
// pull request, and for a command in a comment.
func TestFaultTrialOfForksAndCommands(t *testing.T) { faultyRoads(t, 8) }

// TestFaultTrialOfForksAndCommandsThorough is the same with 200 seeds.
func TestFaultTrialOfForksAndCommandsThorough(t *testing.T) {
	testtier.Thorough(t)
	faultyRoads(t, 200)
}

func faultyRoads(t *testing.T, seeds uint64) {
	t.Parallel()
	asked, started := 0, 0
	for seed := range seeds {
		chaos, token := githubtest.Chaos{Seed: seed, Share: 0.25, Kinds: faultKinds}, faultTokens[seed%uint64(len(faultTokens))]
		if faultyFork(t, token, chaos) {
			asked++
		}
		if faultyCommand(t, token, chaos) {
			started++
		}
	}
	t.Logf("of %d: %d asked for a maintainer, %d started jobs", seeds, asked, started)
	if asked == 0 || started < int(seeds)/2 {
		t.Errorf("%d checks and %d starts of %d, want more", asked, started, seeds)
	}
}

// faultyFork reports whether the required check asks for a maintainer. Without it the
// step is never green, and it has never another conclusion.
func faultyFork(t *testing.T, token githubtest.Token, chaos githubtest.Chaos) (asked bool) {
	t.Helper()
	head := strings.Repeat("f", 40)
	s := skippedFork(t, token, head)
	if err := s.server.Disturb(chaos); err != nil {
		t.Fatal(err)
	}
	code := s.run(t.Context())
	for _, check := range s.server.CheckRuns("octo/repo", head) {
		if check.Name != "accelgate" || check.Status != "completed" || check.Conclusion != "action_required" {
			t.Errorf("%s, %+v: a check is %+v\n%v", token.Login, chaos, check, s.server.Requests())
		}
		asked = true
	}
	if comments := s.server.Comments("octo/repo", 1); !asked && code == exit.Passed || len(comments) > 1 {
		t.Errorf("%s, %+v: exit code %d, check %t, %d comments beside the seeded one\n%v", token.Login, chaos, code, asked, len(comments)-1, s.server.Requests())
	}
	return asked
}

// faultyCommand reports whether a command started jobs. It does so at most once, leaves
// at most one reply and is never green where nothing started.
func faultyCommand(t *testing.T, token githubtest.Token, chaos githubtest.Chaos) bool {
	t.Helper()
	s := changedStep(t, token, fmt.Sprintf(expectingConfig, ""), map[string]string{"b": "b"}, githubtest.RunSeed{ID: 77, HeadSHA: "x", Conclusion: "failure"})
	s.editRun("blue", "green")
	if code := s.run(t.Context()); code != exit.GateFailed {
		t.Fatalf("exit code %d: %s", code, s.stderr.String())
	}
	s.env["GITHUB_EVENT_NAME"], s.env["INPUT_RUNS"] = "issue_comment", ""
	id := s.comment("ghp_alice", "/accelgate rerun")
	s.write("event.json", strings.Replace(fmt.Sprintf(chatPayload, "/accelgate rerun"), `"id": 3`, fmt.Sprintf(`"id": %d`, id), 1))
	before := len(s.server.Comments("octo/repo", 1))
	if err := s.server.Disturb(chaos); err != nil {
		t.Fatal(err)
	}
	code, started := s.run(t.Context()), s.server.Dispatches()
	replies, reactions := len(s.server.Comments("octo/repo", 1))-before, s.server.Reactions("octo/repo", id)
	if replies > 1 || len(reactions) > 1 || len(started) > 1 || code == exit.Passed && (len(started) == 0 || replies == 0) {
		t.Errorf("%s, %+v: exit code %d, %d replies, reactions %q, started %v\n%s\n%v", token.Login, chaos, code, replies, reactions, started, s.stderr.String(), s.server.Requests())
	}
	return len(started) > 0
}
