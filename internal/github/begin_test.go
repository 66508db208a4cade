package github_test

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

func begin(t *testing.T, c *github.Client, sha string, seq github.Seq) *github.OpenCheck {
	t.Helper()
	open, err := c.BeginCheck(t.Context(), repo, sha, github.Check{Name: "accelgate", Title: "measuring", Summary: "wait", Seq: seq})
	if err != nil {
		t.Fatal(err)
	}
	return open
}

// states returns the check runs as "status conclusion".
func states(s hub, sha string) []string {
	var all []string
	for _, k := range s.CheckRuns(fullName, sha) {
		all = append(all, strings.TrimSpace(k.Status+" "+k.Conclusion))
	}
	return all
}

func wantStates(t *testing.T, s hub, sha string, want ...string) {
	t.Helper()
	if got := states(s, sha); !slices.Equal(got, want) {
		t.Errorf("got check runs %q, want %q", got, want)
	}
}

func checkIsBegunThenCompleted(t *testing.T, start starter) {
	s, address := start(t, state())
	c, sha := client(t, address, token), s.Head(fullName, "work")
	open := begin(t, c, sha, github.Seq{Run: 5, Attempt: 1})
	wantStates(t, s, sha, "in_progress")
	full := check()
	full.Annotations = annotations(70)
	first, err := open.Complete(t.Context(), full)
	if err != nil || first.Change != github.Updated {
		t.Fatalf("got %+v, %v", first, err)
	}
	wantStates(t, s, sha, "completed success")
	again, err := open.Complete(t.Context(), github.Check{Conclusion: "cancelled", Title: "t", Summary: "s"}) // the deferred one
	if err != nil || again != first {
		t.Errorf("completed twice: got %+v, %v, want the first again", again, err)
	}
	runs := s.CheckRuns(fullName, sha)
	if len(runs) != 1 || len(runs[0].Annotations) != 70 || runs[0].Conclusion != "success" {
		t.Errorf("got %d runs, the first %s with %d annotations", len(runs), runs[0].Conclusion, len(runs[0].Annotations))
	}
	// A later attempt is a run of its own: what was concluded stays as it was.
	if _, err := begin(t, c, sha, github.Seq{Run: 5, Attempt: 2}).Complete(t.Context(), full); err != nil {
		t.Fatal(err)
	}
	wantStates(t, s, sha, "completed success", "completed success")
}

// TestCheckNeverLingers cancels the job: the deferred call has to get through,
// on a bad day too.
func TestCheckNeverLingers(t *testing.T) {
	for seed := range uint64(30) {
		bad := state()
		bad.Chaos = &githubtest.Chaos{Seed: seed, Share: 0.3, Kinds: githubtest.Transient()}
		s, address := githubtest.New(t, bad)
		sha := s.Head(fullName, "work")
		ctx, cancel := context.WithCancel(t.Context())
		func() {
			open := begin(t, client(t, address, token), sha, github.Seq{Run: 5, Attempt: 1})
			defer func() {
				if _, err := open.Complete(ctx, github.Check{Conclusion: "cancelled", Title: "cancelled", Summary: "The job was cancelled."}); err != nil {
					t.Errorf("seed %d: %v", seed, err)
				}
			}()
			cancel()
		}()
		if got := states(s, sha); slices.ContainsFunc(got, func(k string) bool { return k != "completed cancelled" }) {
			t.Errorf("seed %d: got %q", seed, got)
		}
	}
}

// leftoversAreCompleted begins checks in jobs that die.
func leftoversAreCompleted(t *testing.T, start starter) {
	s, address := start(t, state())
	c, sha := client(t, address, token), s.Head(fullName, "work")
	theirs := map[string]string{"name": "accelgate", "head_sha": sha, "status": "in_progress", "external_id": "a job"}
	post(t, address, token, "/repos/octo/repo/check-runs", theirs)
	mine := map[string]string{"name": "accelgate", "head_sha": sha, "status": "in_progress", "external_id": "accelgate 3.1"}
	post(t, address, token, "/repos/octo/repo/check-runs", mine)
	mine["external_id"] = "accelgate"
	post(t, address, token, "/repos/octo/repo/check-runs", mine)
	begin(t, c, sha, github.Seq{Run: 4, Attempt: 1}) // takes over the newest of the two
	wantStates(t, s, sha, "in_progress", "in_progress", "in_progress")
	final := check()
	final.Seq, final.Conclusion = github.Seq{Run: 6, Attempt: 1}, "failure"
	if _, err := c.UpsertCheck(t.Context(), repo, sha, final); err != nil {
		t.Fatal(err)
	}
	wantStates(t, s, sha, "in_progress", "completed failure", "completed failure")
	old := check()
	old.Seq = github.Seq{Run: 5, Attempt: 9}
	if got, err := c.UpsertCheck(t.Context(), repo, sha, old); err != nil || got.Change != github.Outdated {
		t.Errorf("got %+v, %v, want it outdated", got, err)
	}
	wantStates(t, s, sha, "in_progress", "completed failure", "completed failure")
}

// TestChecksAreNotMadeTwice loses answers: there is one run, with each
// annotation once.
func TestChecksAreNotMadeTwice(t *testing.T) {
	for seed := range uint64(30) {
		lossy := state()
		lossy.Chaos = &githubtest.Chaos{Seed: seed, Share: 0.4, Kinds: []githubtest.Kind{
			githubtest.ResetAfter, githubtest.DownAfter, githubtest.Truncated, githubtest.ResetBefore, githubtest.TooMany,
		}}
		s, address := githubtest.New(t, lossy)
		sha := s.Head(fullName, "work")
		full := check()
		full.Annotations = annotations(120)
		if _, err := client(t, address, token).UpsertCheck(t.Context(), repo, sha, full); err != nil {
			t.Errorf("seed %d: %v", seed, err)
		}
		runs := s.CheckRuns(fullName, sha)
		if len(runs) != 1 || len(runs[0].Annotations) != 120 || runs[0].Conclusion != "success" {
			t.Errorf("seed %d: got %d runs, the first with %d annotations", seed, len(runs), len(runs[0].Annotations))
		}
	}
}

func TestLongCheckGoesDownTheLadder(t *testing.T) {
	for _, maximum := range []int{50_000, 9_000, 600} {
		seed := state()
		seed.Repos[0].MaxBody = maximum
		s, address := githubtest.New(t, seed)
		sha := s.Head(fullName, "work")
		long := check()
		long.Body = func(limit int) string { return strings.Repeat("x", limit) }
		for range 2 {
			if _, err := client(t, address, token).UpsertCheck(t.Context(), repo, sha, long); err != nil {
				t.Fatal(err)
			}
		}
		if runs := s.CheckRuns(fullName, sha); len(runs) != 1 || len(runs[0].Summary) > maximum || len(runs[0].Summary) < maximum/3 {
			t.Errorf("limit %d: got %d runs, the first with %d bytes", maximum, len(runs), len(runs[0].Summary))
		}
	}
}

func TestBeginRefusesWhatCannotWork(t *testing.T) {
	s, address := githubtest.New(t, state())
	c := client(t, address, token)
	for sha, wrong := range map[string]github.Check{"main": {Name: "a", Title: "t", Summary: "s"}, s.Head(fullName, "work"): {Name: "a"}} {
		if _, err := c.BeginCheck(t.Context(), repo, sha, wrong); err == nil {
			t.Errorf("%s %+v: accepted", sha, wrong)
		}
	}
	open := begin(t, c, s.Head(fullName, "work"), github.Seq{})
	if _, err := open.Complete(t.Context(), github.Check{Title: "no conclusion", Summary: "s"}); err == nil {
		t.Error("completed without a conclusion")
	}
	if _, err := open.Complete(t.Context(), check()); err != nil {
		t.Errorf("after a failure: %v", err)
	}
	_ = fmt.Sprint(open)
}
