package githubtest

import (
	"fmt"
	"net/http"
	"slices"
	"time"
)

// commitComment is a comment on a commit.
type commitComment struct {
	comment
	commit string
}

func (c *call) commitComment(o *commitComment) object {
	return object{
		"id": o.id, "node_id": "CC", "body": o.body, "user": c.user(o.author), "author_association": "NONE", "commit_id": o.commit,
		"url": c.address("comments/%d", o.id), "html_url": c.page("commit/%s#commitcomment-%d", o.commit, o.id),
		"path": nil, "position": nil, "line": nil,
		"created_at": o.created.Format(time.RFC3339), "updated_at": o.updated.Format(time.RFC3339),
	}
}

func listCommitComments(c *call) reply {
	all := slices.DeleteFunc(slices.Clone(c.repo.commitComments), func(o *commitComment) bool { return o.commit != c.params["commit_sha"] })
	page, header := paginate(c, all)
	listing := list{}
	for _, o := range page {
		listing = append(listing, c.commitComment(o))
	}
	return reply{status: http.StatusOK, header: header, body: listing}
}

func createCommitComment(c *call) reply {
	commit := c.params["commit_sha"]
	if _, ok := c.repo.git.commits[commit]; !ok {
		return failure(http.StatusUnprocessableEntity, "No commit found for SHA: "+commit)
	}
	body, problem := c.commentBody()
	if problem != nil {
		return *problem
	}
	return created(c.commitComment(c.addCommitComment(c.repo, commit, c.token.Login, body)))
}

func (s *Server) addCommitComment(r *repository, commit, author, body string) *commitComment {
	now := s.tick()
	added := &commitComment{comment{id: s.newID(), author: author, body: body, created: now, updated: now}, commit}
	r.commitComments = append(r.commitComments, added)
	return added
}

func updateCommitComment(c *call) reply {
	i := slices.IndexFunc(c.repo.commitComments, func(o *commitComment) bool { return o.id == c.number("comment_id") })
	if i < 0 {
		return notFound()
	}
	body, problem := c.commentBody()
	if problem != nil {
		return *problem
	}
	o := c.repo.commitComments[i]
	o.body, o.updated = body, c.tick()
	return ok(c.commitComment(o))
}

// CommitComments returns the comments on a commit of "owner/name", oldest first.
func (s *Server) CommitComments(repo, commit string) []Comment {
	var all []Comment
	s.view(repo, func(r *repository) {
		for _, o := range r.commitComments {
			if o.commit == commit {
				all = append(all, Comment{ID: o.id, Author: o.author, Body: o.body})
			}
		}
	})
	return all
}

// CommentOnCommit adds a user's comment to a commit of "owner/name".
func (s *Server) CommentOnCommit(repo, commit, author, body string) error {
	err := fmt.Errorf("no repository %q", repo)
	s.view(repo, func(r *repository) {
		s.addCommitComment(r, commit, author, body)
		err = nil
	})
	return err
}
