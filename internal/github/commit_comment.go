package github

import (
	"context"
	"errors"
	"fmt"
	"strings"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
)

// commitCommentPermission is what comments on commits take. GitHub's pages of permissions list them with the contents.
const commitCommentPermission = "contents: write"

// CommentOnCommit makes a text that of the one comment with key on a commit, and returns
// the comment's address. The comment is found by a hidden first line and by its author. A
// call lists once, and edits or creates one comment; two calls at the same time create two.
// Lines and permissions are those of https://docs.github.com/rest/commits/comments.
func (c *Client) CommentOnCommit(ctx context.Context, repo Repo, commit, key string, body Ladder) (url string, err error) {
	m := marker{key: key, sum: digest("")}
	written, err := body.at(room(MaxText, m.String(), "\n"))
	if err := errors.Join(repo.check(), checkKey(key), err); err != nil {
		return "", fmt.Errorf("comment on the commit %s of %s: %w", text.Cut(commit, 40), repo, err)
	}
	m.sum = digest(written)
	written = m.String() + "\n" + written
	found, err := c.ownCommitComment(ctx, repo, commit, key)
	doing := fmt.Sprintf("comment on the commit %s of %s", text.Cut(commit, 40), repo)
	switch {
	case err != nil:
		return "", explain(doing, commitCommentPermission, err)
	case found == nil:
		found, _, err = c.api.Repositories.CreateComment(once(ctx), repo.Owner, repo.Name, commit, &gh.RepositoryComment{Body: &written})
	case !sameText(found.GetBody(), written):
		_, _, err = c.api.Repositories.UpdateComment(ctx, repo.Owner, repo.Name, found.GetID(), &gh.RepositoryComment{Body: &written})
	}
	return found.GetHTMLURL(), explainIf(doing, commitCommentPermission, err)
}

// ownCommitComment returns the oldest comment with key on a commit that the token's owner
// wrote; nil if there is none.
func (c *Client) ownCommitComment(ctx context.Context, repo Repo, commit, key string) (*gh.RepositoryComment, error) {
	me, err := c.whose(ctx)
	if err != nil {
		return nil, err
	}
	all, err := allPages(func(page gh.ListOptions) ([]*gh.RepositoryComment, *gh.Response, error) {
		return c.api.Repositories.ListCommitComments(ctx, repo.Owner, repo.Name, commit, &page)
	})
	if err != nil {
		return nil, err
	}
	for _, o := range all { // the oldest first
		first, _, _ := strings.Cut(o.GetBody(), "\n")
		if m, ok := parseMarker(first); ok && m.key == key && me.named(o.GetUser().GetLogin()) {
			return o, nil
		}
	}
	return nil, nil
}

// named reports whether a login is the token's owner. GitHub does not say which app wrote a
// comment on a commit, so any app's is taken for that of one without a name.
func (i identity) named(login string) bool {
	return strings.EqualFold(login, i.login) || i.login == "" && strings.HasSuffix(login, botSuffix)
}
