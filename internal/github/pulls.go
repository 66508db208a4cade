package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
)

// Pull is a pull request as GitHub has it.
type Pull struct {
	Number           int
	URL              string // for people
	Author           string
	HeadRepo         Repo // where the branch is: a fork's is another one
	HeadRef, HeadSHA string
	BaseRef, BaseSHA string
	// HeadPushed is when something was last pushed to HeadRepo.
	HeadPushed time.Time
}

// Fork reports whether the pull request comes from another repository.
func (p Pull) Fork(of Repo) bool { return !p.HeadRepo.same(of) }

func (r Repo) same(other Repo) bool {
	return strings.EqualFold(r.Owner, other.Owner) && strings.EqualFold(r.Name, other.Name)
}

// PullsOf returns the open pull requests of repo whose head is this commit on
// this branch of this repository: for a workflow_run event, whose artifacts may
// name any pull request that its author likes. It returns none where the branch
// has moved on.
func (c *Client) PullsOf(ctx context.Context, repo, headRepo Repo, headBranch, headSHA string) ([]Pull, error) {
	doing := fmt.Sprintf("find the pull request of %s:%s in %s", headRepo, text.Cut(headBranch, 200), repo)
	err := errors.Join(repo.check(), headRepo.check(), checkCommit(headSHA))
	if !validBranch(headBranch) {
		err = errors.Join(err, fmt.Errorf("%q is not a name for a branch", text.Cut(headBranch, 200)))
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	all, err := allPages(func(page gh.ListOptions) ([]*gh.PullRequest, *gh.Response, error) {
		return c.api.PullRequests.List(ctx, repo.Owner, repo.Name, &gh.PullRequestListOptions{
			State: "open", Head: headRepo.Owner + ":" + headBranch, ListOptions: page,
		})
	})
	if err != nil {
		return nil, explain(doing, "pull-requests: read", err)
	}
	var found []Pull
	for _, o := range all {
		pull := pullOf(o)
		base := Repo{o.GetBase().GetRepo().GetOwner().GetLogin(), o.GetBase().GetRepo().GetName()}
		if pull.HeadRepo.same(headRepo) && base.same(repo) && pull.HeadRef == headBranch && pull.HeadSHA == headSHA {
			found = append(found, pull)
		}
	}
	slices.SortFunc(found, func(a, b Pull) int { return a.Number - b.Number })
	return found, nil
}

// GetPull returns a pull request, for events that name its number only.
func (c *Client) GetPull(ctx context.Context, repo Repo, number int) (Pull, error) {
	doing := fmt.Sprintf("read pull request %s#%d", repo, number)
	if err := repo.check(); err != nil {
		return Pull{}, fmt.Errorf("%s: %w", doing, err)
	}
	o, _, err := c.api.PullRequests.Get(ctx, repo.Owner, repo.Name, number)
	if err != nil {
		return Pull{}, explain(doing, "pull-requests: read", err)
	}
	return pullOf(o), nil
}

// pullOf translates. The head repository of a deleted fork is zero, which is
// nobody's.
func pullOf(o *gh.PullRequest) Pull {
	head := o.GetHead()
	return Pull{
		Number: o.GetNumber(), URL: o.GetHTMLURL(), Author: o.GetUser().GetLogin(),
		HeadRepo: Repo{head.GetRepo().GetOwner().GetLogin(), head.GetRepo().GetName()},
		HeadRef:  head.GetRef(), HeadSHA: head.GetSHA(), BaseRef: o.GetBase().GetRef(), BaseSHA: o.GetBase().GetSHA(),
		HeadPushed: head.GetRepo().GetPushedAt().Time,
	}
}

// Permission is what somebody may do in a repository: admin, write, read or
// none. GitHub counts maintainers as write and triagers as read.
type Permission string

// CanWrite reports whether somebody may push.
func (p Permission) CanWrite() bool { return p == "admin" || p == "write" }

// Permission returns what a login may do. An unknown login may do nothing.
func (c *Client) Permission(ctx context.Context, repo Repo, login string) (Permission, error) {
	doing := fmt.Sprintf("read what %q may do in %s", text.Cut(login, 80), repo)
	if err := repo.check(); err != nil {
		return "", fmt.Errorf("%s: %w", doing, err)
	}
	if !validName.MatchString(strings.TrimSuffix(login, "[bot]")) {
		return "", fmt.Errorf("%s: this is not a login: take it from the event", doing)
	}
	level, _, err := c.api.Repositories.GetPermissionLevel(ctx, repo.Owner, repo.Name, login)
	switch {
	case status(err) == http.StatusNotFound:
		return "none", nil
	case err != nil:
		return "", explain(doing, "metadata: read", err)
	}
	switch p := Permission(level.GetPermission()); p {
	case "admin", "write", "read", "none":
		return p, nil
	}
	return "", fmt.Errorf("%s: GitHub answers %q, which is not known: look at the collaborators in the settings", doing,
		text.Cut(level.GetPermission(), 40))
}

// React puts an emoji under a comment, once: +1, -1, laugh, confused, heart,
// hooray, rocket or eyes.
func (c *Client) React(ctx context.Context, repo Repo, comment int64, content string) error {
	doing := fmt.Sprintf("react to comment %d in %s", comment, repo)
	if err := repo.check(); err != nil {
		return fmt.Errorf("%s: %w", doing, err)
	}
	_, _, err := c.api.Reactions.CreateIssueCommentReaction(repeatable(ctx), repo.Owner, repo.Name, comment, content)
	if err != nil {
		return explain(doing, commentPermission, err)
	}
	return nil
}
