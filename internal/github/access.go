package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
)

// Access is what a token may do in a repository, as far as reads show it. What it may
// write, GitHub shows by the role of the token's owner alone: a fine-grained token or
// an app may have less.
type Access struct {
	Login         string   // whose token it is; "" where GitHub does not name the owner
	Role          string   // admin, maintain, push, triage or pull; "" where GitHub does not show it
	Scopes        []string // of a classic personal token; nil for other kinds
	DefaultBranch string
	Refused       []string // permissions, as in a workflow file, whose reads GitHub refused
}

// roles are the keys of a repository's permissions, the highest first.
var roles = []string{"admin", "maintain", "push", "triage", "pull"}

// asked sends a read once, and takes a refusal as its result.
var asked = manner{answers: refusals}

// Access asks who the token is and what it may read. An error means that the token is
// invalid, that it does not see the repository, or that GitHub does not answer.
func (c *Client) Access(ctx context.Context, repo Repo) (Access, error) {
	doing := fmt.Sprintf("look at %s with this token", repo)
	if err := repo.check(); err != nil {
		return Access{}, fmt.Errorf("%s: %w", doing, err)
	}
	found, response, err := c.api.Repositories.Get(asked.in(ctx), repo.Owner, repo.Name)
	if err != nil {
		return Access{}, explain(doing, "metadata: read", err)
	}
	a := Access{DefaultBranch: found.GetDefaultBranch(), Scopes: scopes(response)}
	for _, role := range roles {
		if a.Role == "" && found.Permissions[role] {
			a.Role = role
		}
	}
	if me, err := c.whose(ctx); err == nil {
		a.Login = me.login
	}
	if a.Refused, err = c.refused(ctx, repo, a.DefaultBranch); err != nil {
		return Access{}, explain(doing, "", err)
	}
	return a, nil
}

func scopes(r *gh.Response) (all []string) {
	for scope := range strings.SplitSeq(r.Header.Get("X-OAuth-Scopes"), ",") {
		if scope = strings.TrimSpace(scope); scope != "" {
			all = append(all, scope)
		}
	}
	return all
}

// refused returns the permissions without which GitHub refuses a read.
func (c *Client) refused(ctx context.Context, repo Repo, branch string) (all []string, err error) {
	branch = url.PathEscape(branch)
	for _, read := range []struct{ permission, path string }{
		{"contents", "git/ref/heads/" + branch},
		{"pull-requests", "pulls?per_page=1"},
		{"checks", "commits/" + branch + "/check-runs?per_page=1"},
		{"actions", "actions/runs?per_page=1"},
	} {
		err := c.call(asked.in(ctx), http.MethodGet, repo.path(read.path), nil, nil)
		switch {
		case err == nil:
		case slices.Contains(refusals, status(err)) && !limited(err):
			all = append(all, read.permission)
		default:
			return nil, err
		}
	}
	return all, nil
}

// Required is what a branch demands of pull requests.
type Required struct {
	Protected bool     // by a rule of any kind
	Checks    []string // names of the checks that must pass
}

// Required reads both kinds of rules, branch protection and rulesets.
func (c *Client) Required(ctx context.Context, repo Repo, branch string) (Required, error) {
	doing := fmt.Sprintf("read the rules of branch %s of %s", branch, repo)
	if err := repo.check(); err != nil {
		return Required{}, fmt.Errorf("%s: %w", doing, err)
	}
	type named struct{ Context string }
	var old struct {
		Protected  bool
		Protection struct {
			Checks struct{ Contexts []string } `json:"required_status_checks"`
		}
	}
	var rules []struct {
		Type       string
		Parameters struct {
			Checks []named `json:"required_status_checks"`
		}
	}
	err := c.call(asked.in(ctx), http.MethodGet, repo.path("branches/"+url.PathEscape(branch)), nil, &old)
	if err == nil {
		err = c.call(asked.in(ctx), http.MethodGet, repo.path("rules/branches/"+url.PathEscape(branch)+"?per_page=100"), nil, &rules)
	}
	if err != nil {
		return Required{}, explain(doing, "metadata: read", err)
	}
	r := Required{Protected: old.Protected || len(rules) > 0, Checks: old.Protection.Checks.Contexts}
	for _, rule := range rules {
		for _, check := range rule.Parameters.Checks {
			r.Checks = append(r.Checks, check.Context)
		}
	}
	return r, nil
}

// KindOf returns what a reference of a workflow names: a tag, branch or commit; "" where the repository has none.
func (c *Client) KindOf(ctx context.Context, repo Repo, ref string) (kind string, err error) {
	doing := fmt.Sprintf("look for %s in %s", text.Cut(ref, 80), repo)
	err = repo.check()
	if !validBranch(ref) {
		err = errors.Join(err, fmt.Errorf("%q is not a tag, branch or commit", text.Cut(ref, 80)))
	}
	if err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	if _, _, err := c.api.Repositories.Get(asked.in(ctx), repo.Owner, repo.Name); err != nil {
		return "", explain(doing, "metadata: read", err)
	}
	for _, p := range placesOf(ref) {
		err := c.call(asked.in(ctx), http.MethodGet, repo.path(p.path), nil, nil)
		switch {
		case err == nil:
			return p.kind, nil
		case !slices.Contains(refusals, status(err)) || limited(err):
			return "", explain(doing, contentsRead, err)
		}
	}
	return "", nil
}

type place struct{ kind, path string }

// placesOf are where a reference may lead, in GitHub's order.
func placesOf(ref string) []place {
	if checkCommit(ref) == nil {
		return []place{{"commit", "git/commits/" + ref}}
	}
	tag, isTag := strings.CutPrefix(ref, "refs/tags/")
	branch, isBranch := strings.CutPrefix(ref, "refs/heads/")
	places := []place{{"tag", "git/ref/tags/" + url.PathEscape(tag)}, {"branch", "git/ref/heads/" + url.PathEscape(branch)}}
	switch {
	case isTag:
		return places[:1]
	case isBranch:
		return places[1:]
	}
	return places
}

// Runner is a self-hosted runner of a repository.
type Runner struct {
	Name   string
	Labels []string
	Online bool
}

// Runners returns the self-hosted runners of a repository. Those of its organization
// are not among them. The token needs administration: read.
func (c *Client) Runners(ctx context.Context, repo Repo) ([]Runner, error) {
	doing := fmt.Sprintf("list the runners of %s", repo)
	if err := repo.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	listed, err := allPages(func(page gh.ListOptions) ([]*gh.Runner, *gh.Response, error) {
		found, response, err := c.api.Actions.ListRunners(asked.in(ctx), repo.Owner, repo.Name, &gh.ListRunnersOptions{ListOptions: page})
		if err != nil {
			return nil, response, err
		}
		return found.Runners, response, nil
	})
	if err != nil {
		return nil, explain(doing, "administration: read", err)
	}
	all := make([]Runner, 0, len(listed))
	for _, r := range listed {
		runner := Runner{Name: r.GetName(), Online: r.GetStatus() == "online"}
		for _, label := range r.Labels {
			runner.Labels = append(runner.Labels, label.GetName())
		}
		all = append(all, runner)
	}
	return all, nil
}
