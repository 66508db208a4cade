package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"
	"strings"
	"time"

	gh "github.com/google/go-github/v62/github"
)

// How writers of one comment keep out of each other's way. GitHub has no
// compare-and-swap for comments, so a text that was made from an old reading
// may replace a newer one. Three spans bound how late that can happen.
//
// A text is sent only while the reading it was made from is younger than
// readAge. GitHub is assumed to apply a request within writeTimeout of its
// sending or never; that is how long the client waits for the answer. So a
// text takes effect at most readAge + writeTimeout after its reading.
//
// A writer looks again once settleTime, which is longer, has passed since its
// last write, and leaves only if the comment then says all that the writer has
// ever seen. Let Z be the last to leave of those that wrote some section. If a
// text without the section took effect later, it was made from a reading
// without it, before Z's last look. So somebody wrote the section after that
// reading, and has left only after the text took effect, that is after Z. There
// is no such writer; hence nobody's section is lost.
//
// This needs that no writer dies before it leaves, and no clock but each
// writer's own.
const (
	readAge      = 10 * time.Second
	writeTimeout = 10 * time.Second
	settleTime   = readAge + writeTimeout + time.Second
)

// How patient a writer is.
const (
	maxRounds   = 500              // readings in all
	maxSpread   = 20 * time.Second // a random wait after a collision, at most
	firstSpread = 2 * time.Second  // before something is created that others may create too
)

// posted is a comment of ours under a key.
type posted struct {
	marker
	id   int64
	url  string
	body string // below the marker
}

// intact reports whether the text is the one that the marker speaks of.
func (p posted) intact() bool { return p.sum != "" && digest(p.body) == p.sum }

// paper is what the one comment under a key shall say. It only ever learns: what
// it knows is a set that grows, or a newest text.
type paper interface {
	// learn takes in what comments say.
	learn(found []posted)
	// says reports whether a comment says all that is known.
	says(found posted, limit int) bool
	// text returns the marker, without its sum, and the body to post, which are
	// at most limit bytes together.
	text(limit int) (marker, string, error)
	// keeps returns which of the comments is to stay, or -1 for a new one.
	keeps(found []posted, limit int) int
}

// posting brings one comment to say what a paper says.
type posting struct {
	client *Client
	repo   Repo
	issue  int
	key    string
	paper  paper
	settle bool // wait until nobody can undo it

	limit      int       // index into limits
	change     Change    // what was done so far
	effectless time.Time // from when on no write of ours can take effect any more; zero before the first
	reading    trouble
	writing    trouble
	stale      int // writes in a row that came too late
	gone       int // writes to comments that were not there any more
	collisions int
	spread     bool // a random wait before creating was made
}

func (p *posting) doing(what string) string { return fmt.Sprintf("%s %s#%d", what, p.repo, p.issue) }

// run reads, writes what is missing and reads again, until nothing is.
func (p *posting) run(ctx context.Context) (posted, error) {
	for range maxRounds {
		readAt := p.client.sender.now()
		found, err := p.read(ctx)
		if err != nil {
			if err := p.bear(ctx, &p.reading, err); err != nil {
				return posted{}, err
			}
			continue
		}
		p.reading = trouble{}
		p.paper.learn(found)
		if next := p.plan(found); next != nil {
			if err := p.act(ctx, next, readAt); err != nil {
				return posted{}, err
			}
			continue
		}
		if !p.settle || p.effectless.IsZero() || readAt.Sub(p.effectless) >= settleTime {
			return found[p.paper.keeps(found, limits[p.limit])], nil
		}
		wait := p.effectless.Add(settleTime).Sub(p.client.sender.now())
		if err := p.client.sender.sleep(ctx, max(wait, 0)); err != nil {
			return posted{}, err
		}
	}
	return posted{}, fmt.Errorf("%s: others change the same comment all the time: let one job post for all", p.doing("comment on"))
}

// read lists the comments. A listing of several pages is no snapshot: a comment
// deleted meanwhile moves others across the border, where they are missed. So a
// writer that others rely on lists twice then.
func (p *posting) read(ctx context.Context) ([]posted, error) {
	found, pages, err := p.client.ownComments(ctx, p.repo, p.issue, p.key)
	if err != nil || !p.settle || pages < 2 {
		return found, err
	}
	again, _, err := p.client.ownComments(ctx, p.repo, p.issue, p.key)
	for _, o := range found {
		if !slices.ContainsFunc(again, func(other posted) bool { return other.id == o.id }) {
			again = append(again, o)
		}
	}
	slices.SortFunc(again, func(a, b posted) int { return cmp.Compare(a.id, b.id) })
	return again, err
}

// write is one step towards one comment that says everything.
type write struct {
	doing  string
	change Change
	send   func(ctx context.Context) error
}

// plan returns the next write, or nil where nothing is missing.
func (p *posting) plan(found []posted) *write {
	keep := p.paper.keeps(found, limits[p.limit])
	switch {
	case keep < 0:
		return &write{"comment on", Created, p.create}
	case !p.paper.says(found[keep], limits[p.limit]):
		return &write{"update the comment on", Updated, func(ctx context.Context) error { return p.update(ctx, found[keep]) }}
	case len(found) > 1:
		others := slices.Delete(slices.Clone(found), keep, keep+1)
		return &write{"delete a duplicate comment on", "", func(ctx context.Context) error { return p.delete(ctx, others) }}
	}
	return nil
}

// act does one write. It fails where GitHub refuses it for good.
func (p *posting) act(ctx context.Context, w *write, readAt time.Time) error {
	if waited, err := p.spreadOut(ctx, w); waited || err != nil {
		return err // what was read is out of date
	}
	if wait := p.client.sender.busy(); wait > 0 {
		return p.client.sender.sleep(ctx, wait) // as it would be after this
	}
	how := manner{once: true, before: readAt.Add(readAge), timeout: writeTimeout}
	p.spread = false
	err := w.send(how.in(ctx))
	if !errors.Is(err, errStale) {
		p.effectless = p.client.sender.now()
	}
	switch {
	case err == nil:
		p.writing, p.stale = trouble{}, 0
		p.collisions++
		if p.change == "" {
			p.change = w.change
		}
		return nil
	case ctx.Err() != nil:
		return ctx.Err()
	case errors.Is(err, errStale) && p.stale < maxLimited:
		p.stale++ // mostly because a rate limit lasted
		return nil
	case errors.Is(err, errStale):
		return fmt.Errorf("%s: GitHub keeps it waiting for too long: run it again when its rate limit is over", p.doing(w.doing))
	case tooLong(err) && p.limit < len(limits)-1:
		p.limit++
		return nil
	}
	return p.failed(ctx, w, err)
}

// spreadOut keeps writers apart: those that are about to create the same
// comment, or that wrote and found the comment changed again.
func (p *posting) spreadOut(ctx context.Context, w *write) (waited bool, err error) {
	if !p.settle {
		return false, nil
	}
	most := firstSpread
	if p.spread || w.change == Updated && p.collisions == 0 {
		return false, nil
	}
	p.spread = true
	if p.collisions > 0 {
		most = min(firstSpread<<min(p.collisions, 10), maxSpread)
	}
	return true, p.client.sender.sleep(ctx, p.client.jitter(most))
}

// failed decides about a write that failed: what may be otherwise the next time
// is tried again after a while and another reading.
func (p *posting) failed(ctx context.Context, w *write, err error) error {
	if passing(err) {
		p.effectless = p.client.sender.now().Add(writeTimeout)
		p.settle = p.settle || w.change == Created // it may yet appear, beside another one
	}
	if status(err) == http.StatusNotFound && w.change != Created && p.gone < maxUnsure {
		p.gone++ // somebody deleted it
		return nil
	}
	return p.bear(ctx, &p.writing, explain(p.doing(w.doing), commentPermission, err))
}

// bear waits after a failure, or returns it where that is of no use.
func (p *posting) bear(ctx context.Context, t *trouble, err error) error {
	if ctx.Err() != nil {
		return ctx.Err()
	}
	pause, ok := t.bear(p.client, err)
	if !ok {
		return err
	}
	return p.client.sender.sleep(ctx, pause)
}

func (p *posting) create(ctx context.Context) error {
	text, err := p.whole()
	if err != nil {
		return err
	}
	_, _, err = p.client.api.Issues.CreateComment(ctx, p.repo.Owner, p.repo.Name, p.issue, &gh.IssueComment{Body: &text})
	return err
}

func (p *posting) update(ctx context.Context, keep posted) error {
	text, err := p.whole()
	if err != nil {
		return err
	}
	_, _, err = p.client.api.Issues.EditComment(ctx, p.repo.Owner, p.repo.Name, keep.id, &gh.IssueComment{Body: &text})
	return err
}

// delete deletes duplicates. One that is gone already is no error.
func (p *posting) delete(ctx context.Context, others []posted) error {
	for _, o := range others {
		_, err := p.client.api.Issues.DeleteComment(ctx, p.repo.Owner, p.repo.Name, o.id)
		if err != nil && status(err) != http.StatusNotFound {
			return err
		}
	}
	return nil
}

// whole returns the text to post, marker included.
func (p *posting) whole() (string, error) {
	m, body, err := p.paper.text(limits[p.limit])
	if err != nil {
		return "", hopeless{err}
	}
	m.sum = digest(body)
	return m.String() + "\n" + body, nil
}

// ownComments returns the comments that carry key and that the token's login
// wrote, oldest first, and of how many pages the listing was.
func (c *Client) ownComments(ctx context.Context, repo Repo, issue int, key string) (mine []posted, pages int, err error) {
	login, err := c.login(ctx)
	if err != nil {
		return nil, 0, err
	}
	all, err := allPages(func(page gh.ListOptions) ([]*gh.IssueComment, *gh.Response, error) {
		pages++
		return c.api.Issues.ListComments(ctx, repo.Owner, repo.Name, issue, &gh.IssueListCommentsOptions{ListOptions: page})
	})
	if err != nil {
		return nil, 0, explain(fmt.Sprintf("read the comments on %s#%d", repo, issue), commentPermission, err)
	}
	for _, o := range all {
		first, body, _ := strings.Cut(o.GetBody(), "\n")
		m, ok := parseMarker(first)
		if ok && m.key == key && strings.EqualFold(o.GetUser().GetLogin(), login) {
			mine = append(mine, posted{marker: m, id: o.GetID(), url: o.GetHTMLURL(), body: body})
		}
	}
	slices.SortFunc(mine, func(a, b posted) int { return cmp.Compare(a.id, b.id) })
	return mine, pages, nil
}
