package report

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
)

func (r *Report) actionTable(most int) []block {
	l := &r.shown.action
	if l.total == 0 {
		return nil
	}
	t := &table{total: l.total, columns: r.columns("Cell", "Metric", "Baseline → now>", "Change (+ is better)>", "Limit>", "Evidence~")}
	for _, f := range l.rows[:min(most, len(l.rows))] {
		t.rows = append(t.rows, r.actionRow(f))
	}
	return []block{t}
}

// columns inserts the host after the cell where there are several hosts.
func (r *Report) columns(names ...string) []column {
	if len(r.hosts) > 1 {
		names = slices.Insert(slices.Clone(names), 1, "Host~")
	}
	return columns(names...)
}

// row begins a row of the table whose columns are made by [Report.columns].
func (r *Report) row(f finding, cells ...inline) []inline {
	row := []inline{only(code(f.Cell))}
	if len(r.hosts) > 1 {
		row = append(row, only(code(r.hosts[f.host].Run.Host.Label)))
	}
	return append(row, cells...)
}

func (r *Report) actionRow(f finding) []inline {
	change, limit := only(strong(labels[f.Class].blocking)), none
	if f.Evidence.Method == "threshold" {
		change, limit = inline{strong(percent(f.Delta, f.Evidence.Limit)), plain(interval(f))}, only(plain(bare(f.Evidence.Limit)))
	}
	return r.row(f, metricName(f), r.values(f), change, limit, evidence(f))
}

func metricName(f finding) inline {
	if f.Metric == "" {
		return none
	}
	return only(code(f.Metric))
}

// values is "95.3 → 80.1 tok/s", as far as the verdict has the numbers.
func (r *Report) values(f finding) inline {
	if f.Metric == "" {
		return none
	}
	unit := plain("")
	if m := r.hosts[f.host].metrics[f.Metric]; m != nil && m.Unit != "" {
		unit = reason(" " + m.Unit)
	}
	switch f.Class {
	case gate.Missing:
		return inline{plain(number(f.Old)), unit, plain(" → none")}
	case gate.Untracked:
		return inline{plain("none → " + number(f.New)), unit}
	}
	return inline{plain(number(f.Old) + " → " + number(f.New)), unit}
}

func interval(f finding) string {
	if f.Evidence.NewN < 2 {
		return ""
	}
	limit := f.Evidence.Limit
	return fmt.Sprintf(" (%s … %s)", percent(f.Interval[0], limit), percent(f.Interval[1], limit))
}

func evidence(f finding) inline {
	e := f.Evidence
	if e.Method != "threshold" {
		return only(reason(f.Reason))
	}
	s := fmt.Sprintf("n=%d+%d", e.OldN, e.NewN)
	if e.OldN > 1 || e.NewN > 1 {
		s += ", noise " + rough(e.Noise)
	}
	if f.Reason != "" {
		return inline{plain(s + "; "), reason(f.Reason)}
	}
	return only(plain(s))
}

// next says how to see it again, and how to accept it.
func (r *Report) next() []block {
	if r.shown.action.total == 0 {
		return nil
	}
	items := bullets{r.reproduce()}
	lost := func(f finding) bool { return f.Class == gate.Missing && f.Metric != "" }
	if r.total.blocking[gate.Regressed] > 0 || slices.ContainsFunc(r.shown.action.rows, lost) {
		items = append(items, inline{plain("Accept changed numbers as the new baseline (records only the cells that passed): "),
			command(r.update("why they are accepted") + force)})
	}
	if r.total.blocking[gate.Missing] > 0 || r.total.blocking[gate.Skipped] > 0 {
		items = append(items, inline{plain("Drop cells that were removed on purpose from the baseline: "), command(r.in.Commands.Prune)})
	}
	if r.total.blocking[gate.CorrectnessFailure] > 0 || r.total.blocking[gate.RuntimeFailure] > 0 {
		items = append(items, inline{plain("Wrong answers and crashes cannot be accepted into a baseline: fix them, or take the cell out of the configuration")})
	}
	return []block{items}
}

// reproduce takes the worst cell that still exists and can be typed.
func (r *Report) reproduce() inline {
	const typable = 400 // bytes; a longer id is looked up in the JSON report
	for _, f := range r.shown.action.rows {
		if len(f.Cell) > typable || f.Class == gate.Missing && f.Metric == "" {
			continue
		}
		line := inline{plain("Reproduce the worst cell: "), command(r.in.Commands.Run + " --only " + quote(f.Cell))}
		if len(r.hosts) > 1 {
			line = append(line, plain(" on "), code(r.hosts[f.host].Run.Host.Label))
		}
		return line
	}
	return inline{plain("Reproduce: "), command(r.in.Commands.Run)}
}
