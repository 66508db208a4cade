package github_test

import (
	"slices"
	"sync"
	"testing"

	"github.com/accelgate/accelgate/internal/github"
	"github.com/accelgate/accelgate/internal/testing/githubtest"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// tokenKind is a kind of credential, as GitHub tells them apart. Scenarios are
// written for a workflow's own token and run with each.
type tokenKind struct {
	name  string
	token githubtest.Token
}

var tokenKinds = []tokenKind{
	{"actions", githubtest.Token{Value: token, Login: actionsBot, Integration: true}},
	{"user", githubtest.Token{Value: "ghp_carol0123456789", Login: "carol"}},
	{"app", githubtest.Token{Value: "ghs_gateapp0123456789", Login: "gate-app[bot]", Integration: true}},
	{"fine-grained", githubtest.Token{Value: "github_pat_dave0123456789", Login: "dave", Permissions: map[string]string{
		"contents": "write", "issues": "write", "pull-requests": "write", "actions": "write"}}},
}

// checks reports whether GitHub lets this kind of token write check runs.
func (k tokenKind) checks() bool { return k.token.Integration }

// kindAt is the kind that a server's clients use, by the server's address.
var kindAt sync.Map

// credential returns the token to use at an address in place of another.
func credential(address, given string) string {
	if kind, ok := kindAt.Load(address); ok && given == token {
		return kind.(tokenKind).token.Value
	}
	return given
}

// starter starts servers whose workflow token is of this kind.
func (k tokenKind) starter(t *testing.T, seed githubtest.State) (hub, string) {
	t.Helper()
	seed.Tokens = append(slices.Clone(seed.Tokens), k.token)
	for i := range seed.Repos {
		seed.Repos[i].Comments = slices.Clone(seed.Repos[i].Comments)
		for j := range seed.Repos[i].Comments {
			if c := &seed.Repos[i].Comments[j]; c.Author == actionsBot {
				c.Author = k.token.Login
			}
		}
	}
	s, address := githubtest.New(t, seed)
	kindAt.Store(address, k)
	t.Cleanup(func() { kindAt.Delete(address) }) // another server may get the port
	return asWorkflow{s, k.token.Login}, address
}

// asWorkflow shows what the token's owner wrote as the workflow's.
type asWorkflow struct {
	*githubtest.Server
	login string
}

// Comments returns the comments on an issue, oldest first.
func (h asWorkflow) Comments(repo string, issue int) []githubtest.Comment {
	all := h.Server.Comments(repo, issue)
	for i := range all {
		if all[i].Author == h.login {
			all[i].Author = actionsBot
		}
	}
	return all
}

// CheckRuns returns the check runs of a commit, oldest first.
func (h asWorkflow) CheckRuns(repo, sha string) []githubtest.CheckRun {
	all := h.Server.CheckRuns(repo, sha)
	for i := range all {
		if all[i].App == h.login {
			all[i].App = actionsBot
		}
	}
	return all
}

// PullRequests returns all pull requests by number.
func (h asWorkflow) PullRequests(repo string) []githubtest.PullRequest {
	all := h.Server.PullRequests(repo)
	for i := range all {
		if all[i].Author == h.login {
			all[i].Author = actionsBot
		}
	}
	return all
}

// TestScenariosWithEveryToken runs what TestScenarios runs with the tokens of
// people and of other apps. The check runs of people are refused by GitHub.
func TestScenariosWithEveryToken(t *testing.T) {
	if testtier.Race {
		t.Skip("TestScenarios has the same goroutines")
	}
	for _, kind := range tokenKinds[1:] {
		t.Run(kind.name, func(t *testing.T) {
			for _, s := range scenarios {
				if s.checks && !kind.checks() || s.ownTokens {
					continue
				}
				t.Run(s.name, func(t *testing.T) { s.run(t, kind.starter) })
			}
		})
	}
}

// everyAnswerOnWhoseTokenItIs are the ways in which GitHub may leave the
// question open: GraphQL, GET /user or both fail.
var everyAnswerOnWhoseTokenItIs = map[string][]githubtest.Fault{
	"both answer":    nil,
	"GraphQL is 403": {{Operation: "graphql/viewer", Times: 99, Status: 403, Message: "Resource not accessible by integration"}},
	"GraphQL is 404": {{Operation: "graphql/viewer", Times: 99, Status: 404, Message: "Not Found"}},
	"both are 403": {{Operation: "graphql/viewer", Times: 99, Status: 403, Message: "Forbidden"},
		{Operation: "users/get-authenticated", Times: 99, Status: 403, Message: "Resource not accessible by integration"}},
}

// TestOneCommentUnderAnyToken: three invocations leave one comment of a token's
// owner, each in five requests at most, whatever GitHub says of whose it is.
// A person's token whose owner GitHub does not name comments nothing.
func TestOneCommentUnderAnyToken(t *testing.T) {
	for _, kind := range tokenKinds {
		for name, faults := range everyAnswerOnWhoseTokenItIs {
			for _, author := range []string{"", kind.token.Login, "gate-app"} {
				t.Run(kind.name+"/"+name+"/"+author, func(t *testing.T) {
					seed := state()
					seed.Faults = faults
					seed.Repos[0].Comments = []githubtest.CommentSeed{{Issue: pullRequest, Author: "mallory", Body: postedBy(t, run(1, 1, "mallory's"))}}
					s, address := kind.starter(t, seed)
					for i := range 3 {
						before := len(s.Requests())
						c := clientWith(t, github.Options{BaseURL: address, Token: kind.token.Value, Author: author})
						_, err := c.UpsertComment(t.Context(), repo, pullRequest, key, run(int64(i+2), 1, "text"))
						if named := kind.checks() || name != "both are 403" || author != ""; named != (err == nil) {
							t.Errorf("invocation %d: got %v", i, err)
						}
						if n := len(s.Requests()) - before; n > 6 { // where GraphQL is refused, one more
							t.Errorf("invocation %d: %d requests: %v", i, n, s.Requests()[before:])
						}
					}
					if n := count(s, "issues/create-comment"); n > 3 || n > 1 && (author == "" || author == kind.token.Login) {
						t.Errorf("got %d comments created: %q", n, bodies(s))
					}
				})
			}
		}
	}
}
