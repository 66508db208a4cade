// Package runner measures cells: in which order, on which device, how often,
// and with every measurement written down before the next one starts. It does
// not know what a cell is and does not judge: it asks a [Measurer] and merges
// what it answers.
package runner

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

// ErrNoCells is returned when there is nothing to measure: zero cells are
// never a success.
var ErrNoCells = errors.New("no cells to measure")

// Measurer measures one cell once, pinned to a device unless that is zero. An
// error means that no further cell can be measured; whatever happens to this
// cell is the Outcome of its Result. It is called from one goroutine for each
// device.
type Measurer interface {
	Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error)
}

// Event tells that one measurement is finished.
type Event struct {
	Result  bench.Result
	Round   int // from 1
	Rounds  int
	Index   int // of the cell, from 1
	Of      int
	Skipped bool // not measured in this round, because an earlier round did not pass
	Reused  bool // taken from an earlier run's journal
}

// Options say how to measure. The zero value measures every cell once.
type Options struct {
	// Repeats is the number of rounds that a cell takes part in, at least 1. All
	// cells are measured in a round before the next round starts, so that a
	// disturbance of some seconds hits one value of several cells and not all
	// values of one. Nil means once each.
	Repeats func(c bench.Cell) int
	// Retries is how often a measurement of a cell is repeated in place after failures, the
	// last of which has the cause. A wrong answer is never repeated. Nil means never.
	Retries func(c bench.Cell, cause bench.Cause) int
	// Device returns where a cell is always measured, so that two unequal devices never look
	// like a regression; a group for a cell that needs several. One cell at a time is measured
	// on each. In each round, cells of one device come before those of wider groups; groups of
	// one width share no device. Nil, and the zero value, mean one lane without a device.
	Device func(c bench.Cell) bench.Device
	// Group names cells that are measured one after the other on their device in each round,
	// where the first of them stands. "" leaves a cell where it is. Nil means "" for all.
	Group func(c bench.Cell) string
	// Earlier returns what an interrupted run measured of a cell in a round
	// (from 1). Nil means nothing.
	Earlier func(c bench.Cell, round int) (bench.Result, bool)
	// OutOfTime is asked before each measurement and each retry; a reason ends measuring, and
	// what was not measured even once is left out. Nil means never.
	OutOfTime func() (reason string, over bool)
	// Ready reports whether the next result of a cell is there, because a measurement of another one yielded it: time does not
	// limit it. Nil means never.
	Ready func(c bench.Cell, d bench.Device) bool
	// Ends is when a measurement that goes on is cut off: it counts as not made. OutOfTime must then give a reason. Zero
	// means never.
	Ends time.Time
	// Journal, if not nil, is called with each measurement as soon as it is
	// finished, by one goroutine at a time. Its error ends the run: what is not
	// written down did not happen.
	Journal func(r bench.Result, round int) error
	// Optional reports whether a metric of a cell may be absent in some rounds; nil
	// means that none may.
	Optional func(c bench.Cell, metric string) bool
	// Progress, if not nil, is called after Journal, likewise.
	Progress func(Event)
}

// Run measures the cells and returns one merged result per cell that was
// measured, in the order of cells, and the cells that were left out. On an
// error the results finished so far are in the journal only.
func Run(ctx context.Context, m Measurer, cells []bench.Cell, o Options) ([]bench.Result, []bench.LeftOut, error) {
	if len(cells) == 0 {
		return nil, nil, ErrNoCells
	}
	r := &run{Options: o, measurer: m, cells: cells, states: make([]state, len(cells))}
	if err := r.rounds(ctx); err != nil {
		return nil, nil, err
	}
	var results []bench.Result
	var out []bench.LeftOut
	for i := range r.states {
		s := &r.states[i]
		if s.rounds == 0 {
			out = append(out, bench.LeftOut{Cell: cells[i].ID(), Reason: r.over})
			continue
		}
		s.complete(o.Optional)
		results = append(results, s.result)
	}
	return results, out, nil
}

// Again measures the cells of results that want names until each has as many
// values as o.Repeats says, and adds them to the results in place. A cell that
// no longer passes takes the new outcome. Limits on time do not apply: it is a
// verdict that waits for these values. It returns how many cells it measured.
func Again(ctx context.Context, m Measurer, results []bench.Result, want func(bench.Cell) bool, o Options) (int, error) {
	o.OutOfTime = nil
	r := &run{Options: o, measurer: m}
	var at []int
	for i := range results {
		if has := values(&results[i]); want(results[i].Cell) && has > 0 && has < r.repeats(results[i].Cell) {
			at = append(at, i)
			r.cells = append(r.cells, results[i].Cell)
			r.states = append(r.states, state{result: results[i], rounds: has, breakdowns: earlier(&results[i], has)})
		}
	}
	if err := r.rounds(ctx); err != nil {
		return 0, err
	}
	for j, i := range at {
		r.states[j].complete(o.Optional)
		results[i] = r.states[j].result
	}
	return len(at), nil
}

// earlier stands in for the breakdowns of earlier rounds, of which only the
// merged ones are left.
func earlier(r *bench.Result, rounds int) [][]bench.Breakdown {
	if len(r.Breakdowns) == 0 {
		return nil
	}
	return slices.Repeat([][]bench.Breakdown{r.Breakdowns}, rounds)
}

// values is the number of rounds in which a cell that passes was measured.
func values(r *bench.Result) int {
	if r.Outcome != bench.Passed || len(r.Samples) == 0 {
		return 0
	}
	return len(slices.MaxFunc(r.Samples, func(a, b bench.Sample) int { return cmp.Compare(len(a.Values), len(b.Values)) }).Values)
}

type run struct {
	Options
	measurer Measurer
	cells    []bench.Cell
	states   []state
	mu       sync.Mutex // journal, progress and over
	over     string     // why measuring ended early
}

// state is what is known of a cell.
type state struct {
	result     bench.Result
	rounds     int                 // measured
	breakdowns [][]bench.Breakdown // of the rounds that have one
}

func (r *run) repeats(c bench.Cell) int {
	if r.Repeats == nil {
		return 1
	}
	return max(r.Repeats(c), 1)
}

func (r *run) rounds(ctx context.Context) error {
	if !r.Ends.IsZero() {
		var cancel context.CancelFunc
		ctx, cancel = context.WithDeadlineCause(ctx, r.Ends, errOver)
		defer cancel()
	}
	phases, last := r.phases(), 0
	for _, c := range r.cells {
		last = max(last, r.repeats(c))
	}
	for round := 1; round <= last; round++ {
		for _, lanes := range phases {
			if err := r.phase(ctx, lanes, round); err != nil {
				return err
			}
		}
	}
	return nil
}

// lane measures cells on one device, one after the other.
func (r *run) lane(ctx context.Context, d bench.Device, indexes []int, round int) error {
	for _, i := range indexes {
		s := &r.states[i]
		event := Event{Round: round, Rounds: r.repeats(r.cells[i]), Index: i + 1, Of: len(r.cells)}
		if s.rounds >= round || round > event.Rounds {
			continue // measured already, or not to be measured so often
		}
		if s.rounds > 0 && s.result.Outcome != bench.Passed {
			event.Result, event.Skipped = s.result, true
			r.progress(event)
			continue
		}
		if s.rounds < round-1 || !r.ready(r.cells[i], d) && r.late() {
			continue // out of time in this round or an earlier one
		}
		result, reused, err := r.once(ctx, r.cells[i], d, round)
		if errors.Is(context.Cause(ctx), errOver) && !reused && (err != nil || result.Outcome != bench.Passed) {
			r.late()
			continue
		}
		if err != nil {
			return fmt.Errorf("measure %s: %w", r.cells[i].ID(), err)
		}
		s.add(result)
		event.Result, event.Reused = result, reused
		r.progress(event)
	}
	return nil
}

// errOver is why a measurement was cut off at Options.Ends.
var errOver = errors.New("the time for measuring is over")

func (r *run) ready(c bench.Cell, d bench.Device) bool { return r.Ready != nil && r.Ready(c, d) }

func (r *run) late() bool {
	if r.OutOfTime == nil {
		return false
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	reason, over := r.OutOfTime()
	if over {
		r.over = reason
	}
	return over
}

func (r *run) progress(e Event) {
	if r.Progress == nil {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	r.Progress(e)
}

// once yields one measurement: an earlier run's, or a new one.
func (r *run) once(ctx context.Context, c bench.Cell, d bench.Device, round int) (result bench.Result, reused bool, err error) {
	if r.Earlier != nil {
		if result, ok := r.Earlier(c, round); ok {
			return result, true, nil
		}
	}
	wall := 0.0
	var failures []bench.Result
	for retries := 0; ; retries++ {
		if err := context.Cause(ctx); err != nil {
			return result, false, err
		}
		if result, err = r.measurer.Measure(ctx, c, d); err != nil {
			return result, false, err
		}
		result.Cell, result.Device = c, d.String()
		result.Retries += retries
		wall += result.WallMS
		result.WallMS = wall
		if !r.retry(&result, retries) || r.late() {
			break
		}
		failures = append(failures, result)
	}
	flaky(&result, failures)
	return result, false, r.journal(result, round)
}

// retry reports whether a measurement is repeated once more.
func (r *run) retry(result *bench.Result, retries int) bool {
	failed := result.Outcome == bench.Failed || result.Outcome == bench.Timeout
	return failed && r.Retries != nil && retries < r.Retries(result.Cell, result.Cause)
}

func (r *run) journal(result bench.Result, round int) error {
	if r.Journal == nil {
		return nil
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if err := r.Journal(result, round); err != nil {
		return fmt.Errorf("write the journal: %w: free space, or choose another folder with --out", err)
	}
	return nil
}

// complete fails a cell that did not report each of its metrics in every round:
// the median of fewer values would pass for that of all. One that is only shown
// may be absent.
func (s *state) complete(optional func(c bench.Cell, metric string) bool) {
	r := &s.result
	r.Breakdowns = typical(s.breakdowns)
	if r.Outcome != bench.Passed {
		return
	}
	for _, sample := range r.Samples {
		if len(sample.Values) != s.rounds {
			if optional != nil && optional(r.Cell, sample.Metric) {
				r.Warnings = append(slices.Clip(r.Warnings),
					fmt.Sprintf("%s was measured in %d of %d rounds only", sample.Metric, len(sample.Values), s.rounds))
				continue
			}
			r.Outcome, r.Cause = bench.Failed, bench.CauseOutput
			r.Reason = fmt.Sprintf("printed %s in %d of %d runs", sample.Metric, len(sample.Values), s.rounds)
			return
		}
	}
}

// add merges a measurement into what the earlier rounds yielded. The values of
// a metric are appended; the texts are those of the last round, and a round
// that did not pass replaces the outcome and ends the cell.
func (s *state) add(r bench.Result) {
	old := s.result
	s.rounds++
	s.result = r
	s.result.WallMS += old.WallMS
	s.result.Retries += old.Retries
	s.result.Selected = old.Selected
	s.result.Samples, s.result.Resources = joinSamples(old.Samples, r.Samples), joinSamples(old.Resources, r.Resources)
	addFacts(&s.result, &old)
	if len(r.Breakdowns) > 0 {
		s.breakdowns = append(s.breakdowns, r.Breakdowns)
	}
}

// joinSamples appends the values of one more round.
func joinSamples(samples, more []bench.Sample) []bench.Sample {
	for _, sample := range more {
		if known := find(samples, sample.Metric); known != nil {
			known.Caveat = cmp.Or(known.Caveat, sample.Caveat) // of one value, and so of the median
			known.Estimates = joinEstimates(known, &sample)
			known.Base = joinBase(known, &sample)
			known.Values = append(known.Values, sample.Values...)
			continue
		}
		samples = append(samples, sample)
	}
	return samples
}

// joinBase keeps pairs only where every value is one of a pair.
func joinBase(known, more *bench.Sample) []float64 {
	if len(known.Base) != len(known.Values) || len(more.Base) != len(more.Values) {
		return nil
	}
	return slices.Concat(known.Base, more.Base)
}

// joinEstimates keeps them only where every value has one.
func joinEstimates(known, more *bench.Sample) []bench.Estimate {
	if len(known.Estimates) != len(known.Values) || len(more.Estimates) != len(more.Values) {
		return nil
	}
	return slices.Concat(known.Estimates, more.Estimates)
}

// addFacts adds to a result what earlier rounds said beside their numbers: one
// round that is doubtful makes the median doubtful.
func addFacts(r, old *bench.Result) {
	r.Caveat = cmp.Or(r.Caveat, old.Caveat)
	r.Health = joinHealth(old.Health, r.Health)
	r.Files = slices.Concat(old.Files, r.Files)
	r.Files = r.Files[max(0, len(r.Files)-bench.MaxFacts):] // of the last rounds
	r.Curve = slices.Concat(old.Curve, r.Curve)
	r.Curve = r.Curve[max(0, len(r.Curve)-bench.MaxCurve):]
	for _, w := range old.Warnings {
		if !slices.Contains(r.Warnings, w) && len(r.Warnings) < bench.MaxFacts {
			r.Warnings = append(slices.Clip(r.Warnings), w)
		}
	}
	if len(old.Counts) == 0 {
		return
	}
	counts := maps.Clone(old.Counts)
	for name, n := range r.Counts {
		counts[name] += n
	}
	r.Counts = counts
}

func find(samples []bench.Sample, metric string) *bench.Sample {
	for i := range samples {
		if samples[i].Metric == metric {
			return &samples[i]
		}
	}
	return nil
}
