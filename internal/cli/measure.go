package cli

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
	"github.com/accelgate/accelgate/internal/worker"
)

// outPath is the path of a file that a run leaves.
func (o *options) outPath(file *config.File, name string) string {
	out := o.out
	if out == "" {
		out = file.Resolve(defaultOut)
	}
	return filepath.Join(out, name)
}

func (p *plan) outPath(name string) string { return p.options.outPath(p.file, name) }

// measure runs the plan and writes run.json before anything else can fail. The
// reference, nil where there is none, tells which cells look slower and are
// measured again before anybody is alarmed.
func (e *Env) measure(ctx context.Context, p *plan, ref *bench.Run) (_ *bench.Run, err error) {
	if len(p.options.durations) > 0 && p.options.shard == "" {
		return nil, exit.Usagef("--durations balances shards: add --shard k/n, or leave it out")
	}
	if err := p.prepareOut(); err != nil {
		return nil, err
	}
	if _, err := e.watches(p); err != nil {
		return nil, err
	}
	b, err := e.openBase(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.discard(ctx)) }()
	e.since(ctx, p, ref)
	e.warnAll(p.warnings)
	lanes, err := e.lease(ctx, p)
	if err != nil {
		return nil, err
	}
	defer lanes.release()
	if n := worker.EndStale(); n > 0 {
		p.warnings = append(p.warnings, fmt.Sprintf("processes that a killed accelgate had left were ended: %d", n))
		e.warnAll(p.warnings[len(p.warnings)-1:])
	}
	if b, err = e.probe(ctx, p, b, lanes.devices); err != nil {
		return nil, err
	}
	run := e.newRun(ctx, p, b)
	s, err := e.newSession(ctx, p, b, run.Revision, lanes.devices)
	if err != nil {
		return nil, err
	}
	defer s.journal.Close()
	hidden := secretList(s.secrets())
	for _, one := range p.suites {
		if err := hidden.checkIDs(one.cells); err != nil {
			return nil, err
		}
	}
	s.unchanged(ref)
	if err := s.all(ctx, run, ref); err != nil {
		return nil, err
	}
	run = redact(run, hidden.hide)
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("the run is not valid: %w", err)
	}
	return run, saveRun(p.outPath("run.json"), run)
}

// newRun is a run of which nothing is measured yet. b is nil where there is no base.
func (e *Env) newRun(ctx context.Context, p *plan, b *base) *bench.Run {
	run := &bench.Run{
		Schema: bench.RunSchema, Tool: tool(), Revision: e.revision(ctx, p), Host: p.host,
		Started: e.Now().UTC().Truncate(time.Second), Context: b.context(p.context()), Base: b.commit(), Metrics: p.metrics, Unselected: p.others, Warnings: p.warnings,
		LeftOut: p.leftOut,
	}
	if p.options.shard != "" {
		run.Shards = []string{p.options.shard}
	}
	return run
}

// all measures all cells, what looks slower again, and the machine itself before
// and after.
func (s *session) all(ctx context.Context, run, ref *bench.Run) error {
	if err := s.waitHealthy(ctx); err != nil {
		return err
	}
	if err := s.calibrate(ctx, run); err != nil {
		return err
	}
	if err := s.measure(ctx, run); err != nil {
		run.Results = s.finished
		s.plan.partial = redact(run, secretList(s.secrets()).hide)
		return err
	}
	if err := s.again(ctx, run, ref); err != nil {
		return err
	}
	if err := s.rest(); err != nil {
		return s.interrupted(err)
	}
	return s.recalibrate(ctx, run)
}

// prepareOut checks the folder for the run's files before anything is measured.
// The run of an earlier build stays until this one is complete, which replaces it.
func (p *plan) prepareOut() error {
	run := p.outPath("run.json")
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
	for filepath.Base(own) != defaultOut {
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

func (p *plan) repeats(s planned) int {
	if p.options.repeats > 0 {
		return p.options.repeats
	}
	return s.suite.Repeats()
}

// context records what else a reader must know to repeat the run.
func (p *plan) context() map[string]string {
	args := p.options.engineArgs()
	if len(args) == 0 {
		return nil
	}
	return map[string]string{demonstration: strings.Join(args, " ")}
}

// demonstration is the context key of a run whose engine was told to be wrong
// or slow; such a run must never become a baseline.
const demonstration = "demonstration"

// saveRun writes a run document that has been validated.
func saveRun(path string, run *bench.Run) error {
	data, err := json.MarshalIndent(run, "", " ")
	if err != nil {
		return fmt.Errorf("encode the run: %w", err)
	}
	return atomicfile.Write(path, append(data, '\n'))
}
