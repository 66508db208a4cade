// Package record writes what a run measured into what later runs are compared
// with: the baseline of a host, its history, and the files of cases. It prunes, anchors
// and checks baselines as well.
package record

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// CheckReason refuses to record numbers without a reason, before anything is measured.
func CheckReason(command, reason string) error {
	if strings.TrimSpace(reason) == "" {
		return exit.Usagef("%s: a reason is required, because reviewers will ask for it: add --reason \"...\"", command)
	}
	return nil
}

// Recordable refuses the run of a demonstration, one that is no evidence, and one whose time
// cannot be: it would be the newest, or the oldest, of its history for ever.
func Recordable(run *bench.Run, now time.Time) error {
	if why := run.Context[bench.NoEvidence]; why != "" {
		return exit.Usagef("the run is not evidence, so it cannot be recorded: %s: measure again", text.OneLine(why))
	}
	if args, ok := run.Context[measure.Demonstration]; ok {
		return exit.Usagef("the run was made slow or wrong (%s), so it cannot be recorded: measure without that", text.OneLine(args))
	}
	if why := run.Misdated(now); why != "" {
		return exit.Usagef("the run of host %s cannot be recorded: %s: correct the clock of that host, and measure again",
			text.OneLine(run.Host.Label), why)
	}
	return nil
}

// recorded is what a refresh wrote.
type recorded struct {
	before  *baseline.File // nil where the file is new
	file    *baseline.File
	Changes []baseline.Change
	Cells   int
}

// Record merges a run into its host's baseline and saves it.
func Record(e *measure.Env, ref judge.Reference, run *bench.Run, reason string, all bool) (recorded, error) {
	r, err := preview(e, ref, run, reason, all)
	if err != nil {
		return r, err
	}
	return r, baseline.Save(ref.Path, r.file)
}

// preview is [Record] without saving.
func preview(e *measure.Env, ref judge.Reference, run *bench.Run, reason string, all bool) (r recorded, err error) {
	if err := Recordable(run, e.Now()); err != nil {
		return r, err
	}
	r.before = ref.File
	if ref.Label != "" { // hosts share the file
		shared := *run
		shared.Host.Label = ref.Label
		run = &shared
	}
	options := baseline.UpdateOptions{Reason: reason, Now: e.Now(), All: all}
	if options.Small, err = small(e, ref.Typed, run); err != nil {
		return r, err
	}
	if r.file, r.Changes, err = baseline.Update(ref.File, run, options); err != nil {
		return r, err
	}
	for i := range run.Results {
		switch one := &run.Results[i]; {
		case one.Outcome != bench.Passed:
		case run.Impossible(one) != "":
			e.WarnAll([]string{text.OneLine(one.Cell.ID()) + " is not recorded: " + text.OneLine(run.Impossible(one))})
		case one.Caveat != "":
			e.WarnAll(
				[]string{text.OneLine(one.Cell.ID()) + " is not recorded, because its numbers are doubtful: " + text.OneLine(one.Caveat)},
			)
		default:
			r.Cells++
		}
	}
	e.WarnAll(withoutReference(run, r.file))
	return r, nil
}

// small returns the changes up to which numbers stay as they were, by the configuration; nil for none.
func small(e *measure.Env, typed *judge.Typing, run *bench.Run) (func(id, metric string, median float64) float64, error) {
	if typed == nil || typed.File.Baselines.MinMove == 0 {
		return nil, nil
	}
	policy, err := e.Policy(typed.Options, typed.File)
	cells := make(map[string]bench.Cell, len(run.Results))
	for i := range run.Results {
		cells[run.Results[i].Cell.ID()] = run.Results[i].Cell
	}
	return func(id, metric string, median float64) float64 {
		return policy.LimitOf(cells[id], run.Host.Label, metric, median) * float64(typed.File.Baselines.MinMove) / 100
	}, err
}

// withoutReference names the metrics that the file does not keep, because nothing can be
// compared with their value.
func withoutReference(run *bench.Run, file *baseline.File) (warnings []string) {
	entries := make(map[string]*baseline.Entry, len(file.Entries))
	for i := range file.Entries {
		entries[file.Entries[i].CaseID] = &file.Entries[i]
	}
	cells := map[string][]string{}
	for i := range run.Results {
		r := &run.Results[i]
		e := entries[r.Cell.ID()]
		if e == nil || r.Outcome != bench.Passed {
			continue
		}
		for k := range r.Samples {
			if s := &r.Samples[k]; s.Caveat == "" && e.Metric(s.Metric) == nil && run.NoReference(s.Metric, 0) != "" {
				cells[s.Metric] = append(cells[s.Metric], r.Cell.ID())
			}
		}
	}
	for _, metric := range slices.Sorted(maps.Keys(cells)) {
		in := cells[metric]
		warnings = append(warnings, fmt.Sprintf("not recorded in %s, such as %s: %s",
			text.Plural(len(in), "cell"), text.OneLine(in[0]), text.OneLine(run.NoReference(metric, 0))))
	}
	return warnings
}

// still counts the numbers that stay because they moved within their noise, or by too little.
func (r recorded) still() (n int) {
	for _, c := range r.Changes {
		if c.Kind == baseline.Still {
			n++
		}
	}
	return n
}

// Unchanged reports whether the file would say the same again, but for when.
func (r recorded) Unchanged() bool {
	return r.before != nil && len(r.Changes) == r.still() && r.before.Fingerprint != nil && r.file.Fingerprint != nil &&
		reflect.DeepEqual(*r.before.Fingerprint, *r.file.Fingerprint)
}

// ForReport returns what changed in the words of the report.
func (r recorded) ForReport(host, path string) report.HostChanges {
	h := report.HostChanges{Host: host, Path: path}
	if r.before != nil {
		h.Before = r.before.Fingerprint
	}
	if r.file.Fingerprint != nil {
		h.After = *r.file.Fingerprint
	}
	for _, c := range r.Changes {
		if c.Kind == baseline.Added || c.Kind == baseline.Changed {
			h.Changes = append(h.Changes,
				report.Change{Cell: c.CaseID, Metric: c.Metric, Unit: c.Unit, Better: c.Better, Old: c.Old, New: c.New, HasOld: c.HasOld,
					Noise: c.Noise, OldN: c.OldN, NewN: c.NewN})
		}
	}
	h.Still = r.still()
	return h
}
