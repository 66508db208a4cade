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
	most := c.folded
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
	title, curves, n := r.curves()
	add(title, n, curves...)
	add("Kernels by definition", len(r.kernels.list), r.kernelTable(most))
	title, waivers, n := r.waivers(most)
	add(title, n, waivers...)
	isolated, n := r.quarantine(most)
	add(text.Plural(n, "cell")+" in quarantine.yml", n, isolated)
	budgets, n := r.budgets(most)
	add(r.budgetTitle(n), n, budgets)
	if c.open {
		add(text.Plural(s.speeds.total, "speed")+", the largest loss first", s.speeds.total, r.speedTable(most))
	} else {
		add(text.Plural(s.judged.total, "judged speed")+", the largest loss first", s.judged.total, r.judgedTable(most))
	}
	add(fmt.Sprintf("%d improved or fixed", s.better.total), s.better.total, r.betterTable(most))
	add(fmt.Sprintf("%d not in the baseline", s.untracked.total), s.untracked.total, append([]block{r.untrackedTable(most)}, r.recordUntracked()...)...)
	add(fmt.Sprintf("%d measured, speed not judged", s.unjudged.total), s.unjudged.total, r.unjudgedTable(most))
	add("Not blocking: "+text.Plural(s.known.total, "finding"), s.known.total, r.reasonTable(&s.known, most))
	add(fmt.Sprintf("%d skipped", s.skipped.cells), s.skipped.cells, r.groupTable(&s.skipped, most))
	if whole := r.wholeReasons(); whole != nil {
		sections = append(sections, section{title: text.Plural(len(whole), "reason") + " that the tables cut", blocks: []block{whole}, narrow: true})
	}
	warnings, n := r.warnings(most)
	add(text.Plural(n, "warning"), n, warnings)
	add("Facts about the run", len(r.hosts), r.facts()...)
	return sections
}

func (r *Report) judgedTable(most int) block {
	l := &r.shown.judged
	t := &table{total: l.total, brief: true, columns: r.columns("Cell", "Metric", "Baseline → now>", "Change>", "Evidence~")}
	for _, f := range l.rows[:min(most, len(l.rows))] {
		t.rows = append(t.rows, r.row(f, metricName(f), r.values(f),
			r.changeCell(f), evidence(f)))
	}
	return r.withHistory(t, l.rows)
}

// speedTable has the speeds that are not decided beside those that are, each with its verdict.
func (r *Report) speedTable(most int) block {
	l := &r.shown.speeds
	t := &table{total: l.total, columns: r.columns("Cell", "Metric", "Baseline → now>", "Change>", "Verdict", "Evidence~")}
	for _, f := range l.rows[:min(most, len(l.rows))] {
		why := evidence(f)
		if f.Class == gate.Inconclusive { // its reason stands among what does not block
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

func (r *Report) betterTable(most int) block {
	l := &r.shown.better
	t := &table{total: l.total, columns: r.columns("Cell", "Metric", "Baseline → now>", "Change>")}
	for _, f := range l.rows[:min(most, len(l.rows))] {
		change := r.changeCell(f)
		if f.Class == gate.Fixed {
			change = only(plain("fixed"))
		}
		t.rows = append(t.rows, r.row(f, metricName(f), r.values(f), change))
	}
	return r.withHistory(t, l.rows)
}

// untrackedTable shows the numbers of a cell, since no comparison does.
func (r *Report) untrackedTable(most int) block {
	l := &r.shown.untracked
	t := &table{total: l.total, columns: r.columns("Cell", "Measured~")}
	for _, f := range l.rows[:min(most, len(l.rows))] {
		t.rows = append(t.rows, r.row(f, r.measured(f)))
	}
	return t
}

func (r *Report) measured(f finding) inline {
	const most = 6
	h := &r.hosts[f.host]
	var cell inline
	result := h.results[f.Cell]
	switch {
	case result == nil:
		return none
	case result.Outcome != bench.Passed: // TensorSharp's rules let it pass
		return append(inline{strong(cmp.Or(causes[result.Cause], "failed")), plain("; ")}, evidence(f)...)
	}
	for i := range result.Samples {
		s := &result.Samples[i]
		if f.Metric != "" && f.Metric != s.Metric || len(cell) >= 4*most || len(s.Values) == 0 {
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

func (r *Report) unjudgedTable(most int) block {
	l := &r.shown.unjudged
	t := &table{total: l.total, columns: r.columns("Cell", "Metric", "Baseline → now>")}
	for _, f := range l.rows[:min(most, len(l.rows))] {
		t.rows = append(t.rows, r.row(f, metricName(f), r.values(f)))
	}
	return r.withHistory(t, l.rows)
}

func (r *Report) reasonTable(l *list, most int) block {
	t := &table{total: l.total, brief: true, columns: r.columns("Cell", "What", "Reason~")}
	for _, f := range l.rows[:min(most, len(l.rows))] {
		why := evidence(f)
		if f.hasChange() || f.Class == gate.Regressed && r.hosts[f.host].ofCase(f.Verdict) {
			why = append(append(r.change(f), plain("; ")), why...)
		}
		t.rows = append(t.rows, r.row(f, only(plain(f.word())), why))
	}
	return r.withHistory(t, l.rows)
}

// wholeReasons lists what the cells of tables that need action, or do not block, are
// too narrow for, each once.
func (r *Report) wholeReasons() bullets {
	const most = 20
	var items bullets
	seen := map[string]bool{}
	for _, f := range slices.Concat(r.shown.action.single(maxAction), r.shown.known.rows) {
		why := reason(f.because())
		if f.alike != nil {
			why = reason(f.alike.Reason)
		}
		if !why.isLong() || seen[why.text] || len(items) == most {
			continue
		}
		seen[why.text] = true
		items = append(items, r.on(f, append(append(f.cell(), plain(": ")), why)))
	}
	return items
}
