package measure

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/worker"
)

// Rounds measures all cells of a plan n times, in another order each time, each
// time in fresh processes: what a suite keeps running ends after each round. The
// run is saved before it is returned.
func (s *Session) Rounds(ctx context.Context, n int, seen func(bench.Result, time.Time)) (*bench.Run, error) {
	s.Progress.Forget()
	s.WarnAll(s.warnings)
	if err := s.Plan.prepareOut(); err != nil {
		return nil, err
	}
	defer func() { s.hold.Release() }()
	if err := s.prepareCode(ctx); err != nil {
		return nil, err
	}
	for _, one := range s.Plan.Suites {
		if why := cmp.Or(s.whyUnbuilt(one.Name), one.Unlisted); why != "" {
			return nil, errors.New(why)
		}
	}
	end := s.Progress.Begin("wait for the devices")
	lanes, err := s.Lease(ctx)
	end()
	if err != nil {
		return nil, err
	}
	defer lanes.Release()
	worker.EndStale()
	run := s.newRun(ctx, nil, nil)
	m, err := s.begin(ctx, nil, run.Revision, lanes)
	if err != nil {
		return nil, err
	}
	defer m.journal.Close()
	err = m.rounds(ctx, run, n, seen)
	if err = m.tearDown(ctx, run, err); err != nil {
		return nil, err
	}
	s.Plan.relate(run)
	for _, one := range s.Plan.Suites {
		run.Results = append(run.Results, one.Skipped...)
	}
	run = redact(run, Secrets(m.secrets()).Hide)
	if err := run.Validate(); err != nil {
		return nil, fmt.Errorf("the run is not valid: %w", err)
	}
	return run, SaveRun(s.Plan.OutPath("run.json"), run)
}

func (s *measuring) rounds(ctx context.Context, run *bench.Run, n int, seen func(bench.Result, time.Time)) error {
	var cells []bench.Cell
	for _, one := range s.Plan.Suites {
		cells = append(cells, one.Cells...)
	}
	if len(cells) == 0 {
		return runner.ErrNoCells
	}
	defer s.stage("measure", cells, func(bench.Cell) int { return n }, nil)()
	merged := make(map[string]*bench.Result, len(cells))
	for round := 1; round <= n; round++ {
		results, out, err := s.round(ctx, cells, round, n, seen)
		if err != nil {
			return s.interrupted(err)
		}
		for i := range results {
			addRound(merged, &results[i])
		}
		if round == 1 {
			run.LeftOut = append(run.LeftOut, out...)
		}
		if len(out) > 0 {
			over := fmt.Sprintf("the budget ended in round %d of %d: raise limits.budget, or lower --rounds", round, n)
			run.Warnings = append(run.Warnings, over)
			s.WarnAll([]string{over})
			break
		}
		if err := s.rest(); err != nil {
			return s.interrupted(err)
		}
		cells = slices.DeleteFunc(cells, func(c bench.Cell) bool { return merged[c.ID()].Outcome != bench.Passed })
		if len(cells) == 0 {
			break
		}
	}
	for _, one := range s.Plan.Suites {
		for _, cell := range one.Cells {
			if r := merged[cell.ID()]; r != nil {
				run.Results = append(run.Results, *r)
			}
		}
	}
	return nil
}

// round measures each of the cells once.
func (s *measuring) round(ctx context.Context, cells []bench.Cell, round, of int,
	seen func(bench.Result, time.Time)) ([]bench.Result, []bench.LeftOut, error) {
	rand.Shuffle(len(cells), func(i, j int) { cells[i], cells[j] = cells[j], cells[i] })
	s.chooseBoth(cells)
	o := s.options()
	o.Repeats = nil
	o.Earlier = func(c bench.Cell, _ int) (bench.Result, bool) { return s.earlierOf(c, round) }
	o.Journal = func(r bench.Result, _ int) error {
		seen(r, s.Now())
		return s.journal.Append(runner.Entry{Key: s.keys[r.Cell.ID()], Round: round, Result: r})
	}
	show := o.Progress
	o.Progress = func(e runner.Event) {
		e.Round, e.Rounds = round, of
		show(e)
	}
	return runner.Run(ctx, s.measurer(), cells, o)
}

// rest ends what suites keep running. A process that fails after its last answer
// is an error: its answers are doubtful.
func (s *measuring) rest() error {
	devices := map[bench.Device]bool{}
	for _, one := range s.Plan.Suites {
		clear(devices)
		for _, c := range one.Cells {
			devices[s.lanes.For(c)] = true
		}
		for d := range devices {
			if err := s.Release(one.Name, d); err != nil {
				return fmt.Errorf("suite %s: %w", one.Name, err)
			}
		}
	}
	return nil
}

// addRound adds the values of a round to those before it. A round that did not
// pass replaces the outcome, and one on an unhealthy host its health.
func addRound(merged map[string]*bench.Result, r *bench.Result) {
	id := r.Cell.ID()
	before := merged[id]
	if before == nil {
		one := *r
		merged[id] = &one
		return
	}
	before.WallMS += r.WallMS
	if r.Health != nil && r.Health.Status == bench.Unhealthy {
		before.Health = r.Health
	}
	before.Outcome, before.Reason, before.Cause, before.Log = r.Outcome, r.Reason, r.Cause, r.Log
	before.Samples, before.Resources = addValues(before.Samples, r.Samples), addValues(before.Resources, r.Resources)
}

func addValues(samples, more []bench.Sample) []bench.Sample {
	for _, s := range more {
		i := slices.IndexFunc(samples, func(known bench.Sample) bool { return known.Metric == s.Metric })
		if i < 0 {
			samples = append(samples, s)
			continue
		}
		samples[i].Values, samples[i].Estimates = append(samples[i].Values, s.Values...), nil
	}
	return samples
}
