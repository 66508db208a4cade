package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"unicode/utf8"

	gh "github.com/google/go-github/v62/github"
)

// MaxBody is how long the text of a comment or of a pull request may be, in
// characters. GitHub's documents do not say so, its error message does: "Body
// is too long (maximum is 65536 characters)".
const MaxBody = 65536

// commentPermission is what a token needs for comments on pull requests.
const commentPermission = "pull-requests: write"

// Comment is a comment on GitHub.
type Comment struct {
	ID     int64
	URL    string // for people
	Change Change
}

// CommentRoom returns how many characters of MaxBody are left for the body of
// a comment under key.
func CommentRoom(key string) int {
	return MaxBody - utf8.RuneCountInString(marker(key)) - 1
}

// UpsertComment makes body the text of the one comment that carries key on a
// pull request or issue: it creates the comment or rewrites it where it says
// something else. The comment is known by a hidden first line and by its
// author, so that nobody else's comment is ever touched. Of several such
// comments the oldest stays and the others are deleted.
//
// A body longer than [CommentRoom] is an error and nothing is sent.
func (c *Client) UpsertComment(ctx context.Context, repo Repo, issue int, key, body string) (Comment, error) {
	if err := repo.check(); err != nil {
		return Comment{}, err
	}
	text, err := commentText(key, body)
	if err != nil {
		return Comment{}, fmt.Errorf("comment on %s#%d: %w", repo, issue, err)
	}
	mine, err := c.ownComments(ctx, repo, issue, key)
	if err != nil {
		return Comment{}, err
	}
	change := Unchanged
	if len(mine) == 0 {
		comment, _, err := c.api.Issues.CreateComment(ctx, repo.Owner, repo.Name, issue, &gh.IssueComment{Body: &text})
		if err != nil {
			return Comment{}, explain(fmt.Sprintf("comment on %s#%d", repo, issue), commentPermission, err)
		}
		mine, change = []*gh.IssueComment{comment}, Created
		// A job that looked at the same moment has created one too. Looking
		// again lets both settle on the older one.
		if again, err := c.ownComments(ctx, repo, issue, key); err == nil && len(again) > 0 {
			mine = again
		}
	}
	keep := mine[0]
	if !sameText(keep.GetBody(), text) {
		keep, _, err = c.api.Issues.EditComment(ctx, repo.Owner, repo.Name, keep.GetID(), &gh.IssueComment{Body: &text})
		if err != nil {
			return Comment{}, explain(fmt.Sprintf("update comment %d on %s#%d", mine[0].GetID(), repo, issue), commentPermission, err)
		}
		change = Updated
	}
	return Comment{ID: keep.GetID(), URL: keep.GetHTMLURL(), Change: change}, c.deleteComments(ctx, repo, mine[1:])
}

// marker is the hidden first line of a comment. The key is escaped, so that it
// can neither end the line nor the HTML comment.
func marker(key string) string {
	return "<!-- accelgate:" + strings.ReplaceAll(url.PathEscape(key), "--", "-%2D") + " -->"
}

// commentText returns the whole text of a comment.
func commentText(key, body string) (string, error) {
	text := marker(key) + "\n" + strings.ToValidUTF8(body, "\uFFFD")
	switch over := utf8.RuneCountInString(text) - MaxBody; {
	case key == "":
		return "", errors.New("a comment needs a key to be found again")
	case over > 0:
		return "", fmt.Errorf("the text is %d characters too long for GitHub: shorten it", over)
	}
	return text, nil
}

// ownComments returns the comments that carry key and that the token's login
// wrote, oldest first.
func (c *Client) ownComments(ctx context.Context, repo Repo, issue int, key string) ([]*gh.IssueComment, error) {
	login, err := c.login(ctx)
	if err != nil {
		return nil, err
	}
	all, err := allPages(func(page gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		return c.api.Issues.ListComments(ctx, repo.Owner, repo.Name, issue, &gh.IssueListCommentsOptions{ListOptions: page})
	})
	if err != nil {
		return nil, explain(fmt.Sprintf("read the comments on %s#%d", repo, issue), commentPermission, err)
	}
	mine := slices.DeleteFunc(all, func(o *gh.IssueComment) bool {
		first, _, _ := strings.Cut(o.GetBody(), "\n")
		return strings.TrimSpace(first) != marker(key) || !strings.EqualFold(o.GetUser().GetLogin(), login)
	})
	slices.SortFunc(mine, func(a, b *gh.IssueComment) int { return cmp.Compare(a.GetID(), b.GetID()) })
	return mine, nil
}

// sameText reports whether two texts differ in nothing but what editing in the
// browser changes: the ends of lines and of the text.
func sameText(a, b string) bool {
	normal := func(s string) string { return strings.TrimSpace(strings.ReplaceAll(s, "\r\n", "\n")) }
	return normal(a) == normal(b)
}

// deleteComments deletes duplicates. One that is gone already is no error.
func (c *Client) deleteComments(ctx context.Context, repo Repo, comments []*gh.IssueComment) error {
	for _, o := range comments {
		_, err := c.api.Issues.DeleteComment(ctx, repo.Owner, repo.Name, o.GetID())
		if err != nil && status(err) != http.StatusNotFound {
			return explain(fmt.Sprintf("delete the duplicate comment %d in %s", o.GetID(), repo), commentPermission, err)
		}
	}
	return nil
}
