package judge

import (
	"context"
	"fmt"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference"
	"github.com/accelgate/accelgate/internal/reference/baseline"
)

// Baseline is a baseline of a configuration.
type Baseline struct {
	Label  string // by the name of its file
	Path   string // or what stands for it in messages
	File   *baseline.File
	Err    error // why it cannot be read; File is then nil
	OfRuns bool  // the last runs of a history stand in for a file
}

// Baselines reads all baselines of a configuration, sorted by label: the files of its folder, or of
// another repository or branch, or what the history of each host stands in for.
func Baselines(ctx context.Context, e *measure.Env, o *measure.Options, file *config.File) ([]Baseline, error) {
	switch {
	case o.Reference(file).FromHistory():
		return ofHistories(o, file)
	case o.Reference(file).Remote():
		return ofRepository(ctx, e, o, file)
	}
	paths, err := filepath.Glob(baseline.Path(o.Reference(file).Folder(), "*"))
	found := []Baseline{}
	for _, path := range paths {
		label, _ := baseline.Label(path)
		b := Baseline{Label: label, Path: path}
		b.File, b.Err = baseline.Load(path)
		found = append(found, b)
	}
	return found, err
}

// BaselinesIn is where [Baselines] looks, for messages.
func BaselinesIn(o *measure.Options, file *config.File) string {
	switch {
	case o.Reference(file).FromHistory():
		return filepath.Dir(o.HistoryPath(file, "x"))
	case o.Reference(file).Remote():
		return file.Baselines.In(o.Reference(file).RemoteFolder())
	}
	return o.Reference(file).Folder()
}

func ofRepository(ctx context.Context, e *measure.Env, o *measure.Options, file *config.File) (found []Baseline, err error) {
	files, err := e.FetchBaselines(ctx, o, file)
	for name, read := range files {
		label, _ := baseline.Label(name)
		b := Baseline{Label: label, Path: file.Baselines.In(reference.Baselines{File: file}.Path(label)), Err: read.Err}
		if b.Err == nil {
			b.File, b.Err = baseline.Parse(b.Path, read.Data)
		}
		found = append(found, b)
	}
	slices.SortFunc(found, func(a, b Baseline) int { return strings.Compare(a.Label, b.Label) })
	return found, err
}

func ofHistories(o *measure.Options, file *config.File) (found []Baseline, err error) {
	labels, err := o.Histories(file)
	for _, label := range labels {
		ref, err := lastRuns(o, file, label)
		if err != nil || ref.File != nil {
			found = append(found, Baseline{Label: label, Path: ref.Path, File: ref.File, Err: err, OfRuns: true})
		}
	}
	return found, err
}

// Recorded reads the baseline of one host, wherever the configuration keeps it. The error is [fs.ErrNotExist]
// with a next step if there is no baseline.
func Recorded(ctx context.Context, e *measure.Env, o *measure.HostOptions) (Baseline, error) {
	s, err := e.OpenPlan(ctx, &measure.Options{HostOptions: *o, MeasureOptions: measure.MeasureOptions{NoFetch: true, Unlisted: true}})
	if err != nil {
		return Baseline{}, err
	}
	defer s.Close()
	p := s.Plan
	ref, err := RecordedFor(ctx, e, p.Options, p.File, p.Host)
	switch {
	case err != nil:
		return Baseline{}, err
	case ref.File == nil:
		return Baseline{}, MissingBaseline(fmt.Errorf("%s: %w", ref.Name(), fs.ErrNotExist))
	}
	return Baseline{Label: p.Host.Label, Path: ref.Name(), File: ref.File, OfRuns: o.Reference(p.File).FromHistory()}, nil
}
