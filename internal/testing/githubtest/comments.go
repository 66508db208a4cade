package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// maxBodyLength is GitHub's limit for the text of a comment or a pull request,
// in characters. Its description does not have it; its error message does.
const maxBodyLength = 65536

// comment is a comment on a pull request.
type comment struct {
	id               int64
	issue            int
	author, body     string
	app              string // login of the app that wrote it, or ""
	created, updated time.Time
}

func (s *Server) addComment(r *repository, issue int, author, body string) *comment {
	now := s.tick()
	added := &comment{id: s.newID(), issue: issue, author: author, body: body, created: now, updated: now}
	r.comments = append(r.comments, added)
	return added
}

func (r *repository) commentsOf(issue int) []*comment {
	return slices.DeleteFunc(slices.Clone(r.comments), func(o *comment) bool { return o.issue != issue })
}

func (r *repository) commentByID(id int64) int {
	return slices.IndexFunc(r.comments, func(o *comment) bool { return o.id == id })
}

func (r *repository) tooLong(what string) string {
	return fmt.Sprintf("%s is too long (maximum is %d characters)", what, r.maxBody)
}

func (c *call) comment(o *comment) object {
	shown := object{
		"id": o.id, "body": o.body, "user": c.user(o.author), "author_association": "NONE",
		"url": c.address("issues/comments/%d", o.id), "html_url": c.page("pull/%d#issuecomment-%d", o.issue, o.id),
		"issue_url":  c.address("issues/%d", o.issue),
		"created_at": o.created.Format(time.RFC3339), "updated_at": o.updated.Format(time.RFC3339),
		"performed_via_github_app": nil,
	}
	if o.app != "" {
		shown["performed_via_github_app"] = c.app(o.app)
	}
	return shown
}

func listComments(c *call) reply {
	issue := int(c.number("issue_number"))
	if c.repo.pull(issue) == nil {
		return notFound()
	}
	all := c.repo.commentsOf(issue)
	if since, err := time.Parse(time.RFC3339, c.url.Query().Get("since")); err == nil {
		all = slices.DeleteFunc(all, func(o *comment) bool { return o.updated.Before(since) })
	}
	page, header := paginate(c, all)
	listing := list{}
	for _, o := range page {
		listing = append(listing, c.comment(o))
	}
	return reply{status: 200, header: header, body: listing}
}

func getComment(c *call) reply {
	i := c.repo.commentByID(c.number("comment_id"))
	if i < 0 {
		return notFound()
	}
	return ok(c.comment(c.repo.comments[i]))
}

func createComment(c *call) reply {
	issue := int(c.number("issue_number"))
	if c.repo.pull(issue) == nil {
		return notFound()
	}
	body, problem := c.commentBody()
	if problem != nil {
		return *problem
	}
	if role := c.repo.permissions[strings.ToLower(c.token.Login)]; c.repo.pull(issue).locked && role != "write" && role != "admin" {
		return failure(http.StatusForbidden, "Unable to create comment because issue is locked")
	}
	added := c.addComment(c.repo, issue, c.token.Login, body)
	added.app = c.token.app()
	return created(c.comment(added))
}

func updateComment(c *call) reply {
	i := c.repo.commentByID(c.number("comment_id"))
	if i < 0 {
		return notFound()
	}
	body, problem := c.commentBody()
	if problem != nil {
		return *problem
	}
	o := c.repo.comments[i]
	o.body, o.updated = body, c.tick()
	return ok(c.comment(o))
}

func deleteComment(c *call) reply {
	i := c.repo.commentByID(c.number("comment_id"))
	if i < 0 {
		return notFound()
	}
	c.repo.comments = slices.Delete(c.repo.comments, i, i+1)
	return noContent()
}

// commentBody reads the text of a comment from the request.
func (c *call) commentBody() (body string, problem *reply) {
	var in struct{ Body string }
	c.decode(&in)
	switch {
	case strings.TrimSpace(in.Body) == "":
		r := invalid("IssueComment", "data", "unprocessable", "Body cannot be blank")
		return "", &r
	case utf8.RuneCountInString(in.Body) > c.repo.maxBody:
		r := invalid("IssueComment", "data", "unprocessable", c.repo.tooLong("Body"))
		return "", &r
	}
	return in.Body, nil
}
