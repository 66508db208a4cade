package cli_test

import (
	"fmt"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// faultTokens are the four kinds of credentials. Those of people cannot write
// check runs, which GitHub lets apps alone do.
var faultTokens = []githubtest.Token{
	{Value: actionToken, Login: "github-actions[bot]", Integration: true},
	{Value: "ghp_" + actionToken[4:], Login: "carol"},
	{Value: "ghs_app" + actionToken[4:], Login: "gate-app[bot]", Integration: true},
	{Value: "github_pat_" + actionToken[4:], Login: "dave", Permissions: map[string]string{
		"contents": "write", "issues": "write", "pull-requests": "write"}},
}

// faultKinds strike any request: drop, delay, duplicate, 403, 429, 500, reset, and answers
// that are empty, cut short or slow.
var faultKinds = []githubtest.Kind{
	githubtest.ResetBefore, githubtest.ResetAfter, githubtest.Late, githubtest.Duplicate, githubtest.Forbidden, githubtest.TooMany,
	githubtest.Exhausted, githubtest.Secondary, githubtest.Down, githubtest.DownAfter, githubtest.Truncated,
	githubtest.Empty, githubtest.Null, githubtest.Short, githubtest.Trickle, githubtest.NoCheck, githubtest.NoGraph,
}

// outcome is what a step may leave: an exit code, the conclusion of the check, and a
// text of the comment.
type outcome struct {
	code             int
	conclusion, text string
}

// faultCase is a verdict to publish. The first outcome is the usual one; the others
// are those of answers that GitHub did not give, and none of them is better.
type faultCase struct {
	name     string
	passes   bool              // the run's own cell
	changed  map[string]string // files of the pull request
	labelled bool
	may      []outcome
}

var faultCases = []faultCase{
	{"passes", true, map[string]string{"b": "b"}, false, []outcome{
		{exit.Passed, "neutral", "speed was NOT judged"}, {exit.GateFailed, "action_required", "configuration could not be compared"}}},
	{"wrong answer", false, map[string]string{"b": "b"}, false, []outcome{{exit.GateFailed, "failure", "Failed"}}},
	{"changed configuration", true, map[string]string{"accelgate.yaml": strings.Replace(stepConfig, "tok/s", "tok", 1)}, false, []outcome{
		{exit.GateFailed, "action_required", "Action required"}}},
	{"skipped", false, map[string]string{"b": "b"}, true, []outcome{
		{exit.Passed, "neutral", "Skipped by `@alice`"}, {exit.GateFailed, "failure", "Failed"}}},
}

// TestFaultTrial publishes verdicts while a quarter of all requests go wrong, over an
// earlier verdict and over none. Whatever happens there are never two comments, a check
// that stays in progress, a check of another colour than the verdict, or exit code 0
// with nothing published.
func TestFaultTrial(t *testing.T) { faultTrials(t, 8) }

// TestFaultTrialNightly is the same with more seeds.
func TestFaultTrialNightly(t *testing.T) {
	testtier.Nightly(t)
	faultTrials(t, 200)
}

func faultTrials(t *testing.T, seeds uint64) {
	t.Parallel()
	published, all := 0, 0
	for seed := range seeds {
		for i, c := range faultCases {
			f := faultRun{c, faultTokens[(seed+uint64(i))%uint64(len(faultTokens))], seed&4 != 0, githubtest.Chaos{Seed: seed, Share: 0.25, Kinds: faultKinds}}
			if all++; f.judge(t, f.begin(t)) {
				published++
			}
		}
	}
	t.Logf("%d of %d verdicts were published", published, all)
	if published < all*9/10 {
		t.Errorf("%d of %d verdicts were published, want 9 of 10", published, all)
	}
}

// TestFaultAtEveryRequest loses the answer to each request of a step alone.
func TestFaultAtEveryRequest(t *testing.T) { faultsAtEveryRequest(t, githubtest.ResetAfter) }

// TestFaultAtEveryRequestNightly is the same with each kind of fault.
func TestFaultAtEveryRequestNightly(t *testing.T) {
	testtier.Nightly(t)
	faultsAtEveryRequest(t, faultKinds...)
}

func faultsAtEveryRequest(t *testing.T, kinds ...githubtest.Kind) {
	t.Parallel()
	all := 0
	for i, c := range faultCases {
		for j, kind := range kinds {
			for at, struck := 1, true; struck; at++ {
				f := faultRun{c, faultTokens[(i+j)%len(faultTokens)], at%2 == 0, githubtest.Chaos{At: at, Kinds: []githubtest.Kind{kind}}}
				s := f.begin(t)
				f.judge(t, s)
				struck = slices.ContainsFunc(s.server.Requests(), func(r githubtest.Request) bool { return r.Fault != "" })
				all++
			}
		}
	}
	t.Logf("%d steps", all)
}

// TestFaultForEver has answers broken from one request on, each kind from some of them.
// Every step ends within its wait, with a completed check or exit code 3, and says why.
func TestFaultForEver(t *testing.T) { faultsForEver(t, 17) }

// TestFaultForEverNightly is the same from each request on.
func TestFaultForEverNightly(t *testing.T) {
	testtier.Nightly(t)
	faultsForEver(t, 1)
}

// foreverKinds are what a server or a token may end in.
var foreverKinds = append(githubtest.Answers(), githubtest.Empty, githubtest.Null, githubtest.Short, githubtest.Down, githubtest.ResetAfter, githubtest.Missing)

func faultsForEver(t *testing.T, step int) {
	t.Parallel()
	all := 0
	for i, c := range faultCases {
		for j, kind := range foreverKinds {
			for from, struck := 1+(i+j)%step, true; struck; from += step {
				f := faultRun{c, faultTokens[(i+j)%len(faultTokens)], from%2 == 0, githubtest.Chaos{From: from, Kinds: []githubtest.Kind{kind}}}
				s := f.begin(t)
				f.judge(t, s)
				struck = slices.ContainsFunc(s.server.Requests(), func(r githubtest.Request) bool { return r.Fault != "" })
				all++
			}
		}
	}
	t.Logf("%d steps", all)
}

// faultRun is one step under faults.
type faultRun struct {
	faultCase
	token   githubtest.Token
	earlier bool // an attempt with another verdict came before, without faults
	chaos   githubtest.Chaos
}

// begin prepares the step, up to the first fault.
func (f faultRun) begin(t *testing.T) *actionStep {
	t.Helper()
	s := newActionStep(t, "pull_request", pullPayload, map[string]string{"INPUT_GITHUB-TOKEN": f.token.Value, "INPUT_REQUIRE-BASELINE": "false"})
	s.server = s.github(githubtest.State{
		Repos: []githubtest.Repo{{Name: "octo/repo", Files: map[string]string{"accelgate.yaml": stepConfig}, Branches: map[string]map[string]string{"work": f.changed},
			PullRequests: []githubtest.PullRequestSeed{{Title: "Work", Head: "work"}}, Permissions: map[string]string{"alice": "write"}}},
		Tokens: []githubtest.Token{f.token}, CheckEvery: 7,
	})
	s.direct = true
	s.env["GITHUB_SHA"] = s.head()
	s.write("event.json", strings.ReplaceAll(pullPayload, "$HEAD", s.head()))
	s.env["INPUT_RUNS"] = filepath.Join(s.work, "runs")
	if f.earlier {
		s.write("runs/run.json", s.faultRun(!f.passes))
		s.run(t.Context())
		s.stdout.Reset()
		s.env["GITHUB_RUN_ATTEMPT"] = "2"
	}
	if f.labelled {
		s.label("alice")
	}
	s.write("runs/run.json", s.faultRun(f.passes))
	return s
}

// judge runs the step under faults, and looks at what it left.
func (f faultRun) judge(t *testing.T, s *actionStep) (published bool) {
	t.Helper()
	before := s.server.CheckRuns("octo/repo", s.head())
	f.chaos.Pause, f.chaos.Sleep = time.Second, s.sleep
	if err := s.server.Disturb(f.chaos); err != nil {
		t.Fatal(err)
	}
	code := s.run(t.Context())
	comments, checks := s.server.Comments("octo/repo", 1), s.server.CheckRuns("octo/repo", s.head())
	fail := func(format string, args ...any) {
		t.Helper()
		t.Errorf("%s, %s, earlier %t, chaos %+v: exit code %d: %s\n%s\n%v", f.name, f.token.Login, f.earlier, f.chaos, code, fmt.Sprintf(format, args...),
			s.stderr.String(), s.server.Requests())
	}
	if len(comments) > 1 {
		fail("%d comments", len(comments))
	}
	if s.waited > github.DefaultWait+time.Second { // the pause that ends a slow answer
		fail("it waited %v for GitHub", s.waited)
	}
	refused := strings.Contains(s.stdout.String(), "accelgate could not publish")
	colours, texts := false, false
	for i, check := range checks {
		if check.Status != "completed" {
			if !f.lasts() || code != exit.NoMeasure {
				fail("a check stays in progress")
			}
			continue
		}
		right := f.allows(func(o outcome) bool { return o.conclusion == check.Conclusion })
		colours = colours || right && i == len(checks)-1
		if last := i == len(checks)-1; !right && (last && !refused || i >= len(before)) {
			fail("check %d of %d is %s", i+1, len(checks), check.Conclusion)
		}
	}
	if len(comments) == 1 {
		if texts = f.allows(func(o outcome) bool { return strings.Contains(comments[0].Body, o.text) }); !texts && !refused {
			fail("the comment is of another verdict:\n%.500s", comments[0].Body)
		}
	}
	if published = colours || texts; !published && code == exit.Passed {
		fail("nothing is published")
	}
	if code == exit.NoMeasure && !namesCause.MatchString(s.stdout.String()) {
		fail("nothing names the cause:\n%s", s.stdout.String())
	}
	if !f.allows(func(o outcome) bool { return o.code == code }) && (code != exit.NoMeasure || !refused) {
		fail("want exit code %d", f.may[0].code)
	}
	return published
}

// namesCause matches what a step says of the fault that it ended by: a status, or what
// became of an answer.
var namesCause = regexp.MustCompile(`\b(40[134]|422|429|50[0234])\b|empty document|arrives too slowly|unexpected EOF|connection reset|did not confirm|was overwritten`)

// lasts reports whether the fault has no end.
func (f faultRun) lasts() bool {
	return f.chaos.From > 0 || slices.Contains(f.chaos.Kinds, githubtest.Expired)
}

func (f faultCase) allows(is func(outcome) bool) bool { return slices.ContainsFunc(f.may, is) }

// faultRun is a run of the one cell, which passed or gave a wrong answer.
func (s *actionStep) faultRun(passes bool) string {
	outcome := map[bool]string{true: "passed", false: "incorrect"}[passes]
	return fmt.Sprintf(`{"schema": 1, "revision": %q, "started": "2026-01-01T00:00:00Z", "host": {"label": "desk"},
		"metrics": [{"name": "tps", "unit": "tok/s", "better": "higher"}],
		"results": [{"cell": {"id": "s/m/c/f"}, "outcome": %q, "reason": "r", "samples": [{"metric": "tps", "values": [1]}]}]}`, s.head(), outcome)
}
