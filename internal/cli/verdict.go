package cli

import (
	"errors"
	"fmt"
	"io/fs"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// reference is a host's baseline with the runs that were kept of the host, read
// before anything is measured: a corrupt one must not cost an hour to find.
type reference struct {
	path  string
	file  *baseline.File // nil where there is none
	kept  *history.File  // nil where there are none
	typed *typing        // what commands about the host repeat; nil where there is no configuration
}

// run is the baseline as a run, with its history; nil where there is none.
func (r reference) run() *bench.Run {
	if r.file == nil {
		return nil
	}
	run := r.file.Run()
	if r.kept != nil {
		r.kept.Attach(run)
	}
	return run
}

// reference reads the baseline of a host. A missing one is not an error, unless
// --baseline named it; an unreadable one always is.
func referenceFor(o *measure.Options, file *config.File, label string) (reference, error) {
	ref, err := recordedFor(o, file, label)
	if err == nil && ref.file == nil && o.Baseline != "" {
		return ref, exit.Usagef("--baseline: %s does not exist: correct the path, or record it with 'accelgate baseline update --baseline %s --reason TEXT'", o.Baseline, o.Baseline)
	}
	return ref, err
}

// recorded is reference for those who are about to write the baseline.
func recordedFor(o *measure.Options, file *config.File, label string) (reference, error) {
	ref, err := loadReference(o.BaselinePath(file, label), label)
	if err != nil {
		return ref, err
	}
	ref.typed = &typing{options: o, file: file}
	ref.kept, err = o.Kept(file, label)
	return ref, err
}

// loadReference reads a baseline; a missing one has no file.
func loadReference(path, label string) (reference, error) {
	file, err := baseline.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return reference{path: path}, nil
	case err != nil:
		return reference{}, err
	}
	return ofHost(path, file, label)
}

// ofHost refuses the baseline of another host.
func ofHost(path string, file *baseline.File, label string) (reference, error) {
	if file.HostLabel != "" && file.HostLabel != label {
		return reference{}, fmt.Errorf("%s is the baseline of host %q and this host is %q: give the baseline's label with --host-label, or correct host_label in the file",
			path, text.OneLine(file.HostLabel), label)
	}
	return reference{path: path, file: file}, nil
}

// judged is a set of runs with their comparisons and the one decision.
type judged struct {
	decision gate.Decision
	report   report.Report
}

// judge compares each run with its reference and decides. The runs and
// references go in pairs.
func (c *Command) judge(runs []*bench.Run, refs []reference, policy gate.Policy, in report.Input) judged {
	var comparisons []gate.Comparison
	for i, run := range runs {
		ref, name := refs[i].run(), ""
		if ref != nil {
			name = refs[i].path
		}
		comparison := gate.Compare(name, ref, run, policy)
		comparisons = append(comparisons, comparison)
		in.Hosts = append(in.Hosts, report.HostInput{Run: run, Reference: ref, Path: refs[i].path, Comparison: comparison,
			Commands: refs[i].typed.commands(c.Getenv, run.Host)})
	}
	decision := gate.Decide(comparisons, policy)
	in.Tool, in.Now, in.Policy, in.Decision = measure.Tool(), c.Now(), policy, decision
	return judged{decision: decision, report: report.New(in)}
}

// exit maps the decision to the exit code.
func (j judged) exit() int {
	switch j.decision.Status {
	case gate.StatusPassed, gate.StatusInconclusive:
		return exit.Passed
	case gate.StatusNoEvidence:
		return exit.NoMeasure
	}
	return exit.GateFailed
}

func missingBaseline(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; record one with 'accelgate baseline update --reason TEXT'", err)
	}
	return err
}
