package github

import (
	"context"
	"fmt"
	"net/http"
	"slices"
	"strings"

	gh "github.com/google/go-github/v62/github"
)

// label adds the labels that a pull request lacks. Labels are added as an
// object: go-github's own AddLabelsToIssue sends a bare list, which GitHub's
// description of its API no longer has.
func (p *proposal) label(ctx context.Context, open *gh.PullRequest) {
	var missing []string
	for _, name := range p.refresh.Labels {
		has := func(l *gh.Label) bool { return strings.EqualFold(l.GetName(), name) }
		if !slices.ContainsFunc(open.Labels, has) && !slices.Contains(missing, name) {
			missing = append(missing, name)
		}
	}
	if len(missing) == 0 {
		return
	}
	path := p.repo.path(fmt.Sprintf("issues/%d/labels", open.GetNumber()))
	p.warn("label the pull request", p.client.call(repeatable(ctx), http.MethodPost, path, map[string]any{"labels": missing}, nil))
}

// requestReviewers asks who is to review a pull request and was not asked yet.
// Whoever has reviewed it is asked again only for other files.
func (p *proposal) requestReviewers(ctx context.Context, open *gh.PullRequest) {
	var request gh.ReviewersRequest
	for _, name := range p.refresh.Reviewers {
		owner, team, isTeam := strings.Cut(name, "/")
		switch {
		case isTeam && strings.EqualFold(owner, p.repo.Owner):
			asked := func(t *gh.Team) bool { return strings.EqualFold(t.GetSlug(), team) }
			if !slices.ContainsFunc(open.RequestedTeams, asked) {
				request.TeamReviewers = append(request.TeamReviewers, team)
			}
		case isTeam:
			p.warn("ask for reviews", fmt.Errorf("the team %q is not of %q: give one as %s/team", name, p.repo.Owner, p.repo.Owner))
		case !strings.EqualFold(name, open.GetUser().GetLogin()):
			asked := func(u *gh.User) bool { return strings.EqualFold(u.GetLogin(), name) }
			if !slices.ContainsFunc(open.RequestedReviewers, asked) {
				request.Reviewers = append(request.Reviewers, name)
			}
		}
	}
	if !p.changed || len(request.Reviewers)+len(request.TeamReviewers) == 0 {
		return
	}
	_, _, err := p.client.api.PullRequests.RequestReviewers(repeatable(ctx), p.repo.Owner, p.repo.Name, open.GetNumber(), request)
	p.warn("ask for reviews", err)
}

// warn notes what GitHub did not take; the pull request is there all the same.
func (p *proposal) warn(doing string, err error) {
	if err != nil {
		p.result.Warnings = append(p.result.Warnings, explain(doing, pullsPermission, err).Error())
	}
}

// call sends a request that go-github does not have, or has otherwise.
func (c *Client) call(ctx context.Context, method, path string, body, answer any) error {
	request, err := c.api.NewRequest(method, path, body)
	if err != nil {
		return err
	}
	_, err = c.api.Do(ctx, request, answer)
	return err
}
