// Package runner measures cells: in which order, how often, and with every
// measurement written down before the next one starts. It does not know what a
// cell is and does not judge: it asks a [Measurer] and merges what it answers.
package runner

import (
	"context"
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
)

// ErrNoCells is returned when there is nothing to measure: zero cells are
// never a success.
var ErrNoCells = errors.New("no cells to measure")

// Measurer measures one cell once. An error means that no further cell can be
// measured; whatever happens to this cell is the Outcome of its Result.
type Measurer interface {
	Measure(ctx context.Context, c bench.Cell) (bench.Result, error)
}

// Event tells that one measurement is finished.
type Event struct {
	Result  bench.Result
	Round   int // from 1
	Rounds  int
	Index   int // of the cell, from 1
	Of      int
	Skipped bool // not measured in this round, because an earlier round did not pass
}

// Options say how to measure. The zero value measures every cell once.
type Options struct {
	// Repeats is the number of rounds. All cells are measured in a round before
	// the next round starts, so that a disturbance of some seconds hits one
	// value of several cells and not all values of one. Zero means 1.
	Repeats int
	// Journal, if not nil, is called with each measurement as soon as it is
	// finished. Its error ends the run: what is not written down did not happen.
	Journal func(bench.Result) error
	// Progress, if not nil, is called after Journal, on the same goroutine.
	Progress func(Event)
}

// Run measures the cells and returns one merged result per cell, in the order
// of cells. On an error the results finished so far are in the journal only.
func Run(ctx context.Context, m Measurer, cells []bench.Cell, o Options) ([]bench.Result, error) {
	if len(cells) == 0 {
		return nil, ErrNoCells
	}
	rounds := max(o.Repeats, 1)
	results := make([]bench.Result, len(cells))
	for round := 1; round <= rounds; round++ {
		for i, cell := range cells {
			event := Event{Round: round, Rounds: rounds, Index: i + 1, Of: len(cells)}
			if round > 1 && results[i].Outcome != bench.Passed {
				event.Result, event.Skipped = results[i], true
				o.progress(event)
				continue
			}
			result, err := o.measure(ctx, m, cell)
			if err != nil {
				return nil, fmt.Errorf("measure %s: %w", cell.ID(), err)
			}
			merge(&results[i], result)
			event.Result = result
			o.progress(event)
		}
	}
	for i := range results {
		complete(&results[i], rounds)
	}
	return results, nil
}

// complete fails a cell that did not report each of its metrics in every round:
// the median of fewer values would pass for that of all.
func complete(r *bench.Result, rounds int) {
	if r.Outcome != bench.Passed {
		return
	}
	for _, s := range r.Samples {
		if len(s.Values) != rounds {
			r.Outcome = bench.Failed
			r.Reason = fmt.Sprintf("printed %s in %d of %d runs", s.Metric, len(s.Values), rounds)
			return
		}
	}
}

func (o *Options) progress(e Event) {
	if o.Progress != nil {
		o.Progress(e)
	}
}

func (o *Options) measure(ctx context.Context, m Measurer, cell bench.Cell) (bench.Result, error) {
	if err := ctx.Err(); err != nil {
		return bench.Result{}, err
	}
	result, err := m.Measure(ctx, cell)
	if err != nil {
		return result, err
	}
	result.Cell = cell
	if o.Journal != nil {
		if err := o.Journal(result); err != nil {
			return result, fmt.Errorf("write the journal: %w", err)
		}
	}
	return result, nil
}

// merge adds a round's result to what the earlier rounds yielded. The values
// of a metric are appended; the texts are those of the last round, and a round
// that did not pass replaces the outcome and ends the cell.
func merge(into *bench.Result, r bench.Result) {
	samples, wall := into.Samples, into.WallMS
	*into = r
	into.WallMS += wall
	for _, s := range r.Samples {
		if old := find(samples, s.Metric); old != nil {
			old.Values = append(old.Values, s.Values...)
			continue
		}
		samples = append(samples, s)
	}
	into.Samples = samples
}

func find(samples []bench.Sample, metric string) *bench.Sample {
	for i := range samples {
		if samples[i].Metric == metric {
			return &samples[i]
		}
	}
	return nil
}
