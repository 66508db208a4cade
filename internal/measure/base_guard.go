package measure

import (
	"context"
	"errors"
	"fmt"
	"os"
	"strings"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/reference/worktree"
	"github.com/accelgate/accelgate/internal/text"
)

// notEvidence says why nothing of a run counts: a clause with a next step.
type notEvidence struct{ why string }

func (e notEvidence) Error() string { return e.why }

// guard compares the folder of the base with what its build left.
type guard struct {
	shared    bool // base and head are one folder: a change may be either's, so nothing is compared
	recording *worktree.Recording
	dir, what string // the folder, and the base in words
	undo      func() error

	mu    sync.Mutex
	alone bool // one cell is measured at a time, so that a change has one author
	ran   bool // programs of the base have run since the last look
}

// newGuard records the folder of a base as its build left it. Where the base has files, these and its programs are made
// read-only.
func newGuard(dir, what string, files []string) (*guard, error) {
	recording, err := worktree.Record(dir, DefaultOut)
	if err != nil {
		return nil, err
	}
	g := &guard{recording: recording, dir: dir, what: what, undo: func() error { return nil }, ran: true}
	if files != nil {
		g.undo, err = recording.Protect(files)
	}
	return g, err
}

// guardShared is the guard of a base that lies in the head's folder.
func guardShared() *guard {
	return &guard{shared: true, undo: func() error { return nil }}
}

// release gives the files of the base their modes back.
func (g *guard) release() error { return g.undo() }

// before looks at the base before one of its cells is measured, or one of the head's, so that
// both sides begin alike.
func (g *guard) before(base bool) error {
	if g.shared || !g.recording.Cheap() {
		return nil
	}
	g.mu.Lock()
	own := g.ran || !g.alone
	g.ran = base
	g.mu.Unlock()
	return g.look("while cells were measured", own)
}

// look returns a [notEvidence] if the base was changed since the last look; own says that its own programs have
// run.
func (g *guard) look(when string, own bool) error {
	if g.shared {
		return nil
	}
	name, err := g.recording.Look(own)
	if err != nil {
		return fmt.Errorf("look at the files of the base: %w", err)
	}
	if name == "" {
		return nil
	}
	return g.changed(when, []string{name})
}

// end reads all that was recorded again.
func (g *guard) end() error {
	if g.shared {
		return nil
	}
	if err := g.before(false); err != nil {
		return err
	}
	changed, err := g.recording.Compare()
	if err != nil {
		return fmt.Errorf("look at the files of the base: %w", err)
	}
	if len(changed) > 0 {
		return g.changed("while cells were measured", changed)
	}
	return nil
}

func (g *guard) changed(when string, names []string) error {
	return notEvidence{fmt.Sprintf("the base (%s in %s) is not what its build left: %s changed %s: "+
		"keep what is measured from writing there, or see docs/security.md",
		g.what, text.OneLine(g.dir), files(names), when)}
}

// files names the first of some files.
func files(names []string) string {
	const maximum = 3
	var shown []string
	for _, name := range names[:min(len(names), maximum)] {
		shown = append(shown, text.Quote(name, 120))
	}
	if more := len(names) - len(shown); more > 0 {
		return strings.Join(shown, ", ") + fmt.Sprintf(" and %d more", more)
	}
	return strings.Join(shown, " and ")
}

// watch records the base of a plan, once its builds are done. In CI what is recorded must stay. The folder that a user
// names on a desk stays writable.
func (b *base) watch(head *Session, from *checkout) (err error) {
	dir, what, files := head.Plan.Options.AB, "", []string(nil)
	switch f := head.folder; {
	case from != nil:
		dir, what, files = from.tree(), from.what, from.files
	case f != nil:
		dir, what, files = f.root, "commit "+ShortRevision(f.commit), f.files
	case within(dir, head.Plan.File.Dir):
		b.guard = guardShared()
		return nil
	default:
		what = ShortRevision(b.revision)
	}
	if b.guard, err = newGuard(dir, what, files); err == nil {
		b.guard.recording.Strict = head.inCI()
	}
	return err
}

// declareVoid marks a run of which nothing counts, and saves nothing for another one to go on with.
func (s *Session) declareVoid(run *bench.Run, why string) {
	why = text.Cut(text.OneLine(why), bench.MaxFact)
	if run.Context == nil {
		run.Context = map[string]string{}
	}
	run.Context[bench.NoEvidence] = why
	s.WarnAll([]string{"nothing of this run counts: " + why})
	_ = os.Remove(s.Plan.OutPath("journal.jsonl")) // the next run begins another one
}

// voided is a run of which nothing was measured, because nothing of it would count.
func (s *Session) voided(ctx context.Context, ref *bench.Run, err error) (*bench.Run, error) {
	why, ok := errors.AsType[notEvidence](err)
	if !ok {
		return nil, err
	}
	run := s.newRun(ctx, nil, ref)
	s.declareVoid(run, why.why)
	run = redact(run, Secrets(s.Plan.secrets()).Hide)
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("the run is not valid: %w", err)
	}
	return run, SaveRun(s.Plan.OutPath("run.json"), run)
}
