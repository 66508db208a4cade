package github_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

func check() github.Check {
	return github.Check{
		Name: "accelgate", Conclusion: "success", Title: "12 cells passed", Summary: "all good",
		DetailsURL: "https://example.com/report",
	}
}

func annotations(n int) []github.Annotation {
	var all []github.Annotation
	for i := range n {
		all = append(all, github.Annotation{Path: "main.go", Line: i + 1, Level: "warning", Title: "slow", Message: fmt.Sprint("cell ", i)})
	}
	return all
}

func checkIsCreatedThenUpdated(t *testing.T, start starter) {
	s, address := start(t, state())
	c := client(t, address, token)
	sha := s.Head(fullName, "work")
	first, err := c.UpsertCheck(t.Context(), repo, sha, check())
	if err != nil || first.Change != github.Created || !strings.HasPrefix(first.URL, address) {
		t.Fatalf("got %+v, %v, want a new check run", first, err)
	}
	worse := check()
	worse.Conclusion, worse.Title, worse.Text = "failure", "1 cell regressed", "details"
	second, err := c.UpsertCheck(t.Context(), repo, sha, worse)
	if err != nil || second.Change != github.Updated || second.ID != first.ID {
		t.Fatalf("got %+v, %v, want check run %d updated", second, err, first.ID)
	}
	want := []githubtest.CheckRun{{
		ID: first.ID, Name: "accelgate", App: actionsBot, Status: "completed", Conclusion: "failure",
		DetailsURL: "https://example.com/report", Title: "1 cell regressed", Summary: "all good", Text: "details",
	}}
	if diff := cmp.Diff(s.CheckRuns(fullName, sha), want); diff != "" {
		t.Errorf("check runs (-got +want):\n%s", diff)
	}
}

func annotationsGoInChunks(t *testing.T, start starter) {
	for _, n := range []int{1, 50, 51, 120} {
		t.Run(fmt.Sprint(n), func(t *testing.T) {
			s, address := start(t, state())
			c := client(t, address, token)
			sha := s.Head(fullName, "work")
			annotated := check()
			annotated.Annotations = annotations(n)
			for range 2 { // the second time adds nothing
				if _, err := c.UpsertCheck(t.Context(), repo, sha, annotated); err != nil {
					t.Fatal(err)
				}
			}
			runs := s.CheckRuns(fullName, sha)
			if len(runs) != 1 || len(runs[0].Annotations) != n {
				t.Fatalf("got %d runs, the first with %d annotations, want 1 with %d", len(runs), len(runs[0].Annotations), n)
			}
			for i, got := range runs[0].Annotations {
				want := githubtest.Annotation{Path: "main.go", Line: i + 1, Level: "warning", Title: "slow", Message: fmt.Sprint("cell ", i)}
				if got != want {
					t.Errorf("annotation %d: got %+v, want %+v", i, got, want)
				}
			}
			if got, want := count(s, "checks/create")+count(s, "checks/update"), (n+49)/50+1; got != want {
				t.Errorf("got %d writing requests, want %d", got, want)
			}
		})
	}
}

func annotationsOutOfDateNeedANewRun(t *testing.T, start starter) {
	s, address := start(t, state())
	c := client(t, address, token)
	sha := s.Head(fullName, "work")
	var runs []github.CheckRun
	for _, n := range []int{3, 5, 2, 2} {
		annotated := check()
		annotated.Annotations = annotations(n)
		run, err := c.UpsertCheck(t.Context(), repo, sha, annotated)
		if err != nil {
			t.Fatal(err)
		}
		runs = append(runs, run)
	}
	if runs[1].ID != runs[0].ID || runs[2].ID == runs[1].ID || runs[3].ID != runs[2].ID {
		t.Errorf("got runs %+v, want the third to be a new one", runs)
	}
	all := s.CheckRuns(fullName, sha)
	if len(all) != 2 || len(all[0].Annotations) != 5 || len(all[1].Annotations) != 2 {
		t.Errorf("got check runs %+v, want one with 5 annotations and one with 2", all)
	}
}

func othersCheckRunsAreLeftAlone(t *testing.T, start starter) {
	s, address := start(t, state())
	sha := s.Head(fullName, "work")
	theirs := map[string]string{"name": "accelgate", "head_sha": sha, "external_id": "accelgate"}
	post(t, address, appToken, "/repos/octo/repo/check-runs", theirs)
	job := map[string]string{"name": "accelgate", "head_sha": sha, "external_id": "a job of the workflow"}
	post(t, address, token, "/repos/octo/repo/check-runs", job)
	for range 2 {
		if _, err := client(t, address, token).UpsertCheck(t.Context(), repo, sha, check()); err != nil {
			t.Fatal(err)
		}
	}
	runs := s.CheckRuns(fullName, sha)
	if len(runs) != 3 || runs[0].Status != "queued" || runs[1].Status != "queued" || runs[2].Status != "completed" {
		t.Errorf("got check runs %+v, want two untouched and a new one", runs)
	}
}

func TestCheckFitsGitHubsLimits(t *testing.T) {
	s, address := githubtest.New(t, state())
	c := client(t, address, token)
	sha := s.Head(fullName, "work")
	full := check()
	full.Summary, full.Text = strings.Repeat("é", github.MaxCheckText), strings.Repeat("é", github.MaxCheckText)
	full.Annotations = []github.Annotation{{
		Path: "main.go", Level: "failure", Title: strings.Repeat("é", 200), Message: "x" + strings.Repeat("é", 40_000) + "\xff",
	}}
	if _, err := c.UpsertCheck(t.Context(), repo, sha, full); err != nil {
		t.Fatal(err)
	}
	got := s.CheckRuns(fullName, sha)[0].Annotations[0]
	want := githubtest.Annotation{
		Path: "main.go", Line: 1, Level: "failure", Title: strings.Repeat("é", 127), Message: "x" + strings.Repeat("é", 32_767),
	}
	if got != want {
		t.Errorf("got an annotation with a title of %d and a message of %d bytes at line %d, want %d, %d and 1",
			len(got.Title), len(got.Message), got.Line, len(want.Title), len(want.Message))
	}
	for name, change := range map[string]func(*github.Check){
		"long summary": func(k *github.Check) { k.Summary = strings.Repeat("s", github.MaxCheckText+1) },
		"long text":    func(k *github.Check) { k.Text = strings.Repeat("s", github.MaxCheckText+1) },
		"no title":     func(k *github.Check) { k.Title = "" },
		"no name":      func(k *github.Check) { k.Name = "" },
	} {
		wrong := check()
		change(&wrong)
		if _, err := c.UpsertCheck(t.Context(), repo, sha, wrong); err == nil {
			t.Errorf("%s: accepted", name)
		}
	}
	for _, wrong := range []string{"", "main", sha[:7], "../../" + sha, sha + "/.."} {
		if _, err := c.UpsertCheck(t.Context(), repo, wrong, check()); err == nil {
			t.Errorf("commit %q: accepted", wrong)
		}
	}
	if got := count(s, "checks/create"); got != 1 {
		t.Errorf("got %d check runs created, want 1: what cannot work is not sent", got)
	}
}
