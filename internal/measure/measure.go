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
	"slices"
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
func (c *Config) OutPath(name string) string { return c.Options.OutPath(c.File, name) }

// Measure measures the plan and writes run.json before anything else can fail. The
// reference, nil where there is none, tells which cells look slower and are
// measured again before anybody is alarmed.
func (s *Session) Measure(ctx context.Context, ref *bench.Run) (_ *bench.Run, err error) {
	if err := s.Plan.prepareOut(); err != nil {
		return nil, err
	}
	s.Progress.Forget()
	s.expect()
	if _, err := s.watches(); err != nil {
		return nil, err
	}
	if s.void != "" {
		return s.voided(ctx, ref, notEvidence{s.void})
	}
	b, err := s.prepareSides(ctx)
	defer func() {
		s.hold.Release()
		s.unshield()
		if b != nil {
			err = errors.Join(err, b.discard(ctx))
		}
	}()
	if err != nil {
		return s.voided(ctx, ref, err)
	}
	if s.nothingBuilt() {
		s.WarnAll(s.warnings)
		return s.unmeasured(ctx, ref)
	}
	s.since(ctx, ref)
	s.WarnAll(s.warnings)
	end := s.Progress.Begin("wait for the devices")
	lanes, err := s.Lease(ctx)
	end()
	if err != nil {
		return nil, err
	}
	defer lanes.Release()
	if n := worker.EndStale(); n > 0 {
		s.warnings = append(s.warnings, fmt.Sprintf("processes that a killed accelgate had left were ended: %d", n))
		s.WarnAll(s.warnings[len(s.warnings)-1:])
	}
	if b, err = s.probe(ctx, b, lanes); err != nil {
		return nil, err
	}
	if b != nil {
		b.guard.alone = len(lanes.Devices) <= 1
	}
	run := s.newRun(ctx, b, ref)
	s.follow(ctx, run, ref)
	m, err := s.begin(ctx, b, run.Revision, lanes)
	if err != nil {
		return nil, err
	}
	defer m.journal.Close()
	hidden := Secrets(m.secrets())
	for _, one := range s.Plan.Suites {
		if err := hidden.checkIDs(one.Cells); err != nil {
			return nil, err
		}
	}
	m.unchanged(ref)
	err = m.all(ctx, run, ref)
	if err == nil && b != nil {
		err = b.guard.end()
	}
	if why, ok := errors.AsType[notEvidence](err); ok {
		s.declareVoid(run, why.why)
		err = nil
	}
	if err = m.tearDown(ctx, run, err); err != nil {
		return nil, err
	}
	if !s.Plan.unjudged { // who measures so prints a table of its own
		s.Progress.Table(shown(s.Plan.Metrics))
	}
	run = redact(run, hidden.Hide)
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("the run is not valid: %w", err)
	}
	return run, SaveRun(s.Plan.OutPath("run.json"), run)
}

// prepareSides builds the code under test and opens the base. A base in a folder is opened first, so that what its
// build left is recorded before anything of the head runs. Where the head was built to list its cells, [workplace.shield]
// has recorded the folder before that.
func (s *Session) prepareSides(ctx context.Context) (b *base, err error) {
	open := func() error {
		defer s.Progress.Begin("prepare the base")()
		b, err = s.openBase(ctx)
		return err
	}
	first := s.Plan.Options.abFolder() && !s.isBuilt
	if first {
		if err := open(); err != nil {
			return nil, err
		}
	}
	if err = s.prepareCode(ctx); err != nil || s.nothingBuilt() {
		return b, err
	}
	if !first {
		return b, open()
	}
	if b != nil {
		err = b.guard.look("while the code under test was built", false)
	}
	return b, err
}

// abFolder reports whether the base is a checkout that the user has made.
func (o *Options) abFolder() bool {
	return o.AB != "" && o.AB != abOff && o.AB != abAuto && isDir(o.AB)
}

// newRun is a run of which nothing is measured yet. b is nil where there is no base.
func (s *Session) newRun(ctx context.Context, b *base, ref *bench.Run) *bench.Run {
	run := &bench.Run{
		Schema: bench.RunSchema, Tool: Tool(), Revision: s.revision(ctx), Host: s.Plan.Host,
		Started: s.Now().UTC().Truncate(time.Second), Context: s.context(), Metrics: s.Plan.Metrics,
		Unselected: s.Plan.unselected(ref), Warnings: slices.Clip(s.warnings), LeftOut: slices.Clip(s.Plan.LeftOut),
	}
	if b != nil {
		b.describe(run)
	}
	if s.Plan.Options.Shard != "" {
		run.Shards = []string{s.Plan.Options.Shard}
	}
	return run
}

// all measures all cells, what looks slower again, and the machine itself before
// and after.
func (s *measuring) all(ctx context.Context, run, ref *bench.Run) error {
	defer s.Progress.Begin("look at the host")()
	if err := s.waitHealthy(ctx); err != nil {
		return err
	}
	if err := s.calibrate(ctx, run); err != nil {
		return err
	}
	if err := s.measure(ctx, run); err != nil {
		run.Results = s.finished
		s.Partial = redact(run, Secrets(s.secrets()).Hide)
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

func (p *Plan) repeats(one *Planned) int {
	if p.Options.Repeats > 0 {
		return p.Options.Repeats
	}
	return one.Plan.Repeats
}

// context records what else a reader must know to repeat the run.
func (s *Session) context() map[string]string {
	var facts map[string]string
	add := func(key, value string) {
		if facts == nil {
			facts = map[string]string{}
		}
		facts[key] = value
	}
	if profile := s.Plan.Options.Profile; profile != "" {
		add(bench.Profile, profile)
	}
	if args := s.Plan.Options.EngineArgs(); len(args) > 0 {
		add(Demonstration, strings.Join(args, " "))
	}
	if s.sameAs != "" {
		add(bench.SameAsBase, text.OneLine(s.sameAs))
	}
	if len(s.unpaired) > 0 {
		add(bench.Unpaired, text.Line(strings.Join(s.unpaired, "; "), maxUnpaired))
	}
	if s.Plan.job != nil && s.Plan.job.ID != "" {
		add(bench.BatchJob, s.Plan.job.System+":"+s.Plan.job.ID)
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
	return atomicfile.Elsewhere(atomicfile.Write(path, append(data, '\n')), "--out")
}
