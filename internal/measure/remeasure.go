package measure

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/text"
)

const (
	// defaultRemeasure is the number of values that a regression rests on: the
	// median of three is not moved by one disturbance.
	defaultRemeasure = 3
	// maxValues is where more values of a cell that lies on its limit stop to
	// pay.
	maxValues = 10
	// deviceCoolDown is the wait before a second look where devices are pinned
	// to: accelerators lower their clocks while they are hot.
	deviceCoolDown = 5 * time.Second
)

// remeasure measures cells a second time whose verdicts more values may change:
// those that look slower, apart from what made them look so, and those whose
// values lie on both sides of the limit, until they do not or time is over.
func (s *measuring) remeasure(ctx context.Context, run, ref *bench.Run) error {
	want := s.confirmations()
	if want == 0 || ref == nil && len(s.Plan.Policy.Expected) == 0 && !s.inPairs() {
		return nil
	}
	for !s.jobIsOver() {
		c := gate.Compare("", ref, run, s.Plan.Policy)
		ids, why := gate.Open(c)
		more := s.more(run, ids, why, want)
		s.morePairs(run, gate.Pairs(c), more)
		s.Plan.withPartners(run, more)
		if len(more) == 0 {
			return nil
		}
		if err := s.coolDown(ctx); err != nil {
			return s.interrupted(err)
		}
		later := gate.Later(run, c)
		s.Plan.unrelate(run)
		o := s.options()
		o.Repeats = func(c bench.Cell) int { return more[c.ID()] }
		s.chooseBoth(slices.DeleteFunc(cellsOf(run), func(c bench.Cell) bool { return more[c.ID()] == 0 }))
		end := s.stage("measure again", cellsOf(run), missing(run, more), later)
		_, err := runner.Again(ctx, s.measurer(), run.Results, func(c bench.Cell) bool { return more[c.ID()] > 0 }, o)
		end()
		if err != nil {
			return s.interrupted(err)
		}
		s.Plan.relate(run)
		unselect(run.Results)
	}
	return nil
}

// unselect has the values judged that chose a cell which there was no time to measure again.
func unselect(results []bench.Result) {
	for i := range results {
		if r := &results[i]; r.Selected > 0 && len(valuesOf(r)) <= r.Selected {
			r.Selected = 0
		}
	}
}

func (s *measuring) confirmations() int {
	switch n := s.Plan.File.Policy.Remeasure; {
	case n != nil:
		return *n
	case !s.Plan.Policy.Compat.Rules().Statistics:
		return 0 // another tool's rules have no re-measurement
	}
	return defaultRemeasure
}

// more returns how many values each open cell is to have, and marks those that
// were chosen because they look slower.
func (s *measuring) more(run *bench.Run, ids []string, why map[string]gate.Request, want int) map[string]int {
	more, confirm := map[string]int{}, 0
	_, late := s.outOfTime()
	open := SetOf(ids)
	for i := range run.Results {
		r := &run.Results[i]
		id, has := r.Cell.ID(), len(valuesOf(r))
		switch {
		case !open[id] || has == 0 || r.Selected > 0:
		case why[id] == gate.Confirm:
			r.Selected = has
			r.Health = nil // what is judged from here on is measured anew
			more[id] = min(has+want, MaxRepeats)
			confirm++
		case !late && has < maxValues:
			more[id] = min(has+want, maxValues)
		}
	}
	if confirm > 0 {
		fmt.Fprintf(s.Stderr, "accelgate: cells that look slower: %d; they are measured again, %s each, and judged by that\n", confirm,
			text.Plural(want, "time"))
	}
	if n := len(more) - confirm; n > 0 {
		fmt.Fprintf(s.Stderr, "accelgate: cells whose values lie on both sides of the limit: %d; they are measured more often\n", n)
	}
	return more
}

// morePairs adds the cells that need more pairs of base and head.
func (s *measuring) morePairs(run *bench.Run, need, more map[string]int) {
	cells, maximum := 0, 0
	for i := range run.Results {
		r := &run.Results[i]
		id := r.Cell.ID()
		if has := len(valuesOf(r)); has > 0 && has < need[id] {
			more[id] = max(more[id], need[id])
			cells, maximum = cells+1, max(maximum, need[id])
		}
	}
	if cells > 0 {
		fmt.Fprintf(s.Stderr, "accelgate: cells that may be slower: %d; they are measured in up to %s\n", cells, text.Plural(maximum, "pair"))
	}
}

// valuesOf returns the values of a cell that passes, of a metric that it reported
// each time: one that is only shown may be absent.
func valuesOf(r *bench.Result) []float64 {
	if r.Outcome != bench.Passed || len(r.Samples) == 0 {
		return nil
	}
	maximum := r.Samples[0].Values
	for i := range r.Samples {
		if values := r.Samples[i].Values; len(values) > len(maximum) {
			maximum = values
		}
	}
	return maximum
}

// coolDown ends what suites keep running, so that a second look is one at fresh
// processes, and waits.
func (s *measuring) coolDown(ctx context.Context) error {
	if err := s.rest(); err != nil {
		return err
	}
	wait := s.Plan.File.Limits.CoolDown
	if wait == nil && len(s.lanes.Devices) > 0 {
		wait = new(deviceCoolDown)
	}
	if wait == nil {
		return nil
	}
	select {
	case <-ctx.Done():
		return context.Cause(ctx)
	case <-time.After(*wait):
		return nil
	}
}

// missing returns how many values cells lack of those that they are to have.
func missing(run *bench.Run, more map[string]int) func(bench.Cell) int {
	has := make(map[string]int, len(more))
	for i := range run.Results {
		has[run.Results[i].Cell.ID()] = len(valuesOf(&run.Results[i]))
	}
	return func(c bench.Cell) int { return more[c.ID()] - has[c.ID()] }
}

func cellsOf(run *bench.Run) []bench.Cell {
	cells := make([]bench.Cell, len(run.Results))
	for i := range run.Results {
		cells[i] = run.Results[i].Cell
	}
	return cells
}
