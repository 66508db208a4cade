package github

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// Labelled is a label on a pull request, and who set it last.
type Labelled struct {
	Set bool // the pull request has the label now
	// By is the login of the user who set it. It is "" where an app did, or where
	// GitHub does not name the user: the account was deleted, the label was renamed.
	By string
	At time.Time
}

// Label reads whether a pull request has a label now, and who set it: the payload of an
// event that runs again has the labels of its first attempt. GitHub compares names of
// labels without regard to case.
func (c *Client) Label(ctx context.Context, repo Repo, number int, name string) (Labelled, error) {
	doing := fmt.Sprintf("read the label %q of %s#%d", name, repo, number)
	if err := repo.check(); err != nil {
		return Labelled{}, fmt.Errorf("%s: %w", doing, err)
	}
	pull, _, err := c.api.PullRequests.Get(ctx, repo.Owner, repo.Name, number)
	if err != nil {
		return Labelled{}, explain(doing, "pull-requests: read", err)
	}
	if !slices.ContainsFunc(pull.Labels, func(l *gh.Label) bool { return strings.EqualFold(l.GetName(), name) }) {
		return Labelled{}, nil
	}
	all, err := allPages(func(page gh.ListOptions) ([]*gh.IssueEvent, *gh.Response, error) {
		return c.api.Issues.ListIssueEvents(ctx, repo.Owner, repo.Name, number, &page)
	})
	if err != nil {
		return Labelled{}, explain(doing, "issues: read", err)
	}
	return labelled(all, name), nil
}

// labelled returns what the newest event about a label says, for a label that is set.
func labelled(all []*gh.IssueEvent, name string) Labelled {
	var last *gh.IssueEvent
	for _, e := range all {
		about := strings.EqualFold(e.GetLabel().GetName(), name) && (e.GetEvent() == "labeled" || e.GetEvent() == "unlabeled")
		if about && (last == nil || cmp.Or(e.GetCreatedAt().Compare(last.GetCreatedAt().Time), cmp.Compare(e.GetID(), last.GetID())) > 0) {
			last = e
		}
	}
	set := Labelled{Set: true}
	if last.GetEvent() == "labeled" && last.GetActor().GetType() == "User" {
		set.By, set.At = last.GetActor().GetLogin(), last.GetCreatedAt().Time
	}
	return set
}
