// Package jsonl judges cells that another tool measured: it reads them from lines
// of JSON and says of each what package detect does. It reads no suite, no host
// and no policy, and decides nothing beyond that.
//
// A [Set] reads lines, which are hostile, reduces each to the samples that are
// judged, and judges them all at its end: a group is known when the last line is.
package jsonl

import (
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/detect"
)

// trial is a line: what was measured of one cell. A NaN stands for a missing
// value, which is null in a line.
type trial struct {
	ID    string // unique within the group
	Group string // cells that are judged together; "" is alone
	// HigherIsBetter means that a higher value is better.
	HigherIsBetter bool
	// History are earlier runs, the oldest first, each with the values of its fresh
	// processes. Pairs need none.
	History [][]float64
	// Baseline and Candidate are the values of the old and of the new code, each of a
	// fresh process. Paired says that the first of both were measured alternately, and
	// so on; otherwise Baseline is the newest run of the history.
	Baseline, Candidate []float64
	Paired              bool
}

// sample is a trial as it is judged.
type sample struct {
	cell detect.Cell
	// sessions is how many runs the base of a history is of, 0 of pairs.
	sessions int
	// shape is equal for cells that may be of the same runs.
	shape [4]int
}

// span is how much of a history detect looks at.
const span = 40

// reduce makes samples of a trial. Without several values in any run of the
// history, all values are samples: those of the baseline are taken for its newest
// runs. Otherwise the baseline is one run, as the others are, and the candidate
// another.
func (t *trial) reduce(o Options) sample {
	s := sample{cell: detect.Cell{Options: detect.Options{HigherIsBetter: t.HigherIsBetter, MinEffect: o.MinEffect, Alpha: o.Alpha}}}
	if t.Paired {
		s.cell.Options.Mode = detect.Interleaved
		s.cell.Base, s.cell.Head = slices.Clone(t.Baseline), slices.Clone(t.Candidate)
		return s
	}
	runs := t.History
	several := slices.ContainsFunc(runs, func(r []float64) bool { return len(r) > 1 })
	if several && len(t.Baseline) > 0 {
		runs = append(slices.Clip(runs), t.Baseline)
	}
	base, head := detect.Sessions(runs, t.Candidate, several)
	if !several {
		base = append(base, t.Baseline...)
	}
	s.sessions = t.sessions()
	s.shape = [4]int{len(t.History), len(t.Baseline), len(base), len(head)}
	s.cell.Base, s.cell.Head = slices.Clone(base[max(0, len(base)-span):]), slices.Clone(head)
	return s
}

// sessions counts the runs that have something usable.
func (t *trial) sessions() (n int) {
	for _, run := range append(slices.Clip(t.History), t.Baseline) {
		if slices.ContainsFunc(run, func(v float64) bool { return v > 0 && !math.IsInf(v, 1) }) {
			n++
		}
	}
	return n
}
