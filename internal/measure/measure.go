// Package measure turns a configuration into a Run: it opens the suites, selects
// and shards their cells, leases devices, measures in rounds or in pairs with a
// base, measures again what looks slower, and writes run.json. It judges nothing.
package measure

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// OutPath is the path of a file that a run leaves.
func (o *Options) OutPath(file *config.File, name string) string {
	out := o.Out
	if out == "" {
		out = file.Resolve(DefaultOut)
	}
	return filepath.Join(out, name)
}

// OutPath is the path of a file that this plan leaves.
func (p *Plan) OutPath(name string) string { return p.Options.OutPath(p.File, name) }

// Measure runs the plan and writes run.json before anything else can fail. The
// reference, nil where there is none, tells which cells look slower and are
// measured again before anybody is alarmed.
func (e *Env) Measure(ctx context.Context, p *Plan, ref *bench.Run) (_ *bench.Run, err error) {
	if err := p.prepareOut(); err != nil {
		return nil, err
	}
	e.Progress.Forget()
	e.expect(p)
	if _, err := e.watches(p); err != nil {
		return nil, err
	}
	p.declareForeign(ref)
	if p.Options.void != "" {
		return e.voided(ctx, p, notEvidence{p.Options.void})
	}
	b, err := e.prepareSides(ctx, p)
	defer func() {
		p.hold.Release()
		p.unshield()
		err = errors.Join(err, b.discard(ctx))
	}()
	if err != nil {
		return e.voided(ctx, p, err)
	}
	if p.nothingBuilt() {
		e.WarnAll(p.Warnings)
		return e.unmeasured(ctx, p)
	}
	e.since(ctx, p, ref)
	e.WarnAll(p.Warnings)
	end := e.Progress.Begin("wait for the devices")
	lanes, err := e.Lease(ctx, p)
	end()
	if err != nil {
		return nil, err
	}
	defer lanes.Release()
	if n := worker.EndStale(); n > 0 {
		p.Warnings = append(p.Warnings, fmt.Sprintf("processes that a killed accelgate had left were ended: %d", n))
		e.WarnAll(p.Warnings[len(p.Warnings)-1:])
	}
	if b, err = e.probe(ctx, p, b, lanes); err != nil {
		return nil, err
	}
	if b != nil && b.guard != nil {
		b.guard.alone = len(lanes.Devices) <= 1
	}
	run := e.newRun(ctx, p, b)
	e.follow(ctx, p, run, ref)
	s, err := e.newSession(ctx, p, b, run.Revision, lanes)
	if err != nil {
		return nil, err
	}
	defer s.journal.Close()
	hidden := Secrets(s.secrets())
	for _, one := range p.Suites {
		if err := hidden.checkIDs(one.Cells); err != nil {
			return nil, err
		}
	}
	s.unchanged(ref)
	err = s.all(ctx, run, ref)
	if err == nil && b != nil {
		err = b.guard.end()
	}
	if why, ok := errors.AsType[notEvidence](err); ok {
		e.void(p, run, why.why)
		err = nil
	}
	if err = s.tearDown(ctx, run, err); err != nil {
		return nil, err
	}
	if !p.unjudged { // who measures so prints a table of its own
		e.Progress.Table(shown(p.Metrics))
	}
	run = redact(run, hidden.Hide)
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("the run is not valid: %w", err)
	}
	return run, SaveRun(p.OutPath("run.json"), run)
}

// prepareSides builds the code under test and opens the base. A base in a folder is opened first, so that what its
// build left is recorded before anything of the head runs. Where the head was built to list its cells, [Env.shield]
// has recorded the folder before that.
func (e *Env) prepareSides(ctx context.Context, p *Plan) (b *base, err error) {
	open := func() error {
		defer e.Progress.Begin("prepare the base")()
		b, err = e.openBase(ctx, p)
		return err
	}
	first := p.Options.abFolder() && p.whyUnbuilt == nil
	if first {
		if err := open(); err != nil {
			return nil, err
		}
	}
	if err = e.prepareCode(ctx, p); err != nil || p.nothingBuilt() {
		return b, err
	}
	if !first {
		return b, open()
	}
	if b != nil && b.guard != nil {
		err = b.guard.look("while the code under test was built", false)
	}
	return b, err
}

// abFolder reports whether the base is a checkout that the user has made.
func (o *Options) abFolder() bool {
	return o.AB != "" && o.AB != abOff && o.AB != abAuto && isDir(o.AB)
}

// newRun is a run of which nothing is measured yet. b is nil where there is no base.
func (e *Env) newRun(ctx context.Context, p *Plan, b *base) *bench.Run {
	run := &bench.Run{
		Schema: bench.RunSchema, Tool: Tool(), Revision: e.revision(ctx, p), Host: p.Host,
		Started: e.Now().
			UTC().
			Truncate(time.Second),
		Context: b.context(p.context()), Base: b.commit(), Metrics: p.Metrics, Unselected: p.Others, Warnings: p.Warnings,
		LeftOut: p.LeftOut,
	}
	if p.Options.Shard != "" {
		run.Shards = []string{p.Options.Shard}
	}
	return run
}

// all measures all cells, what looks slower again, and the machine itself before
// and after.
func (s *session) all(ctx context.Context, run, ref *bench.Run) error {
	defer s.Progress.Begin("look at the host")()
	if err := s.waitHealthy(ctx); err != nil {
		return err
	}
	if err := s.calibrate(ctx, run); err != nil {
		return err
	}
	if err := s.measure(ctx, run); err != nil {
		run.Results = s.finished
		s.plan.Partial = redact(run, Secrets(s.secrets()).Hide)
		return err
	}
	if err := s.remeasure(ctx, run, ref); err != nil {
		return err
	}
	if err := s.rest(); err != nil {
		return s.interrupted(err)
	}
	return s.recalibrate(ctx, run)
}

// prepareOut checks the folder for the run's files before anything is measured.
// The run of an earlier build stays until this one is complete, which replaces it.
func (p *Plan) prepareOut() error {
	run := p.OutPath("run.json")
	out := filepath.Dir(run)
	if info, err := os.Stat(out); err == nil && !info.IsDir() {
		return exit.Usagef("--out: %s is a file: name a folder", out)
	}
	if info, err := os.Lstat(run); err == nil && info.IsDir() {
		return exit.Usagef("--out: %s is a folder, and the run is to be written there: name another folder", run)
	}
	return hideOut(out)
}

// hideOut keeps accelgate's own folder out of git, without touching what the
// user's .gitignore says. Other folders are the user's to name.
func hideOut(out string) error {
	own := out
	for filepath.Base(own) != DefaultOut {
		parent := filepath.Dir(own)
		if parent == own {
			return nil
		}
		own = parent
	}
	if err := os.MkdirAll(own, 0o755); err != nil {
		return exit.Usagef("make the folder for the run: %w: choose another one with --out", err)
	}
	ignore := filepath.Join(own, ".gitignore")
	if _, err := os.Lstat(ignore); !errors.Is(err, os.ErrNotExist) {
		return nil
	}
	return atomicfile.Write(ignore, []byte("*\n"))
}

func (p *Plan) repeats(s Planned) int {
	if p.Options.Repeats > 0 {
		return p.Options.Repeats
	}
	return s.Plan.Repeats
}

// context records what else a reader must know to repeat the run.
func (p *Plan) context() map[string]string {
	var facts map[string]string
	add := func(key, value string) {
		if facts == nil {
			facts = map[string]string{}
		}
		facts[key] = value
	}
	if args := p.Options.EngineArgs(); len(args) > 0 {
		add(Demonstration, strings.Join(args, " "))
	}
	if p.Options.sameAs != "" {
		add(bench.SameAsBase, text.OneLine(p.Options.sameAs))
	}
	if len(p.unpaired) > 0 {
		add(bench.Unpaired, text.Line(strings.Join(p.unpaired, "; "), maxUnpaired))
	}
	if p.job != nil && p.job.ID != "" {
		add(bench.BatchJob, p.job.System+":"+p.job.ID)
	}
	return facts
}

// maxUnpaired is how much of the reasons why there are no pairs is kept, in runes.
const maxUnpaired = 300

// Demonstration is the context key of a run whose engine was made wrong
// or slow; such a run must never become a baseline.
const Demonstration = "demonstration"

// SaveRun writes a run document that has been validated.
func SaveRun(path string, run *bench.Run) error {
	data, err := json.MarshalIndent(run, "", " ")
	if err != nil {
		return fmt.Errorf("encode the run: %w", err)
	}
	return atomicfile.Write(path, append(data, '\n'))
}
