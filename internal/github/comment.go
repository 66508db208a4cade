package github

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
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

// Post is what a comment is to say.
type Post struct {
	// Seq is the run that says it. Nothing of a newer run is replaced. Zero
	// means that it is not known, and replaces everything.
	Seq  Seq
	Body Ladder // Markdown
	// State is a word, [a-z0-9_-], at most 40, kept for the next one to read.
	State string
	// Fresh, where it is set, is asked with the state of the comment that is
	// there whether to post a new one instead of rewriting it, so that people
	// are notified. The old one is deleted. It is asked once for each run.
	Fresh func(before string) bool
	// Verify waits until no other writer can have replaced the text without
	// having seen it, about 21 seconds, for jobs that post at once.
	Verify bool
}

// CommentRoom returns how many bytes of [MaxText] are left for the body of a
// comment under key.
func CommentRoom(key string) int {
	longest := marker{key: key, seq: Seq{1<<63 - 1, 1<<63 - 1}, sum: digest(""), state: strings.Repeat("s", 40)}
	return MaxText - len(longest.String()) - 1
}

// UpsertComment makes a text that of the one comment that carries key on a pull
// request or issue: it creates the comment or rewrites it where it says
// something else. The comment is known by a hidden first line and by its
// author, so that nobody else's comment is ever touched. Of several such
// comments the oldest stays, with the newest text, and the others are deleted.
//
// A comment of a newer run stays as it is, and Change is Outdated. A text that
// is there already is not written again; where an older run said it, only the
// hidden line changes, so that a run in between does not replace it, and Change
// is Unchanged.
func (c *Client) UpsertComment(ctx context.Context, repo Repo, issue int, key string, post Post) (Comment, error) {
	paper := &note{post: post, key: key}
	if err := errors.Join(repo.check(), checkKey(key), paper.check()); err != nil {
		return Comment{}, fmt.Errorf("comment on %s#%d: %w", repo, issue, err)
	}
	p := posting{client: c, repo: repo, issue: issue, key: key, paper: paper, settle: post.Verify}
	kept, err := p.run(ctx)
	if err != nil {
		return Comment{}, err
	}
	return Comment{ID: kept.id, URL: kept.url, Change: paper.outcome(p.change, kept)}, nil
}

// Posted is a comment that is there.
type Posted struct {
	ID    int64 // 0 where there is none
	URL   string
	Seq   Seq
	State string
	Body  string // without the hidden line
}

// FindComment returns what the comment under key says, of several the newest.
func (c *Client) FindComment(ctx context.Context, repo Repo, issue int, key string) (Posted, error) {
	if err := errors.Join(repo.check(), checkKey(key)); err != nil {
		return Posted{}, fmt.Errorf("read the comment on %s#%d: %w", repo, issue, err)
	}
	found, _, err := c.ownComments(ctx, repo, issue, key)
	if err != nil || len(found) == 0 {
		return Posted{}, err
	}
	o := newest(found)
	return Posted{ID: o.id, URL: o.url, Seq: o.seq, State: o.state, Body: o.body}, nil
}

// newest returns the comment of the newest run, of several the oldest comment.
func newest(found []posted) posted {
	best := found[0]
	for _, o := range found[1:] {
		if o.seq.compare(best.seq) > 0 {
			best = o
		}
	}
	return best
}

func checkKey(key string) error {
	switch {
	case key == "":
		return errors.New("a comment needs a key to be found again")
	case len(escapeKey(key)) > 10_000 || !utf8.ValidString(key):
		return errors.New("the key of the comment is too long or no text: choose a shorter one")
	}
	return nil
}

// note is the paper of one text, of which the newest counts.
type note struct {
	key    string
	post   Post
	newer  *posted         // somebody else's, of a newer run
	fresh  bool            // to be posted anew
	wrote  bool            // ours was there; what replaces it in the same run came after it
	before map[string]bool // digests of the texts at the first look
}

func (t *note) check() error {
	if t.post.Body == nil {
		return errors.New("there is no text: give one")
	}
	if !validState.MatchString(t.post.State) {
		return fmt.Errorf("%q is no state: use a-z, 0-9, - and _, at most 40", cut(t.post.State, 60))
	}
	_, _, err := t.text(MaxText)
	return err
}

func (t *note) learn(found []posted) {
	first := t.before == nil
	if first {
		t.before = map[string]bool{}
		for _, o := range found {
			t.before[digest(o.body)] = true
		}
	}
	if len(found) == 0 {
		return
	}
	last, known := newest(found), t.post.Seq
	if t.newer != nil {
		known = t.newer.seq
	}
	if t.post.Seq.known() && last.seq.compare(known) > 0 {
		t.newer = &last
	}
	older := !t.post.Seq.known() || last.seq.compare(t.post.Seq) < 0
	if first && older && t.post.Fresh != nil {
		t.fresh = t.post.Fresh(last.state)
	}
}

// keeps prefers the oldest comment, and the newest that has our text where a
// fresh one was wanted.
func (t *note) keeps(found []posted, limit int) int {
	if t.fresh && t.newer == nil {
		for i := len(found) - 1; i >= 0; i-- {
			if found[i].seq == t.post.Seq && t.says(found[i], limit) {
				return i
			}
		}
		return -1
	}
	return min(len(found), 1) - 1
}

func (t *note) says(found posted, limit int) bool {
	m, body, err := t.text(limit)
	if err != nil {
		return false // writing says why
	}
	same := found.marker == marker{m.key, m.seq, digest(body), m.state} && found.intact()
	t.wrote = t.wrote || same
	return same || t.wrote && t.newer == nil && found.seq == m.seq && found.intact()
}

func (t *note) text(limit int) (marker, string, error) {
	if t.newer != nil {
		return t.newer.marker, t.newer.body, nil
	}
	m := marker{key: t.key, seq: t.post.Seq, state: t.post.State, sum: digest("")}
	body, err := t.post.Body.at(room(limit, m.String(), "\n"))
	return m, body, err
}

// outcome returns what the call did for people.
func (t *note) outcome(done Change, kept posted) Change {
	switch {
	case t.newer != nil:
		return Outdated
	case done == "" || done == Updated && t.before[digest(kept.body)]:
		return Unchanged
	}
	return done
}

// Reply answers a comment on a pull request or issue, once: the same answer to
// the same comment is not posted again.
func (c *Client) Reply(ctx context.Context, repo Repo, issue int, to int64, body string) (Comment, error) {
	return c.UpsertComment(ctx, repo, issue, fmt.Sprintf("reply-%d", to), Post{Body: Fixed(body)})
}
