package record

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/gate/policy"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// Histories adds runs to the histories of their hosts.
type Histories struct {
	Failed bool // keep which cells the gate fails, in place of numbers
	Dry    bool // write nothing
}

// Run prints what it keeps and leaves out. Nothing is written unless all runs can be read.
func (h *Histories) Run(ctx context.Context, e *measure.Env, o *measure.HostOptions, arguments []string) error {
	runs, err := recordableRuns(arguments, e.Now())
	if err != nil {
		return err
	}
	r := recording{Env: e, path: func(label string) string { return history.Path(o.History, label) }, files: map[string]*history.File{}}
	all := &measure.Options{HostOptions: *o}
	file, _, err := e.Load(all)
	switch {
	case err == nil:
		r.keep, r.reference = measure.KeepRuns(file), history.ForReference{Needed: o.Reference(file).FromHistory()}
		r.path = func(label string) string { return o.HistoryPath(file, label) }
	case o.History == "" || !errors.Is(err, fs.ErrNotExist):
		return err
	}
	if h.Failed {
		if err != nil {
			return err
		}
		if err := r.fail(ctx, all, file, runs); err != nil || h.Dry {
			return err
		}
		return r.save()
	}
	kept := 0
	for _, run := range runs {
		switch err := r.add(run); {
		case err == nil:
			kept++
		case !errors.Is(err, history.ErrNothing):
			return err
		}
	}
	if kept == 0 {
		return fmt.Errorf("%w, so nothing was recorded: see 'accelgate report %s'", history.ErrNothing, arguments[0])
	}
	if h.Dry {
		_, err := fmt.Fprintln(e.Stdout, "nothing was written: leave out --dry-run to record it")
		return err
	}
	return r.save()
}

// recording is one call of History.
type recording struct {
	*measure.Env
	path   func(label string) string
	keep   int                      // runs of a host; the default if 0
	files  map[string]*history.File // by host label
	labels []string                 // in the order of the runs

	reference history.ForReference
}

// fail notes in the histories what the gate fails in runs.
func (r *recording) fail(ctx context.Context, o *measure.Options, file *config.File, runs []*bench.Run) error {
	rules, err := r.Policy(o, file)
	if err == nil {
		err = judge.Accept(r.Env, &rules, file, policy.Trigger{Event: policy.Desk})
	}
	if err != nil {
		return err
	}
	rules.NextRun = true // nothing is excused because the branch fails it
	for _, run := range runs {
		ref, err := judge.ReferenceFor(ctx, r.Env, o, file, run.Host)
		if err != nil {
			return err
		}
		if err := r.load(run.Host.Label); err != nil {
			return err
		}
		failed := judge.Judge(r.Env, []*bench.Run{run}, []judge.Reference{ref}, rules, report.Input{}).Failures[0]
		name := measure.ShortRevision(run.Revision) + " on " + text.OneLine(run.Host.Label)
		switch {
		case len(failed) == 0:
			fmt.Fprintf(r.Stdout, "%s: no cell fails: record it without --failed\n", name)
		case !r.files[run.Host.Label].Fail(run, failed):
			fmt.Fprintf(r.Stdout, "%s: a newer run is there already\n", name)
		default:
			fmt.Fprintf(r.Stdout, "%s: %s noted as failing\n", name, text.Plural(len(failed), "cell"))
		}
	}
	return nil
}

// add adds a run to its host's history, and says what became of it.
func (r *recording) add(run *bench.Run) error {
	label := run.Host.Label
	if err := r.load(label); err != nil {
		return err
	}
	added, err := r.files[label].Add(run)
	if err == nil || errors.Is(err, history.ErrNothing) {
		r.printAdded(run, added)
	}
	return err
}

// load reads the history of a host once.
func (r *recording) load(label string) error {
	if r.files[label] == nil {
		file, err := history.Load(r.path(label))
		if errors.Is(err, fs.ErrNotExist) {
			file, err = &history.File{}, nil
		}
		if err != nil {
			return err
		}
		file.Keep, file.ForReference = r.keep, r.reference
		r.files[label] = file
		r.labels = append(r.labels, label)
	}
	return nil
}

func (r *recording) save() error {
	for _, label := range r.labels {
		if f := r.files[label]; !f.Empty() {
			if err := f.Save(r.path(label)); err != nil {
				return err
			}
			fmt.Fprintf(r.Stdout, "%s: %s kept\n", r.path(label), text.Plural(f.Len(), "run"))
		}
	}
	var paths []string
	for _, label := range r.labels {
		if !r.files[label].Empty() {
			paths = append(paths, text.ShellWord(r.path(label)))
		}
	}
	return judge.Next(r.Stdout, "commit it beside the baselines, and look for changes", "accelgate history "+strings.Join(paths, " "))
}

// printAdded prints what became of a run.
func (r *recording) printAdded(run *bench.Run, added history.Added) {
	name := measure.ShortRevision(run.Revision) + " on " + text.OneLine(run.Host.Label)
	if added.Known && r.reference.Accepted != "" {
		fmt.Fprintf(r.Stdout, "%s: is there already, and begins a new level now\n", name)
		return
	}
	if added.Known {
		fmt.Fprintf(r.Stdout, "%s: is there already\n", name)
		return
	}
	marked := ""
	if added.Unhealthy > 0 {
		marked = fmt.Sprintf(" (%d of an unhealthy host: its noise counts, its level does not)", added.Unhealthy)
	}
	fmt.Fprintf(r.Stdout, "%s: %s kept%s, %d left out\n", name, text.Plural(added.Cells, "cell"), marked, len(added.Left))
	const maximum = 20
	for _, l := range added.Left[:min(len(added.Left), maximum)] {
		fmt.Fprintf(r.Stderr, "accelgate: left out: %s: %s\n", text.OneLine(l.Cell), text.OneLine(l.Reason))
	}
	if rest := len(added.Left) - maximum; rest > 0 {
		fmt.Fprintf(r.Stderr, "accelgate: left out: and %d more\n", rest)
	}
}

// recordableRuns reads runs that may be kept. Shards of one commit and host are one
// run.
func recordableRuns(arguments []string, now time.Time) (runs []*bench.Run, err error) {
	paths, err := measure.RunFiles(arguments)
	if err != nil {
		return nil, err
	}
	type part struct{ label, revision string }
	shards := map[part][]*bench.Run{}
	var parts []part
	for _, path := range paths {
		run, err := measure.ReadRun(path)
		if err == nil {
			err = Recordable(run, now)
		}
		if err != nil {
			return nil, err
		}
		if len(run.Shards) == 0 {
			runs = append(runs, run)
			continue
		}
		of := part{run.Host.Label, run.Revision}
		if shards[of] == nil {
			parts = append(parts, of)
		}
		shards[of] = append(shards[of], run)
	}
	for _, of := range parts {
		run, err := bench.Merge(shards[of])
		if err != nil {
			return nil, fmt.Errorf("the shards of %s on %s do not make one run: %w", measure.ShortRevision(of.revision),
				text.OneLine(of.label), err)
		}
		runs = append(runs, run)
	}
	return runs, nil
}
