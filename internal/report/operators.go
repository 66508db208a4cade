package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// operators explains the worst cells whose time changed: by what the case file
// recorded where there is such a comparison, else by the breakdowns of run and
// baseline.
func (r *Report) operators() (title string, blocks []block, n int) {
	const most = 3
	type place struct {
		host int
		cell string
	}
	seen := map[place]bool{}
	noun := "slower cell"
	for _, f := range slices.Concat(r.shown.action.rows, r.shown.undecided.rows, r.shown.excused.rows) {
		at := place{f.host, f.Cell}
		if n == most || seen[at] {
			continue
		}
		explanation := r.explain(f)
		if explanation == nil {
			continue
		}
		seen[at] = true
		n++
		blocks = append(blocks, explanation...)
		if f.Finding != gate.Regressed {
			noun = "cell"
		}
	}
	return "Where the time went in " + text.Plural(n, noun), blocks, n
}

// explain is nil where nothing is known of a cell's parts.
func (r *Report) explain(f finding) []block {
	h := &r.hosts[f.host]
	switch {
	case f.Finding == gate.Regressed && f.Blocks:
	case f.Finding == gate.Improved, f.Finding == gate.Unrecorded, f.Finding == gate.Drifted, f.Finding == gate.PartsDiffer,
		f.Finding == gate.Incorrect && f.Metric != "":
	default:
		return nil
	}
	if c := h.checks[f.Cell]; c != nil && len(c.Operators.Rows) > 0 {
		head := inline{code(f.Cell), plain(": operators; a plus is slower")}
		if ofFile(c.Operators.Of) {
			head = inline{code(f.Cell), plain(": operators vs " + c.Operators.Of + "; a plus is slower")}
		}
		return []block{paragraph(head), partTable(c, f.Finding)}
	}
	result := h.results[f.Cell]
	if result == nil || len(result.Breakdowns) == 0 {
		return nil
	}
	now := &result.Breakdowns[0]
	return []block{paragraph{code(f.Cell), plain(": "), reason(now.Title)}, operatorTable(now, sameTitle(h.olds[f.Cell], now.Title))}
}

// part is an operator's place in the change of a total, in steps of a scale.
type part struct {
	old, now, change int64
	byCalls          int64
	split            bool  // whether byCalls is known
	share            int64 // of the change, in tenths of a percent
}

// partTable shows the operators that explain the change of a total. Its last
// row is the total, and the row before it holds all that is not shown, so that
// each column of differences adds up as it is written.
func partTable(c *gate.Check, found gate.Finding) *table {
	const most = 5
	rows, worth := worstParts(&c.Operators, found)
	s := scaleOf(c)
	total := s.total(c)
	rest := total
	t := &table{columns: columns("Operator", "Recorded>", "Now>", "Change>", "Calls (old → new)>", "By calls>", "Per call>",
		"Share of the change>")}
	shown := rows[:min(most, worth)]
	for _, row := range shown {
		p := s.part(c, row)
		rest.subtract(p)
		t.rows = append(t.rows, s.row(operatorName(row), p, calls(row), c))
	}
	other := "other"
	if n := len(rows) - len(shown); n > 0 {
		other += " (" + text.Plural(n, "operator") + ")"
	}
	t.rows = append(t.rows, s.row(only(plain(other)), rest, none, c), s.row(only(bold("total")), total, none, c))
	t.total = len(t.rows)
	return t
}

// worstParts orders the operators: those that moved most or, where it is the
// operators that differ, those that do not pass. The first n are worth a row.
func worstParts(o *gate.OperatorCheck, found gate.Finding) (rows []*gate.OperatorRow, n int) {
	for i := range o.Rows {
		if row := &o.Rows[i]; row.Change != gate.OperatorOther {
			rows = append(rows, row)
			if row.DeltaPS != 0 || row.Status != gate.OperatorsPass {
				n++
			}
		}
	}
	passes := func(row *gate.OperatorRow) int {
		if row.Status != gate.OperatorsPass && (found == gate.PartsDiffer || row.DeltaPS == 0) {
			return 0
		}
		return 1
	}
	slices.SortStableFunc(rows, func(a, b *gate.OperatorRow) int {
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
func (s scale) total(c *gate.Check) part {
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

func (s scale) part(c *gate.Check, row *gate.OperatorRow) part {
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
func scaleOf(c *gate.Check) scale {
	largest := magnitude(c.Operators.DeltaPS)
	for i := range c.Operators.Rows {
		largest = max(largest, magnitude(c.Operators.Rows[i].DeltaPS))
	}
	return scaleFor(magnitude(picoseconds(c.Actual, c.Unit)), largest, c.Unit)
}

// shares reports whether the total has changed enough, by a thousandth, for
// parts of that change to mean anything.
func shares(c *gate.Check) bool {
	return magnitude(c.Operators.DeltaPS) > magnitude(picoseconds(c.Actual, c.Unit))/1000
}

func (s scale) row(name inline, p part, calls inline, c *gate.Check) []inline {
	byCalls, perCall, share := none, none, none
	if p.split {
		byCalls, perCall = s.signed(p.byCalls), s.signed(p.change-p.byCalls)
	}
	if shares(c) {
		share = only(plain(fmt.Sprintf("%.1f %%", float64(p.share)/10)))
	}
	return []inline{name, s.write(p.old), s.write(p.now), s.signed(p.change), calls, byCalls, perCall, share}
}

func operatorName(row *gate.OperatorRow) inline {
	name := only(code(row.Name))
	if row.Change != gate.OperatorKept {
		name = append(name, plain(" ("), reason(string(row.Change)), plain(")"))
	}
	return name
}

// calls writes those of both sides: "?" where a side has the operator and does
// not tell them.
func calls(row *gate.OperatorRow) inline {
	side := func(calls int64, without gate.OperatorChange) string {
		switch {
		case calls != 0:
			return fmt.Sprint(calls)
		case row.Change == without:
			return "–"
		}
		return "?"
	}
	if row.OldCalls == 0 && row.NewCalls == 0 {
		return none
	}
	return only(plain(side(row.OldCalls, gate.OperatorNew) + " → " + side(row.NewCalls, gate.OperatorMissing)))
}
