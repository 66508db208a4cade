// Package judge leads runs and their references through the gate to one report
// and an exit code. It reads references, and decides nothing itself.
package judge

import (
	"cmp"
	"context"
	"crypto/sha256"
	"errors"
	"fmt"
	"io/fs"
	"maps"
	"slices"
	"time"

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

// Reference is a host's baseline with the runs that were kept of the host, read
// before anything is measured: a corrupt one must not cost an hour to find.
type Reference struct {
	Path  string         // of the file, or where it is written to if it is read from elsewhere
	Label string         // of the baseline, where hosts with one device share it; "" is the host's
	Shown string         // what reports call it; "" is Path
	From  *report.Source // nil where it is a file of this checkout
	File  *baseline.File // nil where there is none
	kept  *history.File  // nil where there are none
	run   *bench.Run     // of File, which is then let go; nil before
	old   string         // why it is too old; "" if it is not
	Typed *Typing        // what commands about the host repeat; nil where there is no configuration
	// profile is the one that the run measured, where the run counts; "" is the policy's.
	profile string
}

// failing is what the newest run of the default branch failed on the host.
func (r Reference) failing() *gate.Failing {
	if r.kept == nil {
		return nil
	}
	revision, cells := r.kept.Failing()
	if cells == nil {
		return nil
	}
	return &gate.Failing{Revision: revision, Cells: cells}
}

// Name is what reports call the baseline.
func (r Reference) Name() string { return cmp.Or(r.Shown, r.Path) }

// Run returns the baseline as a run, with its history; nil without a baseline.
func (r Reference) Run() *bench.Run {
	if r.File == nil {
		return r.run
	}
	run := r.File.Run()
	if r.old != "" {
		run.Warnings = append(slices.Clip(run.Warnings), r.old)
	}
	if r.kept != nil {
		r.kept.Attach(run)
	}
	return run
}

// release makes the run of the reference, and lets its file go, which takes as much memory again.
func (r *Reference) release() { r.run, r.File = r.Run(), nil }

// ReferenceFor reads the baseline of a host. A missing one is not an error, unless
// --baseline named it; an unreadable one always is.
func ReferenceFor(ctx context.Context, e *measure.Env, o *measure.Options, file *config.File, host bench.Host) (Reference, error) {
	ref, err := RecordedFor(ctx, e, o, file, host)
	if err == nil && ref.File == nil && o.Baseline != "" {
		return ref, exit.Usagef(
			"--baseline: %s does not exist: correct the path, or record it with 'accelgate baseline update --baseline %s --reason TEXT'",
			o.Baseline, o.Baseline)
	}
	return ref, err
}

// RecordedFor is [ReferenceFor] for those who are about to write the baseline.
func RecordedFor(ctx context.Context, e *measure.Env, o *measure.Options, file *config.File, host bench.Host) (ref Reference, err error) {
	label := o.Reference(file).Label(host)
	switch {
	case o.Reference(file).FromHistory():
		ref, err = lastRuns(o, file, host.Label)
		ref.old = ref.tooOld(e.Now(), file.Baselines)
		return ref, err
	case o.Reference(file).Remote():
		ref, err = fetched(ctx, e, o, file, label)
	default:
		ref, err = loadReference(o.Reference(file).Path(label), label)
	}
	if err != nil {
		return ref, err
	}
	ref.Typed = &Typing{Options: o, File: file}
	if label != host.Label {
		ref.Label = label
	}
	ref.kept, err = o.Kept(file, host.Label)
	ref.old = ref.tooOld(e.Now(), file.Baselines)
	return ref, err
}

// tooOld returns why a baseline is older than max_age allows, "" if it is not.
func (r *Reference) tooOld(now time.Time, b config.Baselines) string {
	const day = 24 * time.Hour
	days, runs := b.Age()
	if r.File == nil || r.File.CapturedAt.IsZero() || days == 0 && runs == 0 {
		return ""
	}
	age, since := int(now.Sub(r.File.CapturedAt)/day), 0
	if r.kept != nil {
		since = r.kept.Since(r.File.CapturedAt)
	}
	is := text.Plural(age, "day") + " old"
	switch {
	case days > 0 && age > days:
	case runs > 0 && since > runs:
		is = "older than the last " + text.Plural(since, "run") + " of the history"
	default:
		return ""
	}
	return fmt.Sprintf("the baseline is %s (max_age is %s): record it again with 'accelgate baseline update --reason TEXT'", is, b.MaxAge)
}

// fetched is a baseline of another repository or branch.
func fetched(ctx context.Context, e *measure.Env, o *measure.Options, file *config.File, label string) (Reference, error) {
	at := o.Reference(file).Path(label)
	missing := Reference{Path: o.OutPath(file, at), Shown: file.Baselines.In(at)}
	f, err := e.FetchBaseline(ctx, o, file, label)
	if errors.Is(err, fs.ErrNotExist) {
		return missing, nil
	} else if err != nil {
		return Reference{}, err
	}
	parsed, err := baseline.Parse(missing.Shown, f.Data)
	if err != nil {
		return Reference{}, err
	}
	ref, err := OfHost(missing.Shown, parsed, label)
	ref.Path, ref.Shown = missing.Path, missing.Shown
	where := cmp.Or(file.Baselines.Repository, "this repository")
	if file.Baselines.Stored() {
		where = "baselines.fetch"
	}
	ref.From = &report.Source{
		Repository: where,
		Commit:     f.Commit,
		Digest:     fmt.Sprintf("%x", sha256.Sum256(f.Data)),
	}
	return ref, err
}

// lastRuns is a baseline of the last runs that were kept of a host, in place of a file.
func lastRuns(o *measure.Options, file *config.File, label string) (ref Reference, err error) {
	n := file.Baselines.LastRuns()
	ref = Reference{Path: fmt.Sprintf("%s (last %s)", history.Name(label), text.Plural(n, "run")), Typed: &Typing{Options: o, File: file}}
	if ref.kept, err = o.Kept(file, label); err != nil || ref.kept == nil {
		return ref, err
	}
	run := ref.kept.Reference(label, n)
	if run == nil {
		return ref, nil
	}
	if file.Baselines.Mean() {
		history.Mean(run)
	}
	if ref.File, _, err = baseline.Update(nil, run, baseline.UpdateOptions{Now: run.Started}); err != nil {
		return Reference{}, fmt.Errorf("%s: %w: or remove the newest line of that history", ref.Path, err)
	}
	for i := range ref.File.Entries {
		ref.File.Entries[i].Anchor = new(baseline.Anchor) // nothing was pinned
	}
	return ref, nil
}

// loadReference reads a baseline; a missing one has no file.
func loadReference(path, label string) (Reference, error) {
	file, err := baseline.Load(path)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return Reference{Path: path}, nil
	case err != nil:
		return Reference{}, err
	}
	return OfHost(path, file, label)
}

// OfHost refuses the baseline of another host.
func OfHost(path string, file *baseline.File, label string) (Reference, error) {
	if file.HostLabel != "" && file.HostLabel != label {
		return Reference{}, fmt.Errorf(
			"%s is the baseline of host %q and this host is %q: give the baseline's label with --host-label, or correct host_label in the file",
			path, text.OneLine(file.HostLabel), label)
	}
	return Reference{Path: path, File: file}, nil
}

// Judged is a set of runs with their comparisons and the one decision.
type Judged struct {
	Decision gate.Decision
	Report   report.Report
	// Failures are what blocks in each run, as [gate.Failing] has it.
	Failures []map[string][]string
}

// Judge compares each run with its reference and decides. The runs and
// references go in pairs.
func Judge(e *measure.Env, runs []*bench.Run, refs []Reference, policy gate.Policy, in report.Input) Judged {
	var comparisons []gate.Comparison
	for i, run := range runs {
		ref, name := refs[i].Run(), ""
		if ref != nil {
			name = refs[i].Name()
		}
		policy := policy
		policy.Shared, policy.Failing, policy.Profile = refs[i].Label != "", refs[i].failing(), cmp.Or(policy.Profile, refs[i].profile)
		comparison := gate.Compare(name, ref, run, policy)
		comparisons = append(comparisons, comparison)
		in.Lines = refs[i].Typed.lines()
		in.Hosts = append(in.Hosts,
			report.HostInput{Run: run, Reference: ref, Path: refs[i].Name(), Source: refs[i].From, Comparison: comparison,
				Commands: refs[i].Typed.Commands(e.Getenv, run)})
	}
	policy.Shared, policy.Failing = false, nil // they were of one host
	decision := gate.Decide(comparisons, policy)
	in.Tool, in.Now, in.Policy, in.Decision, in.Kinds = measure.Tool(), e.Now(), policy, decision, reportKinds(e)
	j := Judged{Decision: decision, Report: report.New(in)}
	for i := range comparisons {
		j.Failures = append(j.Failures, comparisons[i].Failures())
	}
	return j
}

// reportKinds returns what the kinds of suites add to reports, in the order of their names.
func reportKinds(e *measure.Env) (kinds []report.Kind) {
	for _, name := range slices.Sorted(maps.Keys(e.Kinds)) {
		kinds = append(kinds, e.Kinds[name].Report)
	}
	return kinds
}

// Exit is the exit code of the decision.
func (j Judged) Exit() int { return j.Decision.Code() }

// MissingBaseline adds to the error of a baseline that does not exist how to record one.
func MissingBaseline(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%w; record one with 'accelgate baseline update --reason TEXT'", err)
	}
	return err
}
