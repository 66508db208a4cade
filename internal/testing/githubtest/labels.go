package githubtest

import (
	"slices"
	"strings"
	"time"
)

// issueEvent is one line of a pull request's timeline: a label was added or removed.
type issueEvent struct {
	id          int64
	issue       int
	kind, label string // kind is labeled or unlabeled
	actor       string
	app         string // login of the app that did it, or ""
	created     time.Time
}

// Label sets a label on a pull request of "owner/name" as a user does.
func (s *Server) Label(repo string, number int, login, label string) {
	s.view(repo, func(r *repository) {
		if p := r.pull(number); p != nil {
			s.addLabel(r, p, label, Token{Login: login})
		}
	})
}

// Unlabel removes a label from a pull request of "owner/name" as a user does.
func (s *Server) Unlabel(repo string, number int, login, label string) {
	s.view(repo, func(r *repository) {
		p := r.pull(number)
		if p == nil || !slices.Contains(p.labels, label) {
			return
		}
		p.labels = slices.DeleteFunc(p.labels, func(l string) bool { return l == label })
		s.addEvent(r, p, "unlabeled", label, Token{Login: login})
	})
}

// addLabel adds a label that a pull request lacks; a label that the repository lacks
// is made. A label that is there already makes no event.
func (s *Server) addLabel(r *repository, p *pullRequest, name string, by Token) {
	if r.labels[name] == 0 {
		r.labels[name] = s.newID()
	}
	if slices.ContainsFunc(p.labels, func(l string) bool { return strings.EqualFold(l, name) }) {
		return
	}
	p.labels = append(p.labels, name)
	s.addEvent(r, p, "labeled", name, by)
}

func (s *Server) addEvent(r *repository, p *pullRequest, kind, label string, by Token) {
	r.events = append(r.events, issueEvent{s.newID(), p.number, kind, label, by.Login, by.app(), s.tick()})
}

// addLabels adds to the labels of a pull request.
func addLabels(c *call) reply {
	p := c.repo.pull(int(c.number("issue_number")))
	if p == nil {
		return notFound()
	}
	var in struct{ Labels []string }
	c.decode(&in)
	for _, name := range in.Labels {
		c.addLabel(c.repo, p, name, c.token)
	}
	return ok(c.labelsOf(p))
}

func (c *call) labelsOf(p *pullRequest) list {
	listing := list{}
	for _, name := range p.labels {
		listing = append(listing, object{"id": c.repo.labels[name], "name": name, "color": "ededed", "description": ""})
	}
	return listing
}

// listEvents lists the events of a pull request, oldest first.
func listEvents(c *call) reply {
	issue := int(c.number("issue_number"))
	if c.repo.pull(issue) == nil {
		return notFound()
	}
	page, header := paginate(c, slices.DeleteFunc(slices.Clone(c.repo.events), func(e issueEvent) bool { return e.issue != issue }))
	listing := list{}
	for _, e := range page {
		listing = append(listing, c.event(e))
	}
	return reply{status: 200, header: header, body: listing}
}

func (c *call) event(e issueEvent) object {
	shown := object{
		"id": e.id, "event": e.kind, "url": c.address("issues/events/%d", e.id), "actor": c.user(e.actor),
		"label": object{"name": e.label, "color": "ededed"}, "created_at": e.created.Format(time.RFC3339), "performed_via_github_app": nil,
	}
	if e.app != "" {
		shown["performed_via_github_app"] = c.app(e.app)
	}
	return shown
}
