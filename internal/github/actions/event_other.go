package actions

import (
	"errors"
	"fmt"
	"strings"
	"time"
)

type commentJSON struct {
	ID      int64  `json:"id"`
	Body    string `json:"body"`
	Created string `json:"created_at"`
	User    *struct {
		Login string `json:"login"`
		Type  string `json:"type"`
	} `json:"user"` // null if the account was deleted
}

type workflowRunJSON struct {
	ID         int64  `json:"id"`
	Attempt    int64  `json:"run_attempt"`
	Event      string `json:"event"`
	HeadSHA    string `json:"head_sha"`
	HeadBranch string `json:"head_branch"`
	Conclusion string `json:"conclusion"`
	HeadRepo   *struct {
		FullName string `json:"full_name"`
	} `json:"head_repository"`
}

// comment checks what the payload says of a comment. Its text may be anything.
func (p *payloadJSON) comment() (*Comment, error) {
	switch c := p.CommentOf; {
	case p.Issue == nil || p.Issue.Number <= 0:
		return nil, errors.New("issue.number is missing or not positive")
	case c == nil || c.ID <= 0:
		return nil, errors.New("comment.id is missing or not positive")
	case c.User == nil || !login(c.User.Login):
		return nil, errors.New("comment.user.login is not a login")
	}
	by := p.CommentOf.User
	created, _ := time.Parse(time.RFC3339, p.CommentOf.Created) // who needs it refuses zero
	return &Comment{Created: created, ID: p.CommentOf.ID, Author: by.Login, Body: p.CommentOf.Body,
		New: p.Action == "created", Bot: by.Type == "Bot" || strings.HasSuffix(by.Login, "[bot]"),
		Issue: p.Issue.Number, OnPullRequest: p.Issue.PullRequest != nil && string(*p.Issue.PullRequest) != "null"}, nil
}

func (r *workflowRunJSON) check() (*Run, error) {
	switch {
	case r == nil || r.ID <= 0:
		return nil, errors.New("workflow_run.id is missing or not positive")
	case !sha(r.HeadSHA):
		return nil, fmt.Errorf("workflow_run.head_sha is %s, not a commit", quote(r.HeadSHA))
	case r.HeadBranch != "" && !ref(r.HeadBranch):
		return nil, fmt.Errorf("workflow_run.head_branch is %s, not the name of a branch", quote(r.HeadBranch))
	case !eventName(r.Event):
		return nil, fmt.Errorf("workflow_run.event is %s, not the name of an event", quote(r.Event))
	case r.HeadRepo != nil && !repository(r.HeadRepo.FullName):
		return nil, fmt.Errorf("workflow_run.head_repository.full_name is %s, not owner/name", quote(r.HeadRepo.FullName))
	}
	run := &Run{
		ID:         r.ID,
		Attempt:    max(r.Attempt, 1),
		Event:      r.Event,
		HeadSHA:    r.HeadSHA,
		HeadBranch: r.HeadBranch,
		Skipped:    r.Conclusion == "skipped",
	}
	if r.HeadRepo != nil {
		run.HeadRepo = r.HeadRepo.FullName
	}
	return run, nil
}

// mergeGroupJSON is the merge_group of a payload.
type mergeGroupJSON struct {
	BaseSHA string `json:"base_sha"`
	BaseRef string `json:"base_ref"` // refs/heads/main
}

func (g mergeGroupJSON) check() (*Group, error) {
	branch, ok := strings.CutPrefix(g.BaseRef, "refs/heads/")
	switch {
	case !sha(g.BaseSHA):
		return nil, fmt.Errorf("merge_group.base_sha is %s, not a commit", quote(g.BaseSHA))
	case !ok || !ref(branch):
		return nil, fmt.Errorf("merge_group.base_ref is %s, not the ref of a branch", quote(g.BaseRef))
	}
	return &Group{BaseSHA: g.BaseSHA, BaseRef: branch}, nil
}
