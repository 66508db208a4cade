package github_test

import (
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
)

// TestAccess: what each kind of token shows of itself.
func TestAccess(t *testing.T) {
	for name, c := range map[string]struct {
		token githubtest.Token
		want  github.Access
	}{
		"classic token of a writer": {githubtest.Token{Value: "ghp_1", Login: "alice"},
			github.Access{Login: "alice", Role: "push", Scopes: []string{"repo", "workflow"}}},
		"fine-grained token": {githubtest.Token{Value: "github_pat_1", Login: "alice", Permissions: map[string]string{"contents": "read", "checks": "read"}},
			github.Access{Login: "alice", Role: "push", Refused: []string{"pull-requests", "actions"}}},
		"of a stranger": {githubtest.Token{Value: "ghp_2", Login: "mallory"},
			github.Access{Login: "mallory", Role: "pull", Scopes: []string{"repo", "workflow"}}},
		"of a workflow": {githubtest.Token{Value: "ghs_1", Login: actionsBot, Integration: true, Permissions: map[string]string{"contents": "write", "pull-requests": "write", "checks": "write", "actions": "read"}},
			github.Access{Login: actionsBot}},
	} {
		t.Run(name, func(t *testing.T) {
			seed := state()
			seed.Tokens = append(seed.Tokens, c.token)
			seed.Repos[0].Permissions = map[string]string{"alice": "write"}
			_, address := githubtest.New(t, seed)
			got, err := client(t, address, c.token.Value).Access(t.Context(), repo)
			c.want.DefaultBranch = "main"
			if err != nil || got.Login != c.want.Login || got.Role != c.want.Role || got.DefaultBranch != "main" ||
				!slices.Equal(got.Scopes, c.want.Scopes) || !slices.Equal(got.Refused, c.want.Refused) {
				t.Errorf("got %+v, %v, want %+v", got, err, c.want)
			}
		})
	}
}

// TestAccessRefused: a token that is invalid, or a repository that it does not see.
func TestAccessRefused(t *testing.T) {
	_, address := githubtest.New(t, state())
	if _, err := client(t, address, "ghp_unknown").Access(t.Context(), repo); err == nil {
		t.Error("an invalid token is accepted")
	}
	if _, err := client(t, address, token).Access(t.Context(), github.Repo{Owner: "octo", Name: "absent"}); err == nil {
		t.Error("a repository that is absent is found")
	}
}

// TestKindOf: what the references of workflows name.
func TestKindOf(t *testing.T) {
	const commit = "0123456789012345678901234567890123456789"
	seed := state()
	seed.Repos[0].Releases = map[string]map[string][]byte{"v1": {}}
	seed.Repos[0].Branches = map[string]map[string]string{"fix/it": {}}
	seed.Repos[0].Commits = []string{commit}
	seed.Repos[0].PullRequests = nil
	seed.Repos[0].Comments = nil
	_, address := githubtest.New(t, seed)
	c := client(t, address, token)
	for ref, want := range map[string]string{
		"v1": "tag", "refs/tags/v1": "tag", "refs/heads/v1": "", "main": "branch", "refs/heads/main": "branch", "refs/tags/main": "", "fix/it": "branch",
		commit: "commit", "9999999999999999999999999999999999999999": "", "0123456": "", "v99": "",
	} {
		if got, err := c.KindOf(t.Context(), repo, ref); err != nil || got != want {
			t.Errorf("%s: got %q, %v, want %q", ref, got, err, want)
		}
	}
	for _, ref := range []string{"", "a b", "../x", "v1?x=1"} {
		if got, err := c.KindOf(t.Context(), repo, ref); err == nil {
			t.Errorf("%q: got %q, want an error", ref, got)
		}
	}
	if got, err := c.KindOf(t.Context(), github.Repo{Owner: "octo", Name: "absent"}, "v1"); err == nil {
		t.Errorf("of an absent repository: %q", got)
	}
}

// TestRequired reads branch protection and rulesets.
func TestRequired(t *testing.T) {
	for name, c := range map[string]struct {
		protection, ruleset []string
		protected           bool
	}{
		"nothing":    {},
		"protection": {protection: []string{"build", "accelgate"}, protected: true},
		"ruleset":    {ruleset: []string{"accelgate"}, protected: true},
		"both":       {protection: []string{"build"}, ruleset: []string{"accelgate"}, protected: true},
	} {
		t.Run(name, func(t *testing.T) {
			seed := state()
			seed.Repos[0].RequiredChecks, seed.Repos[0].RulesetChecks = c.protection, c.ruleset
			_, address := githubtest.New(t, seed)
			got, err := client(t, address, token).Required(t.Context(), repo, "main")
			if err != nil || got.Protected != c.protected || !slices.Equal(got.Checks, slices.Concat(c.protection, c.ruleset)) {
				t.Errorf("got %+v, %v", got, err)
			}
		})
	}
}

// TestRunners lists runners on several pages' worth of labels, and says who is offline.
func TestRunners(t *testing.T) {
	seed := state()
	seed.Repos[0].Runners = []githubtest.RunnerSeed{{Name: "a", Labels: []string{"self-hosted", "gpu-a"}}, {Name: "b", Labels: []string{"gpu-b"}, Offline: true}}
	_, address := githubtest.New(t, seed)
	got, err := client(t, address, token).Runners(t.Context(), repo)
	if err != nil || len(got) != 2 || !got[0].Online || got[1].Online || !slices.Equal(got[0].Labels, []string{"self-hosted", "gpu-a"}) {
		t.Errorf("got %+v, %v", got, err)
	}
}
