package githubtest

import (
	"slices"
	"strings"
	"time"
	"unicode/utf8"
)

// pullRequest is a pull request from a branch of this repository or of a fork.
type pullRequest struct {
	id               int64
	number           int
	title, body      string
	state            string // open or closed
	head, base       string // branches
	author           string
	created, updated time.Time
	fork             string // owner/name, or "" for this repository
	headSHA          string // of a fork's branch, or of a closed pull request
	locked           bool
	labels           []string
	reviewers        []string
	teams            []string
}

// headCommit returns the commit a pull request ends in.
func (r *repository) headCommit(p *pullRequest) string {
	if p.headSHA != "" {
		return p.headSHA
	}
	return r.head(p.head)
}

// close closes a pull request, which keeps the commit it had then.
func (p *pullRequest) close(r *repository, now time.Time) {
	p.headSHA, p.state, p.updated = r.headCommit(p), "closed", now
}

// headOwner returns who owns the branch.
func (r *repository) headOwner(p *pullRequest) string {
	if p.fork == "" {
		return r.owner
	}
	owner, _, _ := strings.Cut(p.fork, "/")
	return owner
}

func (c *call) pullRequest(p *pullRequest) object {
	var closed any
	if p.state == "closed" {
		closed = p.updated.Format(time.RFC3339)
	}
	return object{
		"id": p.id, "number": p.number, "state": p.state, "title": p.title, "body": p.body, "user": c.user(p.author),
		"url": c.address("pulls/%d", p.number), "html_url": c.page("pull/%d", p.number),
		"issue_url": c.address("issues/%d", p.number), "comments_url": c.address("issues/%d/comments", p.number),
		"head": c.headOf(p), "base": c.branch(p.base), "labels": c.labelsOf(p),
		"requested_reviewers": c.users(p.reviewers), "requested_teams": c.teams(p.teams), "author_association": "NONE", "closed_at": closed,
		"created_at": p.created.Format(time.RFC3339), "updated_at": p.updated.Format(time.RFC3339),
		"mergeable_state": "unknown",
	}
}

func (c *call) branch(name string) object {
	return object{
		"label": c.repo.owner + ":" + name, "ref": name, "sha": c.repo.head(name),
		"user": c.user(c.repo.owner), "repo": c.repository(),
	}
}

func (c *call) headOf(p *pullRequest) object {
	head := c.branch(p.head)
	head["sha"] = c.repo.headCommit(p)
	if p.fork == "" {
		return head
	}
	owner, name, _ := strings.Cut(p.fork, "/")
	fork := c.repository()
	fork["name"], fork["full_name"], fork["owner"], fork["fork"] = name, p.fork, c.user(owner), true
	head["label"], head["user"], head["repo"] = owner+":"+p.head, c.user(owner), fork
	return head
}

func listPulls(c *call) reply {
	query := c.url.Query()
	state := query.Get("state")
	if state == "" {
		state = "open"
	}
	all := slices.Clone(c.repo.pulls)
	all = slices.DeleteFunc(all, func(p *pullRequest) bool {
		label := c.repo.headOwner(p) + ":" + p.head
		return state != "all" && p.state != state ||
			strings.Contains(query.Get("head"), ":") && !strings.EqualFold(label, query.Get("head")) ||
			query.Get("base") != "" && p.base != query.Get("base")
	})
	if query.Get("direction") != "asc" {
		slices.Reverse(all)
	}
	page, header := paginate(c, all)
	listing := list{}
	for _, p := range page {
		listing = append(listing, c.pullRequest(p))
	}
	return reply{status: 200, header: header, body: listing}
}

func getPull(c *call) reply {
	p := c.repo.pull(int(c.number("pull_number")))
	if p == nil {
		return notFound()
	}
	return ok(c.pullRequest(p))
}

func createPull(c *call) reply {
	var in struct{ Title, Head, Base, Body string }
	c.decode(&in)
	if c.repo.forbidPulls && c.token.Login == "github-actions[bot]" {
		return failure(403, "GitHub Actions is not permitted to create or approve pull requests.")
	}
	head := strings.TrimPrefix(in.Head, c.repo.owner+":")
	if problem := c.checkPull(in.Title, in.Body, head, in.Base); problem != nil {
		return *problem
	}
	now := c.tick()
	p := &pullRequest{
		id: c.newID(), number: c.repo.nextNumber(), title: in.Title, body: in.Body, state: "open",
		head: head, base: in.Base, author: c.token.Login, created: now, updated: now,
	}
	c.repo.pulls = append(c.repo.pulls, p)
	return created(c.pullRequest(p))
}

// checkPull returns why a pull request cannot be opened, or nil.
func (c *call) checkPull(title, body, head, base string) *reply {
	problem := func(field, code, message string) *reply {
		r := invalid("PullRequest", field, code, message)
		return &r
	}
	same := func(p *pullRequest) bool {
		return p.state == "open" && p.fork == "" && p.head == head && p.base == base
	}
	switch {
	case title == "":
		return problem("title", "missing_field", "")
	case c.repo.head(head) == "":
		return problem("head", "invalid", "")
	case c.repo.head(base) == "":
		return problem("base", "invalid", "")
	case utf8.RuneCountInString(body) > c.repo.maxBody:
		return problem("body", "custom", c.repo.tooLong("body"))
	case slices.ContainsFunc(c.repo.pulls, same):
		return problem("", "custom", "A pull request already exists for "+c.repo.owner+":"+head+".")
	case c.repo.git.reaches(c.repo.head(base), c.repo.head(head)):
		return problem("", "custom", "No commits between "+base+" and "+head)
	}
	return nil
}

func updatePull(c *call) reply {
	p := c.repo.pull(int(c.number("pull_number")))
	if p == nil {
		return notFound()
	}
	in := struct{ Title, Body, State, Base string }{p.title, p.body, p.state, p.base}
	c.decode(&in)
	switch {
	case in.Title == "":
		return invalid("PullRequest", "title", "missing_field", "")
	case c.repo.head(in.Base) == "":
		return invalid("PullRequest", "base", "invalid", "")
	case utf8.RuneCountInString(in.Body) > c.repo.maxBody:
		return invalid("PullRequest", "body", "custom", c.repo.tooLong("body"))
	}
	if in.State == "closed" && p.state == "open" {
		p.close(c.repo, c.tick())
	}
	p.title, p.body, p.base, p.updated = in.Title, in.Body, in.Base, c.tick()
	return ok(c.pullRequest(p))
}
