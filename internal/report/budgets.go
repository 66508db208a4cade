package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// eachBudget calls f for the verdict on each budget of each host.
func (r *Report) eachBudget(f func(finding, *gate.Spent)) {
	for i := range r.hosts {
		h := &r.hosts[i]
		for k := range h.Comparison.Verdicts {
			if v := &h.Comparison.Verdicts[k]; v.Budget > 0 {
				f(finding{host: i, Verdict: v}, &h.Comparison.Budgets[v.Budget-1])
			}
		}
	}
}

// budgetOf is "mean of 8 cells of suite `s` (backend: cuda)".
func (r *Report) budgetOf(f finding) inline {
	s := &r.hosts[f.host].Comparison.Budgets[f.Budget-1]
	cells := text.Plural(s.Cells, "cell")
	if s.Cells != s.Of {
		cells = fmt.Sprintf("%d of %s", s.Cells, text.Plural(s.Of, "cell"))
	}
	line := inline{plain("mean of " + cells)}
	if s.Suite != "" {
		line = append(line, plain(" of suite "), code(s.Suite))
	}
	if s.When != "" {
		line = append(line, plain(" ("), code(s.When), plain(")"))
	}
	return line
}

// openBudgets says which budgets could not be judged, and why.
func (r *Report) openBudgets() []block {
	var blocks []block
	n := 0
	r.eachBudget(func(f finding, _ *gate.Spent) {
		if f.Class == gate.Unchanged || f.Level == gate.Fail || f.Level == gate.Off || f.Advisory {
			return
		}
		if n++; n <= maxCautions {
			line := append(inline{strong("Budget not decided"), plain(": "), code(f.Metric), plain(", ")}, r.budgetOf(f)...)
			blocks = append(blocks, paragraph(r.on(f, append(line, plain(", limit "+bare(f.Evidence.Limit)+": "), reason(f.Reason)))))
		}
	})
	return withRest(blocks, n, "budget", "budgets")
}

// budgets is the table of all budgets.
func (r *Report) budgets(most int) (block, int) {
	t := &table{columns: r.columns("Budget", "Metric", "Baseline → now>", "Change>", "Limit>", "Verdict", "Evidence~")}
	r.eachBudget(func(f finding, s *gate.Spent) {
		if t.total++; len(t.rows) >= most {
			return
		}
		change, values, why := none, none, evidence(f)
		if ofSpeed(f.Verdict) {
			change, values = r.changeCell(f), r.values(f)
		}
		if s.LeftOut != "" {
			why = append(why, plain("; without "), reason(s.LeftOut))
		}
		row := r.row(f, metricName(f), values, change, only(plain(bare(f.Evidence.Limit))), only(plain(f.word())), why)
		row[0] = r.budgetOf(f)
		t.rows = append(t.rows, row)
	})
	return t, t.total
}

// overBudget is the clause of the title on budgets that block.
func (r *Report) overBudget() string {
	over := 0
	r.eachBudget(func(f finding, _ *gate.Spent) { over += one(f.Level == gate.Fail && f.Class == gate.OverBudget) })
	var parts []string
	for _, n := range []struct {
		count     int
		one, many string
	}{{over, "1 budget is exceeded", "%d budgets are exceeded"}, {r.total.budgets - over, "1 budget cannot be judged", "%d budgets cannot be judged"}} {
		switch n.count {
		case 0:
		case 1:
			parts = append(parts, n.one)
		default:
			parts = append(parts, fmt.Sprintf(n.many, n.count))
		}
	}
	return enumerate(parts)
}

// overBudgets says how to look into a budget that is exceeded, and how to accept it.
func (r *Report) overBudgets() bullets {
	var items bullets
	r.eachBudget(func(f finding, s *gate.Spent) {
		if items != nil || f.Level != gate.Fail || f.Class != gate.OverBudget {
			return
		}
		h := &r.hosts[f.host]
		if len(s.Worst) > 0 && len(s.Worst[0].Cell) <= typable {
			items = append(items, r.on(f, inline{plain("See what the cell that lost most of the budget rests on: "), command("accelgate explain " + text.ShellQuote(s.Worst[0].Cell))}))
		}
		if f.Evidence.Mode == detect.Interleaved {
			items = append(items, inline{plain("To accept the loss, raise "), code("loss"), plain(" of the budget in the configuration; no waiver accepts it")})
			return
		}
		items = append(items, r.on(f, inline{plain("Accept the loss of the budget as the new baseline (records only the cells that passed): "), command(h.update("why it is accepted") + force)}))
	})
	return items
}

// BudgetDocument is a [gate.Spent] with the sign that a document has for a change.
type BudgetDocument struct {
	gate.Spent
	Worst []CellChangeDocument `json:"worst,omitempty"`
}

// CellChangeDocument is the change of one cell, a fraction in the metric's own sign.
type CellChangeDocument struct {
	Cell   string  `json:"cell"`
	Change float64 `json:"change"`
}

func (h *host) budgetDocuments() []BudgetDocument {
	var list []BudgetDocument
	for _, s := range h.Comparison.Budgets {
		better := bench.Higher
		if m := h.metrics[s.Metric]; m != nil {
			better = m.Better
		}
		d := BudgetDocument{Spent: s}
		d.Loss = finite(d.Loss)
		for _, w := range s.Worst {
			d.Worst = append(d.Worst, CellChangeDocument{w.Cell, finite(better.Change(w.Delta)) / 100})
		}
		list = append(list, d)
	}
	return list
}
