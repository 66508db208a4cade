package github_test

import (
	"errors"
	"fmt"
	"io"
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

const branch = "accelgate/refresh"

func refresh() github.Refresh {
	return github.Refresh{
		Branch: branch, Title: "Refresh baselines", Body: github.Fixed("| old | new |"), Message: "refresh baselines: faster kernels",
		Files: map[string][]byte{"baselines/baseline-a.json": []byte("{\"a\": 1}\n")},
	}
}

func propose(t *testing.T, address string, r github.Refresh) github.PullRequest {
	t.Helper()
	got, err := client(t, address, token).OpenRefresh(t.Context(), repo, r)
	if err != nil {
		t.Fatal(err)
	}
	return got
}

// proposed returns the pull requests from the branch.
func proposed(s hub) []githubtest.PullRequest {
	var from []githubtest.PullRequest
	for _, p := range s.PullRequests(fullName) {
		if p.Head == branch {
			from = append(from, p)
		}
	}
	return from
}

func wantFile(t *testing.T, s hub, path, want string) {
	t.Helper()
	if got, found := s.File(fullName, branch, path); !found || got != want {
		t.Errorf("%s on %s: got %q, %v, want %q", path, branch, got, found, want)
	}
}

func refreshIsOpenedThenReused(t *testing.T, start starter) {
	s, address := start(t, state())
	first := propose(t, address, refresh())
	if first.Change != github.Created || first.Number != 8 || first.URL != address+"/octo/repo/pull/8" {
		t.Errorf("first: got %+v, want pull request 8 created", first)
	}
	want := []githubtest.PullRequest{{
		Number: 8, State: "open", Title: "Refresh baselines", Body: "| old | new |", Head: branch, Base: "main", Author: actionsBot,
	}}
	if diff := cmp.Diff(proposed(s), want); diff != "" {
		t.Errorf("pull requests (-got +want):\n%s", diff)
	}
	wantFile(t, s, "baselines/baseline-a.json", "{\"a\": 1}\n")
	wantFile(t, s, "README.md", "hello\n")

	head := s.Head(fullName, branch)
	if got := propose(t, address, refresh()); got.Change != github.Unchanged || got.Number != 8 {
		t.Errorf("the same again: got %+v, want pull request 8 unchanged", got)
	}
	if got := s.Head(fullName, branch); got != head {
		t.Error("the same again: a new commit")
	}

	other := refresh()
	other.Body = github.Fixed("| old | new | host b")
	other.Files = map[string][]byte{"baselines/baseline-b.json": {0xff, 0, '\n'}}
	if got := propose(t, address, other); got.Change != github.Updated || got.Number != 8 {
		t.Errorf("another host: got %+v, want pull request 8 updated", got)
	}
	wantFile(t, s, "baselines/baseline-a.json", "{\"a\": 1}\n")
	wantFile(t, s, "baselines/baseline-b.json", "\xff\x00\n")
	want[0].Body = "| old | new | host b"
	if diff := cmp.Diff(proposed(s), want); diff != "" {
		t.Errorf("pull requests (-got +want):\n%s", diff)
	}
}

func refreshWithoutChangesOpensNothing(t *testing.T, start starter) {
	s, address := start(t, state())
	same := refresh()
	same.Files = map[string][]byte{"baselines/baseline-old.json": []byte("{}\n")}
	if got := propose(t, address, same); got.Number != 0 || got.Change != github.Unchanged {
		t.Errorf("got %+v, want no pull request", got)
	}
	if pulls, head := proposed(s), s.Head(fullName, branch); len(pulls) > 0 || head != "" {
		t.Errorf("got pull requests %+v and branch head %q, want none", pulls, head)
	}
}

func refreshBackToTheBaseClosesThePullRequest(t *testing.T, start starter) {
	s, address := start(t, state())
	worse := refresh()
	worse.Files = map[string][]byte{"baselines/baseline-old.json": []byte("{\"worse\": true}\n")}
	propose(t, address, worse)
	back := refresh()
	back.Files = map[string][]byte{"baselines/baseline-old.json": []byte("{}\n")}
	if got := propose(t, address, back); got.Change != github.Closed || got.Number != 8 {
		t.Errorf("got %+v, want pull request 8 closed", got)
	}
	if pulls, head := proposed(s), s.Head(fullName, branch); len(pulls) != 1 || pulls[0].State != "closed" || head != "" {
		t.Errorf("got pull requests %+v and branch head %q, want one closed and no branch", pulls, head)
	}
	if comments := s.Comments(fullName, 8); len(comments) != 1 || !strings.Contains(comments[0].Body, "Nothing here differs") {
		t.Errorf("got comments %+v, want one that says why", comments)
	}
	if got := propose(t, address, back); got.Number != 0 || got.Change != github.Unchanged {
		t.Errorf("the same again: got %+v, want nothing done", got)
	}
	if got := propose(t, address, worse); got.Number != 9 || got.Change != github.Created {
		t.Errorf("worse again: got %+v, want pull request 9 created", got)
	}
}

func refreshStartsANewBranchAfterTheOldPullRequest(t *testing.T, start starter) {
	s, address := start(t, state())
	propose(t, address, refresh())
	closePull(t, address, 8)
	base := s.Commit(fullName, "main", map[string]string{"later.txt": "later\n"})
	other := refresh()
	other.Files = map[string][]byte{"baselines/baseline-b.json": []byte("{}\n")}
	if got := propose(t, address, other); got.Change != github.Created || got.Number != 9 {
		t.Errorf("got %+v, want pull request 9 created", got)
	}
	want := []string{"README.md", "baselines/baseline-b.json", "baselines/baseline-old.json", "later.txt"}
	if diff := cmp.Diff(s.Files(fullName, branch), want); diff != "" {
		t.Errorf("files on the branch of base %s (-got +want):\n%s", base, diff)
	}
}

func refreshIntoAnotherBase(t *testing.T, start starter) {
	s, address := start(t, state())
	into := refresh()
	into.Base = "work"
	propose(t, address, into)
	if pulls := proposed(s); len(pulls) != 1 || pulls[0].Base != "work" {
		t.Errorf("got pull requests %+v, want one into work", pulls)
	}
	wantFile(t, s, "main.go", "package main\n")
}

func refreshThatLosesARaceIsRepeatedOnce(t *testing.T, start starter) {
	for name, at := range map[string]struct{ method, suffix string }{
		"pull request appears": {"POST", "/pulls"},
		"branch appears":       {"POST", "/git/refs"},
	} {
		t.Run(name, func(t *testing.T) {
			s, address := start(t, state())
			transport := &interrupting{method: at.method, suffix: at.suffix, do: func() { propose(t, address, refresh()) }}
			c := clientWith(t, github.Options{BaseURL: address, Token: token, Transport: transport})
			got, err := c.OpenRefresh(t.Context(), repo, refresh())
			if err != nil || got.Number != 8 {
				t.Errorf("got %+v, %v, want the other's pull request 8", got, err)
			}
			if pulls := proposed(s); len(pulls) != 1 {
				t.Errorf("got pull requests %+v, want one", pulls)
			}
			wantFile(t, s, "baselines/baseline-a.json", "{\"a\": 1}\n")
		})
	}
	t.Run("branch moves on", func(t *testing.T) {
		s, address := start(t, state())
		propose(t, address, refresh())
		other := refresh()
		other.Files = map[string][]byte{"baselines/baseline-b.json": []byte("b\n")}
		third := refresh()
		third.Files = map[string][]byte{"baselines/baseline-c.json": []byte("c\n")}
		transport := &interrupting{method: "PATCH", suffix: "/git/refs/heads/" + branch, do: func() { propose(t, address, other) }}
		c := clientWith(t, github.Options{BaseURL: address, Token: token, Transport: transport})
		if _, err := c.OpenRefresh(t.Context(), repo, third); err != nil {
			t.Fatal(err)
		}
		wantFile(t, s, "baselines/baseline-a.json", "{\"a\": 1}\n")
		wantFile(t, s, "baselines/baseline-b.json", "b\n")
		wantFile(t, s, "baselines/baseline-c.json", "c\n")
	})
}

func refreshRefusesWhatIsNotItsOwn(t *testing.T, start starter) {
	s, address := start(t, state())
	c := client(t, address, token)
	for name, change := range map[string]func(*github.Refresh){
		"the default branch":           func(r *github.Refresh) { r.Branch = "main" },
		"the default as another base":  func(r *github.Refresh) { r.Branch, r.Base = "main", "work" },
		"the base":                     func(r *github.Refresh) { r.Branch, r.Base = "work", "work" },
		"a base that is not there":     func(r *github.Refresh) { r.Base = "nope" },
		"no branch":                    func(r *github.Refresh) { r.Branch = "" },
		"no title":                     func(r *github.Refresh) { r.Title = "" },
		"no files":                     func(r *github.Refresh) { r.Files = nil },
		"a text longer than GitHub's":  func(r *github.Refresh) { r.Body = github.Fixed(strings.Repeat("é", github.MaxText/2+1)) },
		"a branch like an option":      func(r *github.Refresh) { r.Branch = "-f" },
		"a branch with dots":           func(r *github.Refresh) { r.Branch = "a..b" },
		"a branch with a space":        func(r *github.Refresh) { r.Branch = "a b" },
		"a branch with a line break":   func(r *github.Refresh) { r.Branch = "a\nb" },
		"a branch that git locks":      func(r *github.Refresh) { r.Branch = "a.lock/b" },
		"a branch ending in a slash":   func(r *github.Refresh) { r.Branch = "a/" },
		"an absolute path":             file("/etc/passwd"),
		"a path out of the repository": file("../a"),
		"a path with dots inside":      file("a/../b"),
		"a path into .git":             file("a/.Git/config"),
		"a path with a backslash":      file(`a\b`),
		"a path with a control":        file("a\x1bb"),
		"the root":                     file("."),
		"an empty path":                file(""),
	} {
		t.Run(name, func(t *testing.T) {
			wrong := refresh()
			change(&wrong)
			if got, err := c.OpenRefresh(t.Context(), repo, wrong); err == nil {
				t.Errorf("got %+v, want an error", got)
			}
		})
	}
	for _, request := range s.Requests() {
		if request.Method != "GET" {
			t.Errorf("something was written: %s", request)
		}
	}
}

func file(path string) func(*github.Refresh) {
	return func(r *github.Refresh) { r.Files[path] = []byte("x") }
}

// closePull closes a pull request as a person does.
func closePull(t *testing.T, address string, number int) {
	t.Helper()
	request, err := http.NewRequest(http.MethodPatch, fmt.Sprintf("%s/repos/octo/repo/pulls/%d", address, number),
		strings.NewReader(`{"state": "closed"}`))
	if err != nil {
		t.Fatal(err)
	}
	request.Header.Set("Authorization", "Bearer "+userToken)
	response, err := http.DefaultClient.Do(request)
	if err != nil {
		t.Fatal(err)
	}
	response.Body.Close()
}

// refreshOnAMovingBase pushes to the base before every request for a while.
func refreshOnAMovingBase(t *testing.T, start starter) {
	s, address := start(t, state())
	propose(t, address, refresh())
	pushes := 0
	s.Between(func(githubtest.Request) {
		if pushes++; pushes <= 25 {
			s.Commit(fullName, "main", map[string]string{fmt.Sprintf("pushed/%02d.txt", pushes): "x", "README.md": fmt.Sprint(pushes)})
		}
	})
	other := refresh()
	other.Files = map[string][]byte{"baselines/baseline-b.json": []byte("b\n")}
	if got := propose(t, address, other); got.Number != 8 || got.Change != github.Updated {
		t.Errorf("got %+v, want pull request 8 updated", got)
	}
	s.Between(nil)
	wantFile(t, s, "baselines/baseline-a.json", "{\"a\": 1}\n")
	wantFile(t, s, "baselines/baseline-b.json", "b\n")
	wantFile(t, s, "pushed/25.txt", "x")
	wantFile(t, s, "README.md", "25")
	s.Merge(fullName, 8)
	if got, _ := s.File(fullName, "main", "baselines/baseline-a.json"); got != "{\"a\": 1}\n" {
		t.Errorf("got %q on the base after the merge", got)
	}
}

// refreshAfterAMerge finds the old branch still there.
func refreshAfterAMerge(t *testing.T, start starter) {
	s, address := start(t, state())
	propose(t, address, refresh())
	s.Merge(fullName, 8)
	if got := propose(t, address, refresh()); got.Number != 0 || got.Change != github.Unchanged {
		t.Errorf("what was merged: got %+v, want nothing", got)
	}
	other := refresh()
	other.Files = map[string][]byte{"baselines/baseline-a.json": []byte("{\"a\": 2}\n")}
	if got := propose(t, address, other); got.Number != 9 || got.Change != github.Created {
		t.Errorf("got %+v, want pull request 9 created", got)
	}
	wantFile(t, s, "baselines/baseline-a.json", "{\"a\": 2}\n")
}

// refreshAfterARejection must not bring back what people did not want.
func refreshAfterARejection(t *testing.T, start starter) {
	s, address := start(t, state())
	unwanted := refresh()
	unwanted.Files["baselines/unwanted.json"] = []byte("{}\n")
	propose(t, address, unwanted)
	closePull(t, address, 8)
	propose(t, address, refresh())
	if got := s.Files(fullName, branch); slices.Contains(got, "baselines/unwanted.json") {
		t.Errorf("got files %v", got)
	}
}

// refreshNeverForces, as that is what keeps the files of others.
func refreshNeverForces(t *testing.T, start starter) {
	s, address := start(t, state())
	spy := roundTripper(func(r *http.Request) (*http.Response, error) {
		if r.Method == http.MethodPatch && strings.Contains(r.URL.Path, "/git/refs/") {
			body, err := r.GetBody()
			if err != nil {
				return nil, err
			}
			data, _ := io.ReadAll(body)
			if !strings.Contains(string(data), `"force":false`) {
				t.Errorf("forced: %s", data)
			}
		}
		return http.DefaultTransport.RoundTrip(r)
	})
	c := clientWith(t, github.Options{BaseURL: address, Token: token, Transport: spy})
	for i := range 4 {
		next := refresh()
		next.Files["n"] = fmt.Append(nil, i)
		if _, err := c.OpenRefresh(t.Context(), repo, next); err != nil {
			t.Fatal(err)
		}
		s.Commit(fullName, "main", map[string]string{"later": fmt.Sprint(i)})
		if i == 2 {
			closePull(t, address, 8)
		}
	}
	if n := count(s, "git/update-ref"); n != 3 {
		t.Errorf("got %d updates of the branch, want 3", n)
	}
}

func labelsAndReviewers(t *testing.T, start starter) {
	seed := state()
	seed.Repos[0].Permissions = map[string]string{"alice": "admin", "bob": "write"}
	s, address := start(t, seed)
	r := refresh()
	r.Labels, r.Reviewers = []string{"baselines", "performance", "baselines"}, []string{"Alice", "bob", "octo/speed", "other/team"}
	c := client(t, address, userToken) // alice's
	got, err := c.OpenRefresh(t.Context(), repo, r)
	if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "other/team") {
		t.Errorf("got %+v, %v, want a warning about the team", got, err)
	}
	want := []string{"bob", "speed"} // alice is the author
	if pulls := proposed(s); !slices.Equal(pulls[0].Labels, []string{"baselines", "performance"}) || !slices.Equal(pulls[0].Reviewers, want) {
		t.Errorf("got %+v, want the labels and reviewers %v", pulls[0], want)
	}
	before := len(s.Requests())
	if _, err := c.OpenRefresh(t.Context(), repo, r); err != nil {
		t.Fatal(err)
	}
	for _, request := range s.Requests()[before:] {
		if request.Method != "GET" && request.Operation != "git/create-tree" {
			t.Errorf("the same again writes: %s", request)
		}
	}
	r.Reviewers, r.Files = []string{"stranger"}, map[string][]byte{"c": []byte("c")}
	got, err = c.OpenRefresh(t.Context(), repo, r)
	if err != nil || len(got.Warnings) != 1 || !strings.Contains(got.Warnings[0], "collaborator") {
		t.Errorf("got %+v, %v, want a warning about the stranger", got, err)
	}
}

func TestRefreshTextGoesDownTheLadder(t *testing.T) {
	seed := state()
	seed.Repos[0].MaxBody = 9_000
	s, address := githubtest.New(t, seed)
	long := refresh()
	long.Body = func(limit int) string { return strings.Repeat("x", limit) }
	for _, want := range []github.Change{github.Created, github.Unchanged} {
		if got := propose(t, address, long); got.Change != want {
			t.Errorf("got %+v, want %s", got, want)
		}
	}
	if got := len(proposed(s)[0].Body); got != 8_000 {
		t.Errorf("got a text of %d bytes, want 8000", got)
	}
}

func TestPreflight(t *testing.T) {
	for name, test := range map[string]struct {
		forbid bool
		token  string
		fails  bool
	}{
		"allowed":                     {false, token, false},
		"forbidden":                   {true, token, true},
		"forbidden, a person's token": {true, userToken, false},
		"may not know":                {true, readToken, false},
	} {
		seed := state()
		seed.Repos[0].ForbidActionsPullRequests = test.forbid
		_, address := githubtest.New(t, seed)
		err := client(t, address, test.token).PreflightRefresh(t.Context(), repo)
		if (err != nil) != test.fails || test.fails && (!errors.Is(err, github.ErrForbidden) || !strings.Contains(err.Error(), "Allow GitHub Actions to create")) {
			t.Errorf("%s: got %v", name, err)
		}
	}
}

// TestRefreshOnABadDay proposes and takes back, with lost answers.
func TestRefreshOnABadDay(t *testing.T) {
	for seed := range uint64(30) {
		bad := state()
		bad.Chaos = &githubtest.Chaos{Seed: seed, Share: 0.3, Kinds: githubtest.Transient()}
		s, address := githubtest.New(t, bad)
		worse, back := refresh(), refresh()
		worse.Files = map[string][]byte{"baselines/baseline-old.json": {0xff}}
		back.Files = map[string][]byte{"baselines/baseline-old.json": []byte("{}\n")}
		propose(t, address, worse)
		propose(t, address, back)
		pulls := proposed(s)
		if len(pulls) != 1 || pulls[0].State != "closed" || s.Head(fullName, branch) != "" {
			t.Errorf("seed %d: got %+v and branch %q, want one closed pull request", seed, pulls, s.Head(fullName, branch))
			continue
		}
		if comments := s.Comments(fullName, pulls[0].Number); len(comments) != 1 {
			t.Errorf("seed %d: got %d comments", seed, len(comments))
		}
	}
}
