package cli

import (
	"bytes"
	"context"
	"crypto/rand"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"time"
	"unicode"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/runner"
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
func (c *Command) measure(ctx context.Context, p *plan, ref *bench.Run) (_ *bench.Run, err error) {
	if len(p.options.durations) > 0 && p.options.shard == "" {
		return nil, usagef("--durations balances shards: add --shard k/n, or leave it out")
	}
	if err := p.prepareOut(); err != nil {
		return nil, err
	}
	if _, err := c.watches(p); err != nil {
		return nil, err
	}
	b, err := c.openBase(ctx, p)
	if err != nil {
		return nil, err
	}
	defer func() { err = errors.Join(err, b.discard(ctx)) }()
	c.since(ctx, p, ref)
	c.warnAll(p.warnings)
	lanes, err := c.lease(ctx, p)
	if err != nil {
		return nil, err
	}
	defer lanes.release()
	if n := worker.EndStale(); n > 0 {
		p.warnings = append(p.warnings, fmt.Sprintf("processes that a killed accelgate had left were ended: %d", n))
		c.warnAll(p.warnings[len(p.warnings)-1:])
	}
	if b, err = c.probe(ctx, p, b, lanes.devices); err != nil {
		return nil, err
	}
	run := c.newRun(ctx, p, b)
	c.follow(ctx, p, run, ref)
	s, err := c.newSession(ctx, p, b, run.Revision, lanes.devices)
	if err != nil {
		return nil, err
	}
	defer s.journal.Close()
	hidden := redacting{secrets: s.secrets()}
	for _, one := range p.suites {
		if err := hidden.secretID(one.cells); err != nil {
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
func (c *Command) newRun(ctx context.Context, p *plan, b *base) *bench.Run {
	run := &bench.Run{
		Schema: bench.RunSchema, Tool: tool(), Revision: c.revision(ctx, p), Host: p.host,
		Started: c.Now().UTC().Truncate(time.Second), Context: b.context(p.context()), Base: b.commit(), Metrics: p.metrics, Unselected: p.others, Warnings: p.warnings,
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
		s.plan.partial = redact(run, redacting{secrets: s.secrets()}.hide)
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
		return usagef("--out: %s is a file: name a folder", out)
	}
	if info, err := os.Lstat(run); err == nil && info.IsDir() {
		return usagef("--out: %s is a folder, and the run is to be written there: name another folder", run)
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
		return usagef("make the folder for the run: %w: choose another one with --out", err)
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

// progress prints a line per measurement, with the metrics that are gated.
func progress(w io.Writer, metrics []bench.Metric) func(runner.Event) {
	shown := map[string]bool{}
	for _, m := range metrics {
		shown[m.Name] = !m.Informational
	}
	return func(e runner.Event) {
		if e.Skipped {
			return
		}
		r, word := &e.Result, string(e.Result.Outcome)
		if e.Reused {
			word = "kept"
		}
		fmt.Fprintf(w, "[%d/%d %d/%d] %-9s %s%s\n", e.Round, e.Rounds, e.Index, e.Of, word, r.Cell.ID(), numbers(r, shown))
	}
}

// numbers writes a result's values that are to be shown, or why it has none.
func numbers(r *bench.Result, shown map[string]bool) string {
	if r.Outcome != bench.Passed {
		return ": " + oneLine(r.Reason)
	}
	var b strings.Builder
	for _, s := range r.Samples {
		if !shown[s.Metric] {
			continue
		}
		fmt.Fprintf(&b, "  %s %.4g", s.Metric, s.Values[len(s.Values)-1])
	}
	return b.String()
}

// oneLine makes untrusted text fit to print: one line of printable characters,
// which controls, escapes and marks that reverse the order of text are not.
func oneLine(s string) string {
	s = printable(s)
	const most = 300
	if runes := []rune(s); len(runes) > most {
		return string(runes[:most]) + "..."
	}
	return s
}

func printable(s string) string {
	return strings.Map(func(r rune) rune {
		if !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "?"))
}

// revision names the commit under test: flag over the runner's word over git.
func (c *Command) revision(ctx context.Context, p *plan) string {
	if p.options.revision != "" {
		return p.options.revision
	}
	if sha := c.Getenv("GITHUB_SHA"); sha != "" {
		return sha
	}
	return c.checkedOut(ctx, p)
}

// checkedOut names the commit of the plan's folder by what git says.
func (c *Command) checkedOut(ctx context.Context, p *plan) string {
	response, err := p.worker.Do(ctx, worker.Request{Args: []string{"git", "rev-parse", "HEAD"}, Dir: p.file.Dir, Timeout: 10 * time.Second})
	if err != nil || !response.OK() {
		return "" // not a checkout, or no git: the report says "unknown"
	}
	return strings.TrimSpace(string(response.Stdout))
}

// changes is a digest of what differs in tracked files from the commit under
// test, so that a resumed run keeps nothing of other sources; "" where there is
// no checkout. Where git cannot tell, it is never the same twice.
func (c *Command) changes(ctx context.Context, p *plan) string {
	response, err := p.worker.Do(ctx, worker.Request{Args: []string{"git", "diff", "--no-ext-diff", "--no-textconv", "--submodule=diff", "HEAD"},
		Dir: p.file.Dir, Timeout: time.Minute})
	missing := errors.Is(response.StartErr, worker.ErrNotFound) || bytes.Contains(bytes.ToLower(response.Stderr), []byte("not a git repository"))
	switch {
	case err == nil && response.OK() && !response.StdoutTruncated:
		return fmt.Sprintf("%x", sha256.Sum256(response.Stdout))
	case missing:
		return ""
	}
	c.warnAll([]string{"git cannot tell what changed (" + oneLine(response.Reason()+" "+response.Log) + "), so nothing of this run can be resumed: see what 'git diff HEAD' says here"})
	return rand.Text()
}
