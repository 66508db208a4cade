package github

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"net/http"
	"slices"
	"time"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
)

// How a writer finds that another one wrote over its section: it reads again after a
// pause that is longer than the time between another one's reading and writing.
const (
	settles     = 3 * time.Second
	staleAfter  = settles - 500*time.Millisecond
	maxRewrites = 10
)

// errOverwritten marks a section that other writers replaced as often as it was written.
var errOverwritten = errors.New("other jobs write to the same comment: run this job again")

// UpsertSection makes a text that of one section of the comment that carries key. Other
// sections stay as they are, unless all do not fit: see [joined]. Several callers may
// write their sections at the same time: all end in one comment.
//
// A call creates at most one comment. It costs at most five requests where no other
// caller writes at the same time, and a few more, bounded too, where one does.
//
// A section of a newer run stays as it is, and Change is Outdated. Post.Fresh is asked
// with the state of the section.
func (c *Client) UpsertSection(ctx context.Context, repo Repo, issue int, key, name string, post Post) (Comment, error) {
	s := &sharing{upsert: upsert{client: c, repo: repo, issue: issue, key: key, post: post, limit: MaxText}, name: name}
	if err := errors.Join(repo.check(), checkKey(key), checkKey(name), s.check()); err != nil {
		return Comment{}, fmt.Errorf("comment on %s#%d: %w", repo, issue, err)
	}
	return s.run(ctx)
}

// FindSection returns what a section of the comment under key says.
func (c *Client) FindSection(ctx context.Context, repo Repo, issue int, key, name string) (Posted, error) {
	if err := errors.Join(repo.check(), checkKey(key), checkKey(name)); err != nil {
		return Posted{}, fmt.Errorf("read the comment on %s#%d: %w", repo, issue, err)
	}
	found, err := c.ownComments(ctx, repo, issue, key)
	if err != nil || len(found) == 0 {
		return Posted{}, err
	}
	s, there := sectionsOf(found)[name]
	if !there {
		return Posted{}, nil
	}
	kept := stayingOf(found)
	return Posted{ID: kept.id, URL: kept.url, Seq: s.seq, State: s.state, Body: s.body}, nil
}

// sharing is one call of UpsertSection. The seq of the comment itself counts how often a
// new one took its place.
type sharing struct {
	upsert
	name    string
	made    bool // GitHub was asked to create the comment
	fresh   bool // a new comment takes the place of those that are there
	written *section
	said    Comment
}

// stayingOf returns which of several comments stays: the one that took the place of
// others, else the oldest.
func stayingOf(found []posted) posted { return slices.MaxFunc(found, posted.compare) }

func (s *sharing) run(ctx context.Context) (Comment, error) {
	s.calls++ // asking whose token it is
	var bad trouble
	for rewrites := 0; ; {
		done, err := s.step(ctx)
		switch {
		case done || err != nil && !passing(err):
			return s.said, err
		case err != nil:
			pause, ok := bad.bear(s.client, err)
			if !ok {
				return s.said, err
			}
			if slept := s.client.sender.pause(ctx, pause); slept != nil {
				return s.said, cmp.Or(ctx.Err(), err)
			}
			err = nil
		case rewrites == maxRewrites:
			return s.said, fmt.Errorf("%s: %w", s.doing("comment on"), errOverwritten)
		default:
			err = s.client.sender.pause(ctx, settles+s.client.jitter(min(firstSpread<<rewrites, maxSpread)))
			rewrites++
		}
		if err != nil {
			return s.said, err
		}
	}
}

// step looks, and writes unless the section is there already.
func (s *sharing) step(ctx context.Context) (done bool, err error) {
	s.calls++
	read := s.client.sender.now()
	found, err := s.client.ownComments(ctx, s.repo, s.issue, s.key)
	if err != nil {
		return false, err
	}
	all := sectionsOf(found)
	before, there := all[s.name]
	if there && s.outdated(ctx, before, found) {
		return true, nil
	}
	older := !s.post.Seq.known() || before.seq.compare(s.post.Seq) < 0
	if s.written == nil && there && older && s.post.Fresh != nil {
		s.fresh = s.post.Fresh(before.state)
	}
	if len(found) == 0 || s.fresh && !s.made {
		return false, s.create(ctx, all, found)
	}
	kept := stayingOf(found)
	whole, own, err := s.compose(all, kept.seq)
	if err != nil {
		return false, hopeless{fmt.Errorf("%s: %w", s.doing("comment on"), err)}
	}
	s.note(kept, before, own)
	if s.settled(kept, all, own) {
		s.calls = 0 // duplicates are of others that wrote at the same time
		return true, s.deleteOthers(ctx, found, kept)
	}
	return false, s.edit(ctx, read, kept, whole, own)
}

// outdated reports whether the section is of a newer run that exists. It keeps it.
func (s *sharing) outdated(ctx context.Context, before section, found []posted) bool {
	if !s.post.Seq.known() || before.seq.compare(s.post.Seq) <= 0 || !s.ran(ctx, before.seq) {
		return false
	}
	kept := stayingOf(found)
	s.said = Comment{ID: kept.id, URL: kept.url, Change: Outdated, Newer: before.seq}
	return true
}

// note keeps the result: the comment as it is now, and the first change.
func (s *sharing) note(kept posted, before, own section) {
	change := s.said.Change
	switch {
	case change != "":
	case before.body == own.body && before.key == own.key:
		change = Unchanged
	default:
		change = Updated
	}
	s.said = Comment{ID: kept.id, URL: kept.url, Change: change}
}

// settled reports whether the comment that stays holds the section, and all those of
// the comments that are to go.
func (s *sharing) settled(kept posted, all map[string]section, own section) bool {
	holds := sectionsIn(kept.body)
	if s.written != nil { // another one may have joined, which makes shares smaller
		own = *s.written
	}
	if holds[s.name] != own {
		return false
	}
	for key, one := range all {
		if holds[key] != one {
			return false
		}
	}
	return true
}

// compose returns the whole text of the comment, with the section in it.
func (s *sharing) compose(all map[string]section, generation Seq) (string, section, error) {
	m := marker{key: s.key, seq: generation, sum: digest("")}
	own := newSection(s.name, s.post.Seq, s.post.State, "")
	body, own, err := joined(all, own, s.post, room(s.limit, m.String(), "\n"))
	m.sum = digest(body)
	return m.String() + "\n" + body, own, err
}

// create creates a comment, once in a call.
func (s *sharing) create(ctx context.Context, all map[string]section, found []posted) error {
	if s.made {
		return hopeless{errCommentLost}
	}
	generation := Seq{Run: 1}
	if len(found) > 0 {
		generation.Run = min(stayingOf(found).seq.Run, math.MaxInt64-1) + 1
	}
	whole, own, err := s.compose(all, generation)
	if err != nil {
		return hopeless{fmt.Errorf("%s: %w", s.doing("comment on"), err)}
	}
	made, _, err := s.client.api.Issues.CreateComment(once(ctx), s.repo.Owner, s.repo.Name, s.issue, &gh.IssueComment{Body: &whole})
	s.calls++
	if s.shorter(err) {
		return nil
	}
	s.made, s.said.Change = err == nil || passing(err), Created
	if err != nil {
		return explainIf(s.doing("comment on"), commentPermission, err)
	}
	s.written, s.said.ID, s.said.URL = &own, made.GetID(), made.GetHTMLURL()
	return nil
}

// edit writes the comment, which was read at a time. It is not sent later or again
// without looking: another writer may have come first.
func (s *sharing) edit(ctx context.Context, read time.Time, kept posted, whole string, own section) error {
	s.calls++
	how := manner{once: true, before: read.Add(staleAfter), answers: []int{http.StatusNotFound}}.in(ctx)
	_, _, err := s.client.api.Issues.EditComment(how, s.repo.Owner, s.repo.Name, kept.id, &gh.IssueComment{Body: &whole})
	if s.shorter(err) || status(err) == http.StatusNotFound {
		return nil // it is looked for again
	}
	if err == nil {
		s.written = &own
	}
	return explainIf(s.doing("update the comment on"), commentPermission, err)
}

// shorter takes the server's own limit where it refuses the length of a text.
func (s *sharing) shorter(err error) bool {
	maximum := longest(err)
	if maximum == 0 || maximum >= s.limit {
		return false
	}
	s.limit = maximum
	return true
}

func (s *sharing) check() error {
	if s.post.Body == nil {
		return errors.New("there is no text: give one")
	}
	if !validState.MatchString(s.post.State) {
		return fmt.Errorf("%q is not a state: use a-z, 0-9, - and _, at most 40", text.Cut(s.post.State, 60))
	}
	_, _, err := s.compose(map[string]section{}, Seq{})
	return err
}
