package github

import (
	"context"
	"fmt"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// Labelled is who set a label on a pull request, and when. The zero value says that
// the label is not set.
type Labelled struct {
	Login string
	At    time.Time
}

// LabelledBy returns who last set a label that a pull request has, by the events that
// GitHub keeps of it: the labels themselves do not say so.
func (c *Client) LabelledBy(ctx context.Context, repo Repo, number int, label string) (Labelled, error) {
	doing := fmt.Sprintf("read who set the label %s on %s#%d", cut(label, 80), repo, number)
	if err := repo.check(); err != nil {
		return Labelled{}, fmt.Errorf("%s: %w", doing, err)
	}
	all, err := allPages(func(page gh.ListOptions) ([]*gh.IssueEvent, *gh.Response, error) {
		return c.api.Issues.ListIssueEvents(ctx, repo.Owner, repo.Name, number, &page)
	})
	if err != nil {
		return Labelled{}, explain(doing, "issues: read", err)
	}
	var set Labelled
	for _, e := range all { // the oldest first
		if e.GetLabel().GetName() != label {
			continue
		}
		switch e.GetEvent() {
		case "labeled":
			set = Labelled{e.GetActor().GetLogin(), e.GetCreatedAt().Time}
		case "unlabeled":
			set = Labelled{}
		}
	}
	return set, nil
}
