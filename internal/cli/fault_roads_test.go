package cli_test

import (
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestFaultTrialOfEachRoad is TestFaultTrial for the required check of a fork's pull
// request, a command in a comment, a refresh, and a push to the default branch.
func TestFaultTrialOfEachRoad(t *testing.T) { faultyRoads(t, 8) }

// TestFaultTrialOfEachRoadNightly is the same with more seeds.
func TestFaultTrialOfEachRoadNightly(t *testing.T) {
	testtier.Nightly(t)
	faultyRoads(t, 200)
}

func faultyRoads(t *testing.T, seeds uint64) {
	t.Parallel()
	effects := map[string]int{}
	for seed := range seeds {
		chaos, token := githubtest.Chaos{Seed: seed, Share: 0.25, Kinds: faultKinds}, faultTokens[seed%uint64(len(faultTokens))]
		for name, road := range faultRoads {
			if road(t, token, chaos).effect {
				effects[name]++
			}
		}
	}
	t.Logf("of %d: %v had their effect", seeds, effects)
	for name := range faultRoads {
		if effects[name] < int(seeds)/4 { // a person's token makes no check
			t.Errorf("%s: %d of %d had their effect, want more", name, effects[name], seeds)
		}
	}
}

// TestFaultForEverOnEachRoad has answers broken from one request on, as TestFaultForEver.
func TestFaultForEverOnEachRoad(t *testing.T) { faultsForEverOnEachRoad(t, 17) }

// TestFaultForEverOnEachRoadNightly is the same from each request on.
func TestFaultForEverOnEachRoadNightly(t *testing.T) {
	testtier.Nightly(t)
	faultsForEverOnEachRoad(t, 1)
}

func faultsForEverOnEachRoad(t *testing.T, step int) {
	t.Parallel()
	all := 0
	for _, name := range slices.Sorted(maps.Keys(faultRoads)) {
		for i, kind := range foreverKinds {
			for from, struck := 1+i%step, true; struck; from += step {
				struck = faultRoads[name](t, faultTokens[i%len(faultTokens)], githubtest.Chaos{From: from, Kinds: []githubtest.Kind{kind}}).struck
				all++
			}
		}
	}
	t.Logf("%d steps", all)
}

// faultRoads are steps other than those of TestFaultTrial.
var faultRoads = map[string]func(*testing.T, githubtest.Token, githubtest.Chaos) faultyStep{
	"fork": faultyFork, "command": faultyCommand, "refresh": faultyRefresh, "push": faultyPush,
}

// faultyStep is what became of a step: whether it had its effect, and a fault struck.
type faultyStep struct{ effect, struck bool }

// underFaults runs a step within its wait. One that fails names the cause.
func (s *actionStep) underFaults(token githubtest.Token, chaos githubtest.Chaos) (code int, fail func(format string, args ...any)) {
	s.t.Helper()
	s.direct, chaos.Pause, chaos.Sleep = true, time.Second, s.sleep
	if err := s.server.Disturb(chaos); err != nil {
		s.t.Fatal(err)
	}
	s.stdout.Reset()
	s.stderr.Reset()
	code = s.run(s.t.Context())
	fail = func(format string, args ...any) {
		s.t.Helper()
		s.t.Errorf("%s, %+v: exit code %d: %s\n%s%s\n%v", token.Login, chaos, code, fmt.Sprintf(format, args...), s.stdout.String(), s.stderr.String(), s.server.Requests())
	}
	if s.waited > github.DefaultWait+time.Second { // the pause that ends a slow answer
		fail("it waited %v for GitHub", s.waited)
	}
	if code != exit.Passed && !namesCause.MatchString(s.stdout.String()+s.stderr.String()) {
		fail("nothing names the cause")
	}
	return code, fail
}

func (s *actionStep) outcome(effect bool) faultyStep {
	return faultyStep{effect, slices.ContainsFunc(s.server.Requests(), func(r githubtest.Request) bool { return r.Fault != "" })}
}

// faultyFork: the required check asks for a maintainer. Without it the step is never
// green, and it has never another conclusion.
func faultyFork(t *testing.T, token githubtest.Token, chaos githubtest.Chaos) faultyStep {
	t.Helper()
	head, asked := strings.Repeat("f", 40), false
	s := skippedFork(t, token, head)
	code, fail := s.underFaults(token, chaos)
	for _, check := range s.server.CheckRuns("octo/repo", head) {
		if check.Name != "accelgate" || check.Status != "completed" || check.Conclusion != "action_required" {
			fail("a check is %+v", check)
		}
		asked = true
	}
	if comments := s.server.Comments("octo/repo", 1); !asked && code == exit.Passed || len(comments) > 1 {
		fail("check %t, %d comments beside the seeded one", asked, len(comments)-1)
	}
	return s.outcome(asked)
}

// faultyCommand starts jobs at most once, leaves at most one reply and is never green
// where nothing started.
func faultyCommand(t *testing.T, token githubtest.Token, chaos githubtest.Chaos) faultyStep {
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
	code, fail := s.underFaults(token, chaos)
	started := s.server.Dispatches()
	replies, reactions := len(s.server.Comments("octo/repo", 1))-before, s.server.Reactions("octo/repo", id)
	declined := strings.Contains(s.stdout.String(), "The command was not run") // by GitHub's 404, its author may not write
	if replies > 1 || len(reactions) > 1 || len(started) > 1 || code == exit.Passed && (len(started) == 0 || replies == 0) && !declined {
		fail("%d replies, reactions %q, started %v", replies, reactions, started)
	}
	return s.outcome(len(started) > 0)
}

// faultyRefresh proposes a baseline in at most one pull request, and is never green
// without it.
func faultyRefresh(t *testing.T, token githubtest.Token, chaos githubtest.Chaos) faultyStep {
	t.Helper()
	s := mainStep(t, "workflow_dispatch", dispatchPayload, token)
	s.env["INPUT_UPDATE-BASELINE"], s.env["INPUT_REASON"] = "true", "new driver"
	code, fail := s.underFaults(token, chaos)
	pulls := s.server.PullRequests("octo/repo")[1:] // beside the seeded one
	_, there := s.server.File("octo/repo", "accelgate/refresh-baselines", "baselines/baseline-desk.json")
	proposed := len(pulls) == 1 && there
	if len(pulls) > 1 || code == exit.Passed && !proposed {
		fail("%d pull requests, the baseline on the branch: %t", len(pulls), there)
	}
	return s.outcome(proposed)
}

// faultyPush judges a commit of the default branch, and keeps its run. It is never green
// without a check that is.
func faultyPush(t *testing.T, token githubtest.Token, chaos githubtest.Chaos) faultyStep {
	t.Helper()
	s := mainStep(t, "push", pushPayload, token)
	s.env["INPUT_HISTORY-BRANCH"], s.env["INPUT_REQUIRE-BASELINE"] = "accelgate-history", "false"
	code, fail := s.underFaults(token, chaos)
	green := false
	for _, check := range s.server.CheckRuns("octo/repo", s.env["GITHUB_SHA"]) {
		green = check.Status == "completed" && check.Conclusion == "neutral" // no baseline judges its speed
		if !green && (check.Status == "completed" || chaos.From == 0 && code == exit.NoMeasure) {
			fail("a check is %+v", check)
		}
	}
	if code == exit.Passed && !green {
		fail("no check is green")
	}
	return s.outcome(green)
}

// mainStep judges a run of the default branch.
func mainStep(t *testing.T, event, payload string, token githubtest.Token) *actionStep {
	t.Helper()
	s := newActionStep(t, event, payload, nil).withToken(token)
	s.env["GITHUB_SHA"] = s.server.Head("octo/repo", "main")
	s.write("event.json", strings.ReplaceAll(payload, "$HEAD", s.env["GITHUB_SHA"]))
	s.write("runs/run.json", strings.ReplaceAll(s.faultRun(true), s.head(), s.env["GITHUB_SHA"]))
	s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
	return s
}
