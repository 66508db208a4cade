package record

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
)

// Linted are baselines that were checked.
type Linted []lintedBaseline

type lintedBaseline struct {
	Path     string             `json:"path"`
	Entries  int                `json:"entries"`
	Problems []baseline.Problem `json:"problems"`
}

// Lint checks the files named, or all of the configuration, those against what
// it gates, too.
func Lint(ctx context.Context, e *measure.Env, o *measure.HostOptions, paths []string) (Linted, error) {
	if len(paths) == 0 {
		return lintConfigured(ctx, e, &measure.Options{HostOptions: *o})
	}
	checked := Linted{}
	for _, path := range paths {
		file, err := baseline.Load(path)
		if err != nil {
			return nil, judge.MissingBaseline(err)
		}
		checked = append(checked,
			lintedBaseline{path, len(file.Entries), append([]baseline.Problem{}, baseline.Lint(path, file, e.Now(), 0)...)})
	}
	return checked, nil
}

func lintConfigured(ctx context.Context, e *measure.Env, o *measure.Options) (checked Linted, err error) {
	file, _, err := e.Load(o)
	if err != nil {
		return nil, err
	}
	found, err := judge.Baselines(ctx, e, o, file)
	switch {
	case err != nil:
		return nil, err
	case len(found) == 0:
		return nil, fmt.Errorf("%s holds no baseline: record one with 'accelgate baseline update --reason TEXT'",
			judge.BaselinesIn(o, file))
	}
	for _, b := range found {
		if b.Err != nil {
			return nil, b.Err
		}
		problems := []baseline.Problem{}
		if !b.OfRuns { // what accelgate makes of a history has no mistakes of a file
			days, _ := file.Baselines.Age()
			problems = append(problems, baseline.Lint(b.Path, b.File, e.Now(), days)...)
		}
		checked = append(checked, lintedBaseline{b.Path, len(b.File.Entries), append(problems, unrecorded(ctx, e, *o, b.File)...)})
	}
	return checked, nil
}

// Exit is the exit code: errors fail, warnings are printed only.
func (l Linted) Exit() int {
	for _, b := range l {
		if slices.ContainsFunc(b.Problems, func(p baseline.Problem) bool { return p.Severity == baseline.SeverityError }) {
			return exit.GateFailed
		}
	}
	return exit.Passed
}

// Print writes a line for each problem and each file.
func (l Linted) Print(e *measure.Env) error {
	for _, b := range l {
		for _, p := range b.Problems {
			fmt.Fprintln(e.Stdout, e.Carry(p.Format(b.Path)))
		}
		_, err := fmt.Fprintf(e.Stdout, "%s: %s, %s\n", b.Path, text.Plural(b.Entries, "entry"), text.Plural(len(b.Problems), "problem"))
		if err != nil {
			return err
		}
	}
	return nil
}

// unrecorded finds the metrics that the configuration gates and that entries of its
// cells do not have: a run reports them as missing.
func unrecorded(ctx context.Context, e *measure.Env, o measure.Options, file *baseline.File) (problems []baseline.Problem) {
	o.HostLabel, o.Unlisted = file.HostLabel, true
	s, err := e.OpenPlanFor(ctx, &o)
	if err != nil {
		e.WarnAll([]string{"the metrics of the configuration were not looked at: " + text.OneLine(err.Error())})
		return nil
	}
	defer s.Close()
	p := s.Plan
	demands := map[string][]bench.Demand{}
	for _, one := range p.Suites {
		for _, cell := range one.Plan.Cells {
			demands[cell.ID()] = p.Policy.Demands(cell)
		}
	}
	run := file.Run()
	for i := range run.Results {
		r := &run.Results[i]
		of := demands[r.Cell.ID()]
		if of == nil &&
			slices.ContainsFunc(p.Suites, func(one measure.Planned) bool { return one.Name == r.Cell.Suite && one.Unlisted != "" }) {
			of = p.Policy.Demands(r.Cell)
		}
		for _, d := range of {
			if len(r.Samples) > 0 && !d.Optional && !d.Met(r) {
				problems = append(problems, baseline.Problem{CaseID: r.Cell.ID(), Severity: baseline.SeverityError,
					Message: fmt.Sprintf("the configuration gates %s and the entry does not have it: %s, and run accelgate baseline update",
						text.OneLine(strings.Join(d.Metrics, " or ")),
						cmp.Or(d.Remedy, "correct where the suite reads it, or declare it with optional: true or when"))})
			}
		}
	}
	return problems
}
