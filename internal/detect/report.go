package detect

import (
	"fmt"
	"math"
)

// Cell is one cell of a report.
type Cell struct {
	// Base and Head are those of [Judge]. In History, the last values of all
	// cells' Base are of the same run, as are those before them, and so are the
	// first ones of their Head; NaN stands for a run that lacks the cell.
	Base, Head []float64
	Options    Options // a Cross of 0 is estimated from the report
}

// Report is what [JudgeReport] found.
type Report struct {
	Cells []Evidence // in the order of the cells
	// Host is the evidence on what moved all cells alike, judged by what moved
	// them in earlier runs. It is Untested with fewer than 20 cells of History.
	Host Evidence
	// Shifts are what moved all cells, relative, for each run of the head. It was
	// subtracted from the cells of History, so a change that slows everything
	// down is seen in Host and nowhere else.
	Shifts []float64
	// Cross is the noise of one sample over the cells of History, and PairCross
	// that over the interleaved ones; 0 where there are too few.
	Cross, PairCross float64
}

// minReport is the number of cells from which what moved all of them is known.
const minReport = 20

// JudgeReport judges the cells of one run together. A cell is Regressed if [Judge]
// says so and Holm's procedure over all tested cells holds at falseAlarms (0 is
// [DefaultFalseAlarms]); cells that a lock stops count as p = 1. Of 3 to 9 new runs against
// history, each must be slower by itself, and their joint p counts; the mean of more
// counts as that of runs that resemble each other. A single new run
// against history is never more than [Suspect], because no correction holds
// there with useful power. The order of the cells does not matter. Pairs are
// judged in one stage, by all there are; see [JudgeStages].
func JudgeReport(cells []Cell, falseAlarms float64) Report {
	return judgeReport(cells, falseAlarms, minHeads)
}

func judgeReport(cells []Cell, falseAlarms float64, minimum int) Report {
	r := newReporter(cells, minimum)
	r.common()
	return r.report(falseAlarms)
}

// JudgeGroup is JudgeReport for readers who see the cells and not the host: what moved
// all cells beyond what moved them in earlier runs stays in each of them, because a
// change may have done it. Then Host says so, and Shifts is empty. Where the cause
// of moves in earlier runs is unknown, all of it stays.
func JudgeGroup(cells []Cell, falseAlarms float64) Report {
	return judgeGroup(cells, falseAlarms, minHeads)
}

func judgeGroup(cells []Cell, falseAlarms float64, minimum int) Report {
	r := judgeReport(cells, falseAlarms, minimum)
	switch r.Host.Verdict {
	case Untested:
		if len(r.Shifts) == 0 {
			return r // nothing was taken out of this run
		}
		fallthrough
	case Regressed, Suspect, Improved:
		apart := judgeApart(cells, falseAlarms, minimum)
		apart.Host = r.Host
		return apart
	}
	return r
}

// JudgeApart is JudgeReport for cells that need not be of the same runs: nothing
// is known about common moves, and nothing is taken out.
func JudgeApart(cells []Cell, falseAlarms float64) Report {
	return judgeApart(cells, falseAlarms, minHeads)
}

func judgeApart(cells []Cell, falseAlarms float64, minimum int) Report {
	r := newReporter(cells, minimum)
	r.out.Host = Evidence{Mode: History, Verdict: Untested, Reason: "the cells were not taken for those of one run"}
	return r.report(falseAlarms)
}

type reporter struct {
	cells   []Cell
	rows    []row
	minimum int // new runs that can be Regressed against history
	out     Report
}

func newReporter(cells []Cell, minimum int) *reporter {
	r := &reporter{cells: cells, rows: make([]row, len(cells)), minimum: minimum}
	for i, c := range cells {
		r.rows[i] = newRow(c)
	}
	r.out.Cross, r.out.PairCross = r.cross(History), r.cross(Interleaved)
	return r
}

func (r *reporter) report(falseAlarms float64) Report {
	r.judge()
	r.correct(positive(falseAlarms, DefaultFalseAlarms))
	return r.out
}

// row holds the levels of a cell at their runs, NaN where there is none.
type row struct {
	base  []float64 // of History at most the last rowSpan
	head  []float64
	noise float64 // of one sample, for weights
}

// rowSpan is what the noise of the oldest run that Own looks at needs.
const rowSpan = ownSpan + longBase

func newRow(c Cell) row {
	base := c.Base
	if c.Options.mode() == History {
		base = base[len(base)-min(len(base), rowSpan):]
	}
	r := row{base: aligned(base, c.Options), head: aligned(c.Head, c.Options)}
	own := c.Options.Own
	if own <= 0 {
		own, _ = ownNoise(present(r.base))
	}
	r.noise = prior(own, 0, History)
	return r
}

func aligned(values []float64, o Options) []float64 {
	y := make([]float64, len(values))
	for i, v := range values {
		var ok bool
		if y[i], ok = level(v, o.HigherIsBetter); !ok {
			y[i] = math.NaN()
		}
	}
	return y
}

// present returns the levels that are there.
func present(y []float64) []float64 {
	out := make([]float64, 0, len(y))
	for _, v := range y {
		if !math.IsNaN(v) {
			out = append(out, v)
		}
	}
	return out
}

// cross is the noise over the cells of a mode: from the step between the last
// run and this one, or from the steps within the bases of pairs, which no change
// of the code is in.
func (r *reporter) cross(m Mode) float64 {
	var steps []float64
	cells := 0
	for i, c := range r.cells {
		base, head := r.rows[i].base, r.rows[i].head
		switch {
		case c.Options.mode() != m || len(base) == 0 || len(head) == 0:
			continue
		case m == History:
			steps = append(steps, head[0]-base[len(base)-1])
		default:
			for j := 1; j < len(base); j++ {
				steps = append(steps, base[j]-base[j-1])
			}
		}
		cells++
	}
	if cells < minCross {
		return 0
	}
	noise, _ := Cross(steps)
	return noise
}

func (r *reporter) judge() {
	r.out.Cells = make([]Evidence, len(r.cells))
	for i, c := range r.cells {
		s := r.corrected(i)
		r.out.Cells[i], _ = s.judge(r.options(c))
	}
}

// options are those of a cell, with the noise over the cells.
func (r *reporter) options(c Cell) Options {
	o := c.Options
	if o.Cross <= 0 {
		o.Cross = r.out.Cross
		if o.mode() == Interleaved {
			o.Cross = r.out.PairCross
		}
	}
	return o
}

// correct corrects for the number of cells.
func (r *reporter) correct(falseAlarms float64) {
	var ps []float64
	var at []int
	for i := range r.out.Cells {
		if r.out.Cells[i].Verdict != Untested {
			ps, at = append(ps, 0), append(at, i)
		}
	}
	for j, i := range at {
		ps[j] = r.test(i, falseAlarms/float64(len(at)))
	}
	for j, q := range AdjustHolm(ps) {
		e := &r.out.Cells[at[j]]
		e.Q = q
		e.correct(falseAlarms, r.minimum)
	}
	r.out.Host.significant(minHeads)
}

// test makes the evidence on a cell that of its runs together, and returns the p that
// Holm's procedure takes. alpha is what it asks of the smallest one.
func (r *reporter) test(cell int, alpha float64) float64 {
	e := &r.out.Cells[cell]
	n := len(r.rows[cell].head)
	switch o := r.options(r.cells[cell]); {
	case o.mode() != History || n < r.minimum:
	case n < manyHeads:
		t := r.dependence(cell, o)
		e.dependent(t.p)
		e.MDE = relative(t.mde(alpha))
		return t.p
	default:
		s := r.corrected(cell)
		score, l := s.score(o).inRow(keep(len(s.base)), n), s.limits(o)
		l.strict = min(l.strict, alpha)
		e.P, e.MDE = score.P, relative(score.mde(o, l))
	}
	if !e.Passes {
		return 1
	}
	return e.P
}

// correct takes back what does not hold in the report.
func (e *Evidence) correct(falseAlarms float64, minimum int) {
	if e.significant(minimum); e.Verdict == Regressed && e.Q > falseAlarms {
		e.Verdict = Suspect
		e.Reason = fmt.Sprintf("p %.2g is low, but among so many cells that is worth %.2g, not up to %.2g: measure again", e.P, e.Q,
			falseAlarms)
	}
}

// minHeads is how many new runs can be Regressed against history.
const minHeads = 3

// significant makes too few runs against history a suspicion.
func (e *Evidence) significant(minimum int) {
	if e.Mode == History && e.Verdict == Regressed && e.N < minimum {
		e.Verdict = Suspect
		e.Reason = fmt.Sprintf("%d of the %d new runs that can show a loss against history: measure in pairs, or in more runs", e.N,
			minHeads)
	}
}

// positive returns v, or what stands for it where it was not set.
func positive(v, otherwise float64) float64 {
	if v > 0 {
		return v
	}
	return otherwise
}
