package record

import (
	"context"
	"errors"
	"fmt"
	"io"
	"path/filepath"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/atomicfile"
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/reference/remote"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/worker"
)

// Request is a run that is to be recorded.
type Request struct {
	measure.HostOptions
	measure.SelectOptions
	measure.MeasureOptions
	measure.PairOptions
	measure.PolicyOptions
	From   string // the path of a run.json; "" measures
	Reason string // why the numbers move
	Force  bool   // record although the gate failed
	Dry    bool   // print what would be recorded, and write nothing but the run
}

// Update records a run in its host's baseline.
type Update struct {
	Request
	All bool // rewrite numbers that moved within their noise, too
}

// options are those of measuring and judging the run.
func (r *Request) options() *measure.Options {
	return &measure.Options{HostOptions: r.HostOptions, SelectOptions: r.SelectOptions, MeasureOptions: r.MeasureOptions,
		PairOptions: r.PairOptions, PolicyOptions: r.PolicyOptions}
}

// Run measures or reads the run, judges it, and records it unless the gate failed. It
// returns the exit code.
func (u *Update) Run(ctx context.Context, e *measure.Env) (int, error) {
	if err := CheckReason("accelgate baseline update", u.Reason); err != nil {
		return 0, err
	}
	run, ref, accepted, err := u.judged(ctx, e, u.options())
	if err != nil || !accepted {
		return exit.GateFailed, err
	}
	e.WarnUnhealthy(run, "measure")
	e.WarnAll(u.ofAnotherCommit(ctx, e, run))
	if file := ref.Typed.File; u.Reference(file).FromHistory() {
		return exit.Passed, u.accept(e, file, run)
	}
	write, done := Record, "recorded"
	if u.Dry {
		write, done = preview, "would be recorded"
	}
	recorded, err := write(e, ref, run, u.Reason, u.All)
	if err != nil {
		return 0, err
	}
	if n := recorded.still(); n > 0 {
		fmt.Fprintf(e.Stdout, "%s moved within the noise or less than min_move and stay as they were; --within-noise rewrites them too\n",
			text.Plural(n, "number"))
	}
	if err := recorded.printSum(e.Stdout, run, ref.Path, done); err != nil {
		return 0, err
	}
	if u.Dry {
		if t := ref.Typed; t != nil && u.Reference(t.File).Remote() && t.File.Baselines.Publish != nil {
			fmt.Fprintf(e.Stdout, "would be published by: %s\n", remote.Line(t.File.Baselines.Publish, filepath.Base(ref.Path), ref.Path))
		}
		return exit.Passed, printChanges(e.Stdout, recorded.Changes)
	}
	if file := ref.Typed; file != nil && u.Reference(file.File).Remote() && file.File.Baselines.Publish != nil {
		if err := Publish(ctx, e, ref); err != nil {
			return 0, err
		}
		fmt.Fprintf(e.Stdout, "%s: published\n", text.OneLine(ref.Name()))
		return exit.Passed, judge.Next(e.Stdout, "judge", ref.Typed.Commands(e.Getenv, run).Run)
	}
	if ref.From != nil || ref.Shown != "" {
		return exit.Passed, judge.Next(e.Stdout, "push it as "+text.OneLine(ref.Name())+", and judge",
			ref.Typed.Commands(e.Getenv, run).Run)
	}
	err = judge.Next(e.Stdout, "review it, commit it, and judge", judge.Reviewed(ref.Path), ref.Typed.Commands(e.Getenv, run).Run)
	return exit.Passed, err
}

// Publish writes the baseline that was recorded to the store of the configuration. Updates of one checkout take turns.
func Publish(ctx context.Context, e *measure.Env, ref judge.Reference) error {
	name := filepath.Base(ref.Path)
	hold, err := atomicfile.HoldFolder(filepath.Dir(ref.Path))
	switch {
	case errors.Is(err, atomicfile.ErrHeld):
		return fmt.Errorf("%s is not published: %w: wait for it, and type the command again", ref.Name(), err)
	case err != nil:
		return fmt.Errorf("lock %s: %w: make the folder writable", filepath.Dir(ref.Path), err)
	}
	defer hold.Release()
	was := ""
	if ref.From != nil {
		was = ref.From.Digest
	}
	return e.Store(ref.Typed.File).Write(ctx, name, ref.Path, was)
}

// accept adds a run to the history that stands in for a baseline, as the first one of a new level.
func (u *Update) accept(e *measure.Env, file *config.File, run *bench.Run) error {
	if err := Recordable(run, e.Now()); err != nil {
		return err
	}
	r := recording{Env: e, path: func(label string) string { return u.HistoryPath(file, label) }, files: map[string]*history.File{},
		keep: measure.KeepRuns(file), reference: history.ForReference{Needed: true, Accepted: u.Reason}}
	if err := r.add(run); err != nil {
		return err
	}
	if u.Dry {
		_, err := fmt.Fprintln(e.Stdout, "nothing was written: leave out --dry-run to record it")
		return err
	}
	return r.save()
}

// printChanges prints the numbers that a dry run would write.
func printChanges(w io.Writer, changes []baseline.Change) error {
	for i := range changes {
		if of := &changes[i]; of.Kind != baseline.Still {
			if _, err := fmt.Fprintf(w, "%s  %s  %s\n", text.OneLine(of.CaseID), text.OneLine(of.Metric), moved(of)); err != nil {
				return err
			}
		}
	}
	return nil
}

// ofAnotherCommit warns that the run to be recorded is of another commit than the
// one that is checked out. Where either is unknown there is no warning.
func (u *Update) ofAnotherCommit(ctx context.Context, e *measure.Env, run *bench.Run) []string {
	if u.From == "" || run.Revision == "" {
		return nil
	}
	response, err := (&worker.Isolated{Environ: e.Environ}).Do(ctx, worker.Request{
		Args: []string{"git", "rev-parse", "HEAD"}, Dir: filepath.Dir(u.Config), Timeout: 10 * time.Second})
	head := strings.TrimSpace(string(response.Stdout))
	if err != nil || !response.OK() || head == "" || strings.HasPrefix(head, run.Revision) {
		return nil
	}
	return []string{
		fmt.Sprintf(
			"the run in %s is of commit %.12s, and %.12s is checked out: its numbers may not be those of this code; measure again, or record it on purpose",
			text.OneLine(u.From), text.OneLine(run.Revision), head),
	}
}

// judged gets a run and judges it. One that the gate failed is shown and not
// accepted, unless that was forced.
func (r *Request) judged(ctx context.Context, e *measure.Env, o *measure.Options) (
	run *bench.Run, ref judge.Reference, accepted bool, err error,
) {
	run, ref, policy, err := r.run(ctx, e, o)
	if err != nil {
		return nil, ref, false, err
	}
	if err := Recordable(run, e.Now()); err != nil {
		return nil, ref, false, err
	}
	policy = policy.Recording()
	j := judge.Judge(e, []*bench.Run{run}, []judge.Reference{ref}, policy, report.Input{Config: r.Config, Revision: run.Revision})
	if j.Decision.Status != gate.StatusFailed { // what only warns must not become the measure by itself
		fixed := policy
		fixed.Method = gate.MethodThreshold
		j = judge.Judge(e, []*bench.Run{run}, []judge.Reference{ref}, fixed, report.Input{Config: r.Config, Revision: run.Revision})
	}
	if r.Force || j.Decision.Status != gate.StatusFailed {
		return run, ref, true, nil
	}
	fmt.Fprintf(e.Stderr, "accelgate: not recorded, because the gate failed; fix it, or add --force to record what passed\n")
	return run, ref, false, judge.Render(e, e.Stdout, "terminal", j)
}

// run gets the run: measured now, or from a file.
func (r *Request) run(ctx context.Context, e *measure.Env, o *measure.Options) (*bench.Run, judge.Reference, gate.Policy, error) {
	if r.From != "" {
		return r.read(ctx, e, o)
	}
	s, err := e.OpenPlan(ctx, o)
	if err != nil {
		return nil, judge.Reference{}, gate.Policy{}, err
	}
	defer s.Close()
	p := s.Plan
	ref, err := judge.RecordedFor(ctx, e, p.Options, p.File, p.Host)
	if err != nil {
		return nil, judge.Reference{}, p.Policy, err
	}
	run, err := s.Measure(ctx, nil)
	return run, ref, p.Policy, err
}

// read gets the run and its host's baseline from files.
func (r *Request) read(ctx context.Context, e *measure.Env, o *measure.Options) (*bench.Run, judge.Reference, gate.Policy, error) {
	file, policy, err := e.Load(o)
	if err != nil {
		return nil, judge.Reference{}, policy, err
	}
	paths, err := measure.RunFiles([]string{r.From})
	if err != nil {
		return nil, judge.Reference{}, policy, err
	}
	runs, err := judge.ReadHosts(ctx, e, o, file, paths)
	switch {
	case err != nil:
		return nil, judge.Reference{}, policy, err
	case len(runs) > 1:
		return nil, judge.Reference{}, policy, exit.Usagef(
			"--from: below %s are runs of %d hosts: name the folder of one, and then those of the others", r.From, len(runs))
	}
	ref, err := judge.RecordedFor(ctx, e, o, file, runs[0].Host)
	return runs[0], ref, policy, err
}
