package github

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"slices"

	gh "github.com/google/go-github/v62/github"

	"github.com/accelgate/accelgate/internal/text"
)

// maxCalls bounds what one comment costs: a listing of several pages is one
// call, and so is a call that GitHub did not carry out and that is repeated.
const maxCalls = 5

// errCommentLost marks a comment that GitHub was asked to create once and that
// is not there.
var errCommentLost = errors.New("GitHub did not confirm the comment")

// UpsertComment makes a text that of the one comment that carries key on a pull
// request or issue. It lists the comments once, edits the one that is its own,
// or creates one and lists once more. The comment is known by a hidden first
// line and by its author, or by the id that GitHub gave it.
//
// A call creates at most one comment and costs at most five requests, whatever
// GitHub answers. Where two calls create one at the same time, that of the older
// run is deleted, and of one run the younger comment.
//
// A comment of a newer run stays as it is, and Change is Outdated. A text that
// is there already is not written again; where an older run wrote it, only the
// hidden line changes, so that a run in between does not replace it, and Change
// is Unchanged.
func (c *Client) UpsertComment(ctx context.Context, repo Repo, issue int, key string, post Post) (Comment, error) {
	u := &upsert{client: c, repo: repo, issue: issue, key: key, post: post, limit: MaxText}
	if err := errors.Join(repo.check(), checkKey(key), u.check()); err != nil {
		return Comment{}, fmt.Errorf("comment on %s#%d: %w", repo, issue, err)
	}
	return u.run(ctx)
}

// upsert is one call of UpsertComment.
type upsert struct {
	client *Client
	repo   Repo
	issue  int
	key    string
	post   Post
	limit  int // bytes of the text
	calls  int
}

func (u *upsert) check() error {
	if u.post.Body == nil {
		return errors.New("there is no text: give one")
	}
	if !validState.MatchString(u.post.State) {
		return fmt.Errorf("%q is not a state: use a-z, 0-9, - and _, at most 40", text.Cut(u.post.State, 60))
	}
	_, _, err := u.text()
	return err
}

func (u *upsert) run(ctx context.Context) (Comment, error) {
	u.calls++ // asking whose token it is
	found, err := u.list(ctx)
	if err != nil {
		return Comment{}, err
	}
	if len(found) == 0 {
		return u.create(ctx, nil)
	}
	last := slices.MaxFunc(found, posted.compare)
	if u.post.Seq.known() && last.seq.compare(u.post.Seq) > 0 && u.ran(ctx, last.seq) {
		return Comment{ID: last.id, URL: last.url, Change: Outdated, Newer: last.seq}, u.deleteOthers(ctx, found, last)
	}
	older := !u.post.Seq.known() || last.seq.compare(u.post.Seq) < 0
	if older && u.post.Fresh != nil && u.post.Fresh(last.state) {
		return u.create(ctx, found)
	}
	comment, err := u.edit(ctx, found[0])
	if status(err) == http.StatusNotFound {
		return u.create(ctx, found[1:]) // it was deleted meanwhile
	}
	if err != nil {
		return Comment{}, err
	}
	return comment, u.deleteOthers(ctx, found, found[0])
}

// ran reports whether a run exists, so that an invented one, which anybody can
// write who may edit the comment, silences nobody. A token that may not read
// runs takes it for granted.
func (u *upsert) ran(ctx context.Context, seq Seq) bool {
	u.calls++
	return u.client.ran(ctx, u.repo, seq)
}

// edit makes the text that of a comment.
func (u *upsert) edit(ctx context.Context, keep posted) (Comment, error) {
	m, body, err := u.text()
	if err != nil {
		return Comment{}, err
	}
	comment := Comment{ID: keep.id, URL: keep.url, Change: Updated}
	if sameText(keep.body, body) {
		comment.Change = Unchanged
		if keep.marker == m {
			return comment, nil
		}
	}
	err = u.send(ctx, "update the comment on", func(ctx context.Context, text string) error {
		_, _, err := u.client.api.Issues.EditComment(ctx, u.repo.Owner, u.repo.Name, keep.id, &gh.IssueComment{Body: &text})
		return err
	})
	return comment, err
}

// create creates the comment, once, and looks whether it is the only one. What
// was there before is deleted.
func (u *upsert) create(ctx context.Context, before []posted) (Comment, error) {
	var made *gh.IssueComment
	err := u.send(once(ctx), "comment on", func(ctx context.Context, text string) (err error) {
		made, _, err = u.client.api.Issues.CreateComment(ctx, u.repo.Owner, u.repo.Name, u.issue, &gh.IssueComment{Body: &text})
		return err
	})
	if err != nil && !passing(err) {
		return Comment{}, err
	}
	if err != nil {
		if err := u.client.sender.pause(ctx, backoff(1)); err != nil { // it may yet appear
			return Comment{}, err
		}
	}
	found, again := u.list(mayRefuse(ctx)) // the first listing was allowed
	mine, there := u.mine(found, made, before)
	switch {
	case err != nil && !there:
		return Comment{}, fmt.Errorf("%w: %w", errCommentLost, errors.Join(err, again))
	case again != nil:
		return Comment{ID: mine.id, URL: mine.url, Change: Created}, again
	}
	stays := u.stays(found, mine, before)
	comment := Comment{ID: stays.id, URL: stays.url, Change: Created}
	if stays.id != mine.id {
		comment.Change, comment.Newer = Outdated, stays.seq
	}
	return comment, u.deleteOthers(ctx, found, stays)
}

// mine returns the comment that was created: the one of that id, or, where the
// answer was lost, one with our text that was not there before.
func (u *upsert) mine(found []posted, made *gh.IssueComment, before []posted) (posted, bool) {
	if made.GetID() != 0 {
		return posted{id: made.GetID(), url: made.GetHTMLURL(), marker: marker{seq: u.post.Seq}}, true
	}
	m, _, _ := u.text() // it was sent, so there is one
	for _, o := range found {
		if o.marker == m && !among(before, o) {
			return o, true
		}
	}
	return posted{}, false
}

// stays returns which of several comments stays: that of the newest run, and of
// one run the oldest, but never one that a fresh one replaces.
func (u *upsert) stays(found []posted, mine posted, before []posted) posted {
	best := mine
	for _, o := range found {
		if among(before, o) {
			continue
		}
		if order := o.seq.compare(best.seq); order > 0 || order == 0 && o.id < best.id {
			best = o
		}
	}
	return best
}

func among(all []posted, one posted) bool {
	return slices.ContainsFunc(all, func(o posted) bool { return o.id == one.id })
}

// deleteOthers deletes duplicates, as far as the calls reach. One that is gone
// already is no error.
func (u *upsert) deleteOthers(ctx context.Context, found []posted, stays posted) error {
	for _, o := range found {
		if o.id == stays.id || u.calls >= maxCalls {
			continue
		}
		u.calls++
		gone := manner{answers: []int{http.StatusNotFound}}
		_, err := u.client.api.Issues.DeleteComment(gone.in(mayRefuse(ctx)), u.repo.Owner, u.repo.Name, o.id)
		if err != nil && status(err) != http.StatusNotFound {
			return explain(u.doing("delete a duplicate comment on"), commentPermission, err)
		}
	}
	return nil
}

// send sends the text, and a shorter one where the server refuses its length and
// names its own limit.
func (u *upsert) send(ctx context.Context, doing string, request func(ctx context.Context, text string) error) error {
	for {
		m, body, err := u.text()
		if err != nil {
			return fmt.Errorf("%s: %w", u.doing(doing), err)
		}
		u.calls++
		err = request(ctx, m.String()+"\n"+body)
		maximum := longest(err)
		if maximum == 0 || maximum >= u.limit {
			return explainIf(u.doing(doing), commentPermission, err)
		}
		u.limit = maximum
	}
}

// text returns the hidden line and what is below it.
func (u *upsert) text() (marker, string, error) {
	m := marker{key: u.key, seq: u.post.Seq, state: u.post.State, sum: digest("")}
	body, err := u.post.Body.at(room(u.limit, m.String(), "\n"))
	m.sum = digest(body)
	return m, body, err
}

func (u *upsert) doing(what string) string { return fmt.Sprintf("%s %s#%d", what, u.repo, u.issue) }

func (u *upsert) list(ctx context.Context) ([]posted, error) {
	u.calls++
	return persist(ctx, u.client, func() ([]posted, error) { return u.client.ownComments(ctx, u.repo, u.issue, u.key) })
}
