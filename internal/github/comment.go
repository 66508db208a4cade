package github

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"
)

// commentPermission is what a token needs for comments on pull requests.
const commentPermission = "pull-requests: write"

// Comment is a comment on GitHub.
type Comment struct {
	ID     int64
	URL    string // for people
	Change Change
	Newer  Seq // where Change is Outdated, the run whose text stays
}

// Post is what a comment is to say.
type Post struct {
	// Seq is the run that says it. Nothing of a newer run is replaced. Zero
	// means that it is not known, and replaces everything.
	Seq  Seq
	Body Ladder // Markdown
	// State is a word, [a-z0-9_-], at most 40, kept for the next one to read.
	State string
	// Fresh, where it is set, is asked with the state of the comment that is
	// there whether to post a new one instead of rewriting it, so that people
	// are notified. The old one is deleted. It is asked once for each run.
	Fresh func(before string) bool
	// Rank orders the sections of a shared comment by their states, the highest first;
	// nil leaves the order of their names.
	Rank func(state string) int
}

// Posted is a comment that is there.
type Posted struct {
	ID    int64 // 0 where there is none
	URL   string
	Seq   Seq
	State string
	Body  string // without the hidden line
}

// FindComment returns what the comment under key says, of several the newest.
func (c *Client) FindComment(ctx context.Context, repo Repo, issue int, key string) (Posted, error) {
	if err := errors.Join(repo.check(), checkKey(key)); err != nil {
		return Posted{}, fmt.Errorf("read the comment on %s#%d: %w", repo, issue, err)
	}
	found, err := c.ownComments(ctx, repo, issue, key)
	if err != nil || len(found) == 0 {
		return Posted{}, err
	}
	o := slices.MaxFunc(found, posted.compare)
	return Posted{ID: o.id, URL: o.url, Seq: o.seq, State: o.state, Body: o.body}, nil
}

// Remark is a comment of a person, as it was first written.
type Remark struct {
	ID      int64
	Author  string
	Body    string
	Created time.Time
}

// Remarks returns the comments of people, oldest first. An edited comment is left out:
// others than its author may edit it.
func (c *Client) Remarks(ctx context.Context, repo Repo, issue int) ([]Remark, error) {
	doing := fmt.Sprintf("read the comments on %s#%d", repo, issue)
	if err := repo.check(); err != nil {
		return nil, fmt.Errorf("%s: %w", doing, err)
	}
	all, err := allPages(func(page gh.ListOptions) ([]*listed, *gh.Response, error) {
		return c.listComments(ctx, repo, issue, page)
	})
	if err != nil {
		return nil, explain(doing, commentPermission, err)
	}
	var found []Remark
	for _, o := range all {
		if o == nil || o.App != nil || o.GetUser().GetType() != "User" ||
			o.GetCreatedAt().IsZero() || !o.GetCreatedAt().Equal(o.GetUpdatedAt()) {
			continue
		}
		found = append(found, Remark{o.GetID(), o.GetUser().GetLogin(), o.GetBody(), o.GetCreatedAt().Time})
	}
	return found, nil
}

func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("a comment needs a key to be found again")
	case len(escapeKey(key)) > 10_000 || !utf8.ValidString(key):
		return errors.New("the key of the comment is too long or no text: choose a shorter one")
	}
	return nil
}

// Reply answers a comment on a pull request or issue, once: the same answer to
// the same comment is not posted again.
func (c *Client) Reply(ctx context.Context, repo Repo, issue int, to int64, body string) (Comment, error) {
	return c.UpsertComment(ctx, repo, issue, fmt.Sprintf("reply-%d", to), Post{Body: Fixed(body)})
}
