package action

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/exit"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/reference/baseline"
	"github.com/accelgate/accelgate/internal/text"
)

// collectRuns reads the runs of other jobs, which are not trusted. A host that
// should have delivered one and did not stands in with an empty run, which the
// gate cannot pass.
func (a *action) collectRuns(ctx context.Context) (g collected, err error) {
	if g.file, g.policy, err = a.Env.Load(&a.in.options); err != nil {
		return g, err
	}
	if o := &a.in.options; len(o.Suites) > 0 &&
		!slices.ContainsFunc(g.file.Suites, func(s config.Suite) bool { return slices.Contains(o.Suites, s.Name) }) {
		return g, exit.Usagef("input suite: %s has none of %s: correct the input, or leave it out", o.Config,
			text.OneLine(strings.Join(o.Suites, ", ")))
	}
	if err := a.acceptUnlessUpdating(ctx, &g.policy, g.file); err != nil {
		return g, err
	}
	paths, err := measure.FindRuns(a.in.runs, maxRuns)
	if err != nil {
		return g, err
	}
	if g.runs, g.refs, err = judge.ReadRuns(ctx, a.Env, &a.in.options, g.file, paths); err != nil {
		return g, err
	}
	for i, run := range g.runs {
		if err := a.vet(ctx, run, &g, g.refs[i].File); err != nil {
			return g, fmt.Errorf("run of host %s: %w", text.OneLine(run.Host.Label), err)
		}
	}
	if err := judge.Recheck(a.Env, g.file, g.runs); err != nil {
		return g, err
	}
	for _, label := range a.in.hosts {
		if slices.ContainsFunc(g.runs, func(r *bench.Run) bool { return r.Host.Label == label }) {
			continue
		}
		if a.in.update {
			g.absent = append(g.absent, label)
			continue
		}
		ref, err := judge.ReferenceFor(ctx, a.Env, &a.in.options, g.file, bench.Host{Label: label})
		if err != nil {
			return g, err
		}
		g.runs = append(g.runs, &bench.Run{Schema: bench.RunSchema, Host: bench.Host{Label: label}, Started: a.Now(),
			Warnings: []string{fmt.Sprintf("host %s delivered no run.json: look at the log of its job", label)}})
		g.refs = append(g.refs, ref)
	}
	if left := a.notAsked(g.file); len(left) > 0 && len(g.runs) > 0 {
		g.runs[0].Warnings = append(g.runs[0].Warnings, fmt.Sprintf(
			"runners of %s lists %s, and the workflow measured on other hosts alone: leave the input hosts out, or remove the entry",
			text.OneLine(a.in.options.Config), strings.Join(left, ", ")))
	}
	if len(g.runs) == 0 {
		return g, fmt.Errorf("%w: %s holds no run.json: look at the jobs that should have measured", runner.ErrNoCells, a.in.runs)
	}
	return g, nil
}

// notAsked lists the hosts of this job's configuration that the workflow, which a pull request may
// edit, measured nothing on.
func (a *action) notAsked(file *config.File) (left []string) {
	if len(a.in.hosts) == 0 || a.event.Run != nil {
		return nil
	}
	for _, r := range file.Runners {
		if r.RunsOn.OnGitHub() && a.in.options.Measures(file, r.Host) && !slices.Contains(a.in.hosts, r.Host) {
			left = append(left, text.OneLine(r.Host))
		}
	}
	return left
}

// vet checks a run against what this job knows. It must be of the commit
// that this job is about, hold what only asks for, and cannot excuse itself:
// cells that it says it left out, and that this job was not told to leave out,
// are missing; so are cells left out by a limit that the configuration has not.
func (a *action) vet(ctx context.Context, run *bench.Run, g *collected, ref *baseline.File) error {
	if want := a.commit(); run.Revision != want {
		return fmt.Errorf("the run is of commit %q and this workflow of %s: run the measuring job again", text.OneLine(run.Revision), want)
	}
	only := a.in.options.Only
	for _, pattern := range only {
		if !slices.ContainsFunc(run.Results, func(r bench.Result) bool { return matrix.Glob(pattern, r.Cell.ID()) }) {
			return fmt.Errorf("no cell of the run matches only %q: correct the input, or measure that cell", text.OneLine(pattern))
		}
	}
	if missing := run.MissingShards(); len(missing) > 0 {
		why := fmt.Sprintf("shards %s delivered no run.json: look at the logs of their jobs", strings.Join(missing, ", "))
		if a.in.update {
			return errors.New(why)
		}
		run.Warnings = append(run.Warnings, why) // the gate does not pass the host, and other hosts have a report
	}
	if !mayLeaveOut(run, g.file.Limits) {
		run.LeftOut = nil
	}
	others, err := a.leftOutCells(ctx, run, ref)
	if err != nil {
		return err
	}
	elsewhere := a.remoteBaseline(run.Host.Label, g, ref)
	run.Unselected = slices.DeleteFunc(run.Unselected, func(id string) bool {
		return !others[id] && !elsewhere[id] && (len(only) == 0 || matrix.GlobAny(only, id))
	})
	return nil
}

// mayLeaveOut reports whether the configuration's limits can have left out what
// a run says. A budget can leave out anything, and counts; how many cells
// there must be at least is known.
func mayLeaveOut(run *bench.Run, limits config.Limits) bool {
	measured := 0
	for i := range run.Results {
		if run.Results[i].Outcome != bench.Skipped {
			measured++
		}
	}
	return limits.Budget > 0 || limits.MaxCells > 0 && measured >= limits.MaxCells
}

// remoteBaseline lists the cells that are owed on a host and belong to suites that its runs
// leave out, by the input suite or by the runners of this job's configuration. What a
// suite holds is not opened, because its data may be on the host alone.
func (a *action) remoteBaseline(label string, g *collected, ref *baseline.File) map[string]bool {
	ids := map[string]bool{}
	add := func(id, suite string) {
		if suite != "" && !a.in.options.Wants(g.file, label, suite) {
			ids[id] = true
		}
	}
	if ref != nil {
		for i := range ref.Entries {
			add(ref.Entries[i].CaseID, ref.Entries[i].Suite)
		}
	}
	for id, one := range g.policy.Expected {
		add(id, one.Suite)
	}
	return ids
}

// leftOutCells lists the cells that the profile leaves out on a host, by this job's
// configuration and not by what a run says. Of suites whose cells a program lists, which may be
// on the host alone, it looks at those that the reference has.
func (a *action) leftOutCells(ctx context.Context, run *bench.Run, ref *baseline.File) (map[string]bool, error) {
	if a.in.options.Profile == "" {
		return nil, nil
	}
	o := a.in.options
	o.Only, o.Unlisted = nil, true
	c, err := a.Env.Configure(&o)
	if err != nil {
		return nil, err
	}
	c.Host = run.Host
	s, err := a.Env.Open(ctx, &c)
	if err != nil {
		return nil, fmt.Errorf("find the cells of profile %s: %w", text.OneLine(o.Profile), err)
	}
	defer s.Close()
	p := s.Plan
	others := measure.SetOf(p.Others)
	for i := 0; ref != nil && i < len(ref.Entries); i++ {
		e := &ref.Entries[i]
		left, err := p.LeavesOut(e.Suite, e.CaseID)
		if err != nil {
			return nil, err
		}
		others[e.CaseID] = others[e.CaseID] || left
	}
	return others, nil
}
