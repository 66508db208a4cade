package record

import (
	"errors"
	"fmt"
	"io/fs"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/text"
)

// History adds runs to the histories of their hosts, and prints what it keeps and leaves out. Nothing is written
// unless all runs can be read. dry writes nothing.
func History(e *measure.Env, o *measure.HostOptions, arguments []string, dry bool) error {
	runs, err := genuineRuns(arguments, e.Now())
	if err != nil {
		return err
	}
	r := recording{Env: e, path: func(label string) string { return history.Path(o.History, label) }, files: map[string]*history.File{}}
	file, _, err := e.Load(&measure.Options{HostOptions: *o})
	switch {
	case err == nil:
		r.keep, r.reference = measure.KeepRuns(file), history.ForReference{Needed: o.Reference(file).FromHistory()}
		r.path = func(label string) string { return o.HistoryPath(file, label) }
	case o.History == "" || !errors.Is(err, fs.ErrNotExist):
		return err
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
	if dry {
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

// add adds a run to its host's history, and says what became of it.
func (r *recording) add(run *bench.Run) error {
	label := run.Host.Label
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
	added, err := r.files[label].Add(run)
	if err == nil || errors.Is(err, history.ErrNothing) {
		r.printAdded(run, added)
	}
	return err
}

func (r *recording) save() error {
	for _, label := range r.labels {
		if f := r.files[label]; f.Len() > 0 {
			if err := f.Save(r.path(label)); err != nil {
				return err
			}
			fmt.Fprintf(r.Stdout, "%s: %s kept\n", r.path(label), text.Plural(f.Len(), "run"))
		}
	}
	var paths []string
	for _, label := range r.labels {
		if r.files[label].Len() > 0 {
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
	const most = 20
	for _, l := range added.Left[:min(len(added.Left), most)] {
		fmt.Fprintf(r.Stderr, "accelgate: left out: %s: %s\n", text.OneLine(l.Cell), text.OneLine(l.Reason))
	}
	if rest := len(added.Left) - most; rest > 0 {
		fmt.Fprintf(r.Stderr, "accelgate: left out: and %d more\n", rest)
	}
}

// genuineRuns reads runs that may be kept. Shards of one commit and host are one
// run.
func genuineRuns(arguments []string, now time.Time) (runs []*bench.Run, err error) {
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
			err = Genuine(run, now)
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
			return nil, fmt.Errorf(
				"the shards of %s on %s do not make one run: %w",
				measure.ShortRevision(of.revision),
				text.OneLine(of.label),
				err,
			)
		}
		runs = append(runs, run)
	}
	return runs, nil
}
