package github_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// forked is a repository with pull requests from forks that have the same
// branch, and one from a fork of the same owner's other repository.
func forked() (seed githubtest.State, sha string) {
	seed, sha = state(), strings.Repeat("f", 40)
	seed.Repos[0].PullRequests = append(seed.Repos[0].PullRequests,
		githubtest.PullRequestSeed{Number: 8, Title: "a", Head: "work", Fork: "mallory/repo", HeadSHA: sha, Author: "mallory"},
		githubtest.PullRequestSeed{Number: 9, Title: "b", Head: "work", Fork: "mallory/other", HeadSHA: sha, Author: "mallory"},
		githubtest.PullRequestSeed{Number: 10, Title: "c", Head: "work", Fork: "mallory/repo", HeadSHA: strings.Repeat("e", 40)},
	)
	return seed, sha
}

func pullsOfAHead(t *testing.T, start starter) {
	seed, sha := forked()
	s, address := start(t, seed)
	c := client(t, address, readToken)
	for name, test := range map[string]struct {
		head        github.Repo
		branch, sha string
		want        int
	}{
		"fork":             {github.Repo{Owner: "mallory", Name: "repo"}, "work", sha, 8},
		"other fork":       {github.Repo{Owner: "mallory", Name: "other"}, "work", sha, 9},
		"this repository":  {repo, "work", s.Head(fullName, "work"), 7},
		"any case":         {github.Repo{Owner: "Mallory", Name: "REPO"}, "work", sha, 8},
		"another branch":   {github.Repo{Owner: "mallory", Name: "repo"}, "main", sha, 0},
		"moved on":         {github.Repo{Owner: "mallory", Name: "repo"}, "work", strings.Repeat("a", 40), 0},
		"another's commit": {repo, "work", sha, 0},
	} {
		got, err := c.PullsOf(t.Context(), repo, test.head, test.branch, test.sha)
		if err != nil || test.want == 0 && len(got) > 0 || test.want > 0 && (len(got) != 1 || got[0].Number != test.want) {
			t.Errorf("%s: got %+v, %v, want number %d", name, got, err, test.want)
			continue
		}
		if len(got) == 1 && (got[0].Fork(repo) != (test.want != 7) || got[0].HeadSHA != test.sha || got[0].BaseRef != "main") {
			t.Errorf("%s: got %+v", name, got[0])
		}
	}
	for _, wrong := range []string{"", "a b", "-f", "a..b", "x\ny"} {
		if got, err := c.PullsOf(t.Context(), repo, repo, wrong, sha); err == nil {
			t.Errorf("branch %q: got %+v", wrong, got)
		}
	}
	if got, err := c.PullsOf(t.Context(), repo, repo, "work", "main"); err == nil {
		t.Errorf("commit main: got %+v", got)
	}
	one, err := c.GetPull(t.Context(), repo, 8)
	if err != nil || one.Author != "mallory" || !one.Fork(repo) {
		t.Errorf("number 8: got %+v, %v", one, err)
	}
}

func permissionOfSomebody(t *testing.T, start starter) {
	seed := state()
	seed.Repos[0].Permissions = map[string]string{"alice": "admin", "bob": "maintain", "carol": "triage", "dave": "read"}
	_, address := start(t, seed)
	c := client(t, address, token)
	for login, want := range map[string]github.Permission{
		"alice": "admin", "BOB": "write", "carol": "read", "dave": "read", "stranger": "none", "dependabot[bot]": "none",
	} {
		got, err := c.Permission(t.Context(), repo, login)
		if err != nil || got != want || got.CanWrite() != (want == "admin" || want == "write") {
			t.Errorf("%s: got %q, %v, want %q", login, got, err, want)
		}
	}
	for _, wrong := range []string{"", "..", "a/b", "alice/permission?", "a b", "a\n"} {
		if got, err := c.Permission(t.Context(), repo, wrong); err == nil {
			t.Errorf("%q: got %q", wrong, got)
		}
	}
}

// TestUnknownPermissionIsAnError, as somebody would otherwise be let in by a
// word of a later GitHub.
func TestUnknownPermissionIsAnError(t *testing.T) {
	seed := state()
	seed.Repos[0].Permissions = map[string]string{"eve": "owner"}
	_, address := githubtest.New(t, seed)
	if got, err := client(t, address, token).Permission(t.Context(), repo, "eve"); err == nil || got.CanWrite() {
		t.Errorf("got %q, %v, want an error", got, err)
	}
}

func TestReactionIsGivenOnce(t *testing.T) {
	seed := state()
	seed.Repos[0].Comments = []githubtest.CommentSeed{{Issue: pullRequest, Author: "alice", Body: "/accelgate rerun"}}
	seed.Chaos = &githubtest.Chaos{Share: 0.5, Kinds: []githubtest.Kind{githubtest.ResetAfter}}
	s, address := githubtest.New(t, seed)
	id := s.Comments(fullName, pullRequest)[0].ID
	for range 3 {
		if err := client(t, address, token).React(t.Context(), repo, id, "eyes"); err != nil {
			t.Fatal(err)
		}
	}
	if got := s.Reactions(fullName, id); len(got) != 1 || got[0] != actionsBot+": eyes" {
		t.Errorf("got %q, want one", got)
	}
}
