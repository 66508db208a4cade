package cases

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// parts shows the operators that explain what a verdict found.
func parts(c *compat.Check, v *gate.Verdict) (t report.Text) {
	if len(c.Operators.Rows) == 0 {
		return t
	}
	of := ""
	if compat.OfFile(c.Operators.Of) {
		of = " vs " + c.Operators.Of
	}
	t.Line(report.Code(v.Cell), report.Plain(": operators"+of+"; a plus is slower"))
	addParts(&t, c, v.Finding)
	return t
}

// part is an operator's place in the change of a total, in steps of a scale.
type part struct {
	old, now, change int64
	byCalls          int64
	split            bool  // whether byCalls is known
	share            int64 // of the change, in tenths of a percent
}

// addParts adds a table of the operators that explain the change of a total. Its last
// row is the total, and the row before it holds all that is not shown, so that
// each column of differences adds up as it is written.
func addParts(t *report.Text, c *compat.Check, found gate.Finding) {
	const maximum = 5
	rows, worth := worstParts(&c.Operators, found)
	s := scaleOf(c)
	total := s.total(c)
	rest := total
	shown := rows[:min(maximum, worth)]
	var lines [][]report.Line
	for _, row := range shown {
		p := s.part(c, row)
		rest.subtract(p)
		lines = append(lines, s.row(operatorName(row), p, calls(row), c))
	}
	other := "other"
	if n := len(rows) - len(shown); n > 0 {
		other += " (" + text.Plural(n, "operator") + ")"
	}
	lines = append(lines, s.row(report.Only(report.Plain(other)), rest, report.None(), c),
		s.row(report.Only(report.Bold("total")), total, report.None(), c))
	t.Table([]string{"Operator", "Recorded>", "Now>", "Change>", "Calls (old → new)>", "By calls>", "Per call>", "Share of the change>"},
		lines, len(lines))
}

// worstParts orders the operators: those that moved most or, where it is the
// operators that differ, those that do not pass. The first n are worth a row.
func worstParts(o *compat.OperatorCheck, found gate.Finding) (rows []*compat.OperatorRow, n int) {
	for i := range o.Rows {
		if row := &o.Rows[i]; row.Change != compat.OperatorOther {
			rows = append(rows, row)
			if row.DeltaPS != 0 || row.Status != compat.OperatorsPass {
				n++
			}
		}
	}
	passes := func(row *compat.OperatorRow) int {
		if row.Status != compat.OperatorsPass && (found == gate.PartsDiffer || row.DeltaPS == 0) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(rows, func(a, b *compat.OperatorRow) int {
		moved := cmp.Compare(magnitude(b.DeltaPS), magnitude(a.DeltaPS))
		if found == gate.PartsDiffer {
			return cmp.Or(cmp.Compare(passes(a), passes(b)), moved, cmp.Compare(a.Name, b.Name))
		}
		return cmp.Or(moved, cmp.Compare(passes(a), passes(b)), cmp.Compare(a.Name, b.Name))
	})
	return rows, n
}

// total is the change as a whole. By calls and per call are known only if the
// operators are all of it.
func (s scale) total(c *compat.Check) part {
	var sum, byCalls int64
	split := true
	for i := range c.Operators.Rows {
		row := &c.Operators.Rows[i]
		sum += row.DeltaPS
		byCalls += row.ByCallsPS
		split = split && row.ByCallsPS+row.ByCostPS == row.DeltaPS
	}
	p := part{now: s.steps(picoseconds(c.Actual, c.Unit)), change: s.steps(c.Operators.DeltaPS), byCalls: s.steps(byCalls),
		split: split && sum == c.Operators.DeltaPS, share: 1000}
	p.old = p.now - p.change
	return p
}

func (s scale) part(c *compat.Check, row *compat.OperatorRow) part {
	p := part{old: s.steps(picoseconds(row.Old, c.Unit)), now: s.steps(picoseconds(row.New, c.Unit)), change: s.steps(row.DeltaPS),
		byCalls: s.steps(row.ByCallsPS), split: row.ByCallsPS+row.ByCostPS == row.DeltaPS}
	if odd := p.now - p.change - p.old; odd == 1 || odd == -1 { // rounding alone
		p.old += odd
	}
	if shares(c) {
		p.share = int64(math.Round(float64(row.DeltaPS) / float64(c.Operators.DeltaPS) * 1000))
	}
	return p
}

func (p *part) subtract(q part) {
	p.old -= q.old
	p.now -= q.now
	p.change -= q.change
	p.byCalls -= q.byCalls
	p.split = p.split && q.split
	p.share -= q.share
}

// scaleOf is for a check's table, in which parts may move more than their sum.
func scaleOf(c *compat.Check) scale {
	largest := magnitude(c.Operators.DeltaPS)
	for i := range c.Operators.Rows {
		largest = max(largest, magnitude(c.Operators.Rows[i].DeltaPS))
	}
	return scaleFor(magnitude(picoseconds(c.Actual, c.Unit)), largest, c.Unit)
}

// shares reports whether the total has changed enough, by a thousandth, for
// parts of that change to mean anything.
func shares(c *compat.Check) bool {
	return magnitude(c.Operators.DeltaPS) > magnitude(picoseconds(c.Actual, c.Unit))/1000
}

func (s scale) row(name report.Line, p part, calls report.Line, c *compat.Check) []report.Line {
	byCalls, perCall, share := report.None(), report.None(), report.None()
	if p.split {
		byCalls, perCall = s.signed(p.byCalls), s.signed(p.change-p.byCalls)
	}
	if shares(c) {
		share = report.Only(report.Plain(fmt.Sprintf("%.1f %%", float64(p.share)/10)))
	}
	return []report.Line{name, s.write(p.old), s.write(p.now), s.signed(p.change), calls, byCalls, perCall, share}
}

func operatorName(row *compat.OperatorRow) report.Line {
	name := report.Only(report.Code(row.Name))
	if row.Change != compat.OperatorKept {
		name = append(name, report.Plain(" ("), report.Foreign(string(row.Change)), report.Plain(")"))
	}
	return name
}

// calls writes those of both sides: "?" where a side has the operator and does
// not tell them.
func calls(row *compat.OperatorRow) report.Line {
	side := func(calls int64, without compat.OperatorChange) string {
		switch {
		case calls != 0:
			return fmt.Sprint(calls)
		case row.Change == without:
			return "–"
		}
		return "?"
	}
	if row.OldCalls == 0 && row.NewCalls == 0 {
		return report.None()
	}
	return report.Only(report.Plain(side(row.OldCalls, compat.OperatorNew) + " → " + side(row.NewCalls, compat.OperatorMissing)))
}

// largest names the operator that has the largest part in the change of a
// cell's total: "mostly matmul: +12 ms, 85 %"; nil if none has. The change may be the
// one from another reference, whose operators were recorded; then the line names it.
func largest(c *compat.Check, v *gate.Verdict) report.Line {
	if v.Metric != c.Metric || !shares(c) || !explains(&c.Operators, v.Finding) {
		return nil
	}
	row := largestPart(&c.Operators)
	if row == nil {
		return nil
	}
	what, share := "largest part ", float64(row.DeltaPS)/float64(c.Operators.DeltaPS)
	if share >= 0.5 {
		what = "mostly "
	}
	line := append(report.Line{report.Plain(what), report.Code(row.Name), report.Plain(": ")}, amount(row.DeltaPS, c.Unit)...)
	line = append(line, report.Plain(", "+whole(share)))
	if of := c.Operators.Of; compat.OfFile(of) && of != v.Reference {
		line = append(line, report.Plain(" of the change vs "+of))
	}
	return line
}

// explains reports whether the operators, as a whole, moved as the finding says.
func explains(o *compat.OperatorCheck, found gate.Finding) bool {
	switch found {
	case gate.Regressed, gate.Drifted:
		return o.DeltaPS > 0
	case gate.Improved, gate.Unrecorded:
		return o.DeltaPS < 0
	}
	return false
}

// largestPart is the operator that moved furthest into the direction of the
// total, or nil if none did.
func largestPart(o *compat.OperatorCheck) *compat.OperatorRow {
	var largest *compat.OperatorRow
	for i := range o.Rows {
		row := &o.Rows[i]
		if row.Change == compat.OperatorOther || row.DeltaPS == 0 || (row.DeltaPS > 0) != (o.DeltaPS > 0) {
			continue
		}
		if largest == nil || magnitude(row.DeltaPS) > magnitude(largest.DeltaPS) {
			largest = row
		}
	}
	return largest
}
