package githubtest

import (
	"net/http"
	"slices"
	"strings"
	"time"
)

// reaction is somebody's emoji under a comment.
type reaction struct {
	id, comment    int64
	login, content string
	created        time.Time
}

func createReaction(c *call) reply {
	id := c.number("comment_id")
	if c.repo.commentByID(id) < 0 {
		return notFound()
	}
	var in struct{ Content string }
	c.decode(&in)
	status := http.StatusCreated
	i := slices.IndexFunc(c.repo.reactions, func(o reaction) bool {
		return o.comment == id && o.login == c.token.Login && o.content == in.Content
	})
	if i >= 0 {
		status = http.StatusOK
	} else {
		i = len(c.repo.reactions)
		c.repo.reactions = append(c.repo.reactions, reaction{c.newID(), id, c.token.Login, in.Content, c.tick()})
	}
	o := c.repo.reactions[i]
	return reply{status: status, body: object{
		"id": o.id, "content": o.content, "user": c.user(o.login), "created_at": o.created.Format(time.RFC3339),
	}}
}

// getPermission answers with the four levels of old and with the role.
func getPermission(c *call) reply {
	login := c.params["username"]
	role := c.repo.permissions[strings.ToLower(login)]
	if role == "" {
		role = "none"
	}
	level := map[string]string{"maintain": "write", "triage": "read"}[role]
	if level == "" {
		level = role
	}
	user := c.user(login)
	user["role_name"] = role
	return ok(object{"permission": level, "role_name": role, "user": user})
}

func (c *call) users(logins []string) list {
	listing := list{}
	for _, login := range logins {
		listing = append(listing, c.user(login))
	}
	return listing
}

func (c *call) teams(slugs []string) list {
	listing := list{}
	for _, slug := range slugs {
		listing = append(listing, object{
			"id": 1, "slug": slug, "name": slug, "description": "", "permission": "pull", "type": "organization",
		})
	}
	return listing
}

// requestReviewers takes collaborators only, and never the author.
func requestReviewers(c *call) reply {
	p := c.repo.pull(int(c.number("pull_number")))
	if p == nil {
		return notFound()
	}
	var in struct {
		Reviewers     []string
		TeamReviewers []string `json:"team_reviewers"`
	}
	c.decode(&in)
	for _, login := range in.Reviewers {
		if strings.EqualFold(login, p.author) {
			return refused("Review cannot be requested from pull request author.")
		}
		if c.repo.permissions[strings.ToLower(login)] == "" {
			return refused(
				"Reviews may only be requested from collaborators. One or more of the users or teams you specified is not a collaborator of the %s repository.",
				c.repo.fullName())
		}
	}
	p.reviewers = union(p.reviewers, in.Reviewers)
	p.teams = union(p.teams, in.TeamReviewers)
	return created(c.pullRequest(p))
}

func union(all, more []string) []string {
	for _, s := range more {
		if !slices.Contains(all, s) {
			all = append(all, s)
		}
	}
	return all
}
