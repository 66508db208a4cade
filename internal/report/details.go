package report

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// folded is what a reader opens: first what explains a failure, then the rest.
func (r *Report) folded(c caps) []section {
	maximum := c.folded
	var sections []section
	add := func(title string, n int, blocks ...block) {
		if n > 0 {
			sections = append(sections, section{title: title, blocks: blocks})
		}
	}
	s := &r.shown
	outputs, n := r.outputs()
	add(text.Plural(n, "failure")+": answer and log", n, outputs...)
	title, operators, n := r.operators()
	add(title, n, operators...)
	sections = append(sections, r.addedSections(maximum)...)
	title, waivers, n := r.waivers(maximum)
	add(title, n, waivers...)
	isolated, n := r.quarantine(maximum)
	add(text.Plural(n, "cell")+" in quarantine.yml", n, isolated)
	budgets, n := r.budgets(maximum)
	add(r.budgetTitle(n), n, budgets)
	add(text.Plural(s.speeds.total, "speed")+", the largest loss first", s.speeds.total, r.speedTable(maximum))
	add(fmt.Sprintf("%d improved or fixed", s.better.total), s.better.total, r.betterTable(maximum))
	add(fmt.Sprintf("%d not in the baseline", s.untracked.total), s.untracked.total,
		append([]block{r.untrackedTable(maximum)}, r.recordUntracked()...)...)
	add(fmt.Sprintf("%d measured, speed not judged", s.unjudged.total), s.unjudged.total, r.unjudgedTable(maximum))
	add(fmt.Sprintf("%d skipped", s.skipped.cells), s.skipped.cells, r.groupTable(&s.skipped, maximum))
	warnings, n := r.warnings(maximum)
	add(text.Plural(n, "warning"), n, warnings)
	add("Facts about the run", len(r.hosts), r.facts()...)
	return sections
}

// speedTable has all speeds, each with its verdict. The reasons of those that are listed above
// stand there.
func (r *Report) speedTable(maximum int) block {
	l := &r.shown.speeds
	t := &table{total: l.total, notes: true, columns: r.columns("Cell", "Metric", "Baseline → now>", "Change>", "Verdict", "Evidence~")}
	for _, f := range l.rows[:min(maximum, len(l.rows))] {
		why := evidence(f)
		if f.Standing() < 3 {
			why = only(plain(cmp.Or(basis(&f.Evidence), "–")))
		}
		t.rows = append(t.rows, r.row(f, metricName(f), r.values(f), r.changeCell(f), only(plain(f.word())), why))
	}
	return r.withHistory(t, l.rows)
}

// changeCell is the change of a finding in a cell of a table.
func (r *Report) changeCell(f finding) inline {
	size, more := r.changed(f)
	return only(plain(size + more))
}

func (r *Report) betterTable(maximum int) block {
	l := &r.shown.better
	t := &table{total: l.total, columns: r.columns("Cell", "Metric", "Baseline → now>", "Change>")}
	for _, f := range l.rows[:min(maximum, len(l.rows))] {
		change := r.changeCell(f)
		if f.Finding == gate.Fixed {
			change = only(plain("fixed"))
		}
		t.rows = append(t.rows, r.row(f, metricName(f), r.values(f), change))
	}
	return r.withHistory(t, l.rows)
}

// untrackedTable shows the numbers of a cell, since no comparison does.
func (r *Report) untrackedTable(maximum int) block {
	l := &r.shown.untracked
	t := &table{total: l.total, columns: r.columns("Cell", "Measured~")}
	for _, f := range l.rows[:min(maximum, len(l.rows))] {
		t.rows = append(t.rows, r.row(f, r.measured(f)))
	}
	return t
}

func (r *Report) measured(f finding) inline {
	const maximum = 6
	h := &r.hosts[f.host]
	var cell inline
	result := h.results[f.Cell]
	switch {
	case result == nil:
		return none
	case result.Outcome != bench.Passed: // TensorSharp's rules let it pass
		return append(inline{bold(cmp.Or(causes[result.Cause], "failed")), plain("; ")}, evidence(f)...)
	}
	for i := range result.Samples {
		s := &result.Samples[i]
		if f.Metric != "" && f.Metric != s.Metric || len(cell) >= 4*maximum || len(s.Values) == 0 {
			continue
		}
		if len(cell) > 0 {
			cell = append(cell, plain(", "))
		}
		cell = append(cell, code(s.Metric), plain(" "+spread(s.Values)))
		if m := h.metrics[s.Metric]; m != nil && m.Unit != "" {
			cell = append(cell, reason(" "+m.Unit))
		}
	}
	if len(cell) == 0 {
		return none
	}
	return cell
}

// spread is the value, or the lowest and the highest of several.
func spread(values []float64) string {
	lo, hi := slices.Min(values), slices.Max(values)
	if lo == hi || math.IsNaN(lo) {
		return number(lo)
	}
	return number(lo) + " … " + number(hi)
}

func (r *Report) unjudgedTable(maximum int) block {
	l := &r.shown.unjudged
	rows := l.rows[:min(maximum, len(l.rows))]
	columns := []string{"Cell", "Metric", "Baseline → now>"}
	own := slices.ContainsFunc(rows, func(f finding) bool { return !r.hosts[f.host].notJudged() && f.Reason != "" })
	if own { // else the host has one reason for all
		columns = append(columns, "Reason~")
	}
	t := &table{total: l.total, columns: r.columns(columns...)}
	for _, f := range rows {
		cells := []inline{metricName(f), r.values(f)}
		if own {
			cells = append(cells, only(reason(f.Reason)))
		}
		t.rows = append(t.rows, r.row(f, cells...))
	}
	return r.withHistory(t, l.rows)
}
