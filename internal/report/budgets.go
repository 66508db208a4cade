package report

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// eachBudget calls f for the verdict on each budget of each host.
func (r *Report) eachBudget(f func(finding, *gate.BudgetResult)) {
	for i := range r.hosts {
		h := &r.hosts[i]
		for k := range h.Comparison.Verdicts {
			if v := &h.Comparison.Verdicts[k]; v.Budget > 0 {
				f(finding{host: i, Verdict: v}, &h.Comparison.Budgets[v.Budget-1])
			}
		}
	}
}

// budgetResultOf is the budget or the fit of a finding.
func (r *Report) budgetResultOf(f finding) *gate.BudgetResult {
	return &r.hosts[f.host].Comparison.Budgets[f.Budget-1]
}

// budgetOf is "mean of 8 cells of suite `s` (backend: cuda)", or "slope over `context` per 1000, 4 cells of
// suite `s` (backend=cuda)".
func (r *Report) budgetOf(f finding) inline {
	s := r.budgetResultOf(f)
	cells := text.Plural(s.Cells, "cell")
	if s.Cells != s.Of {
		cells = fmt.Sprintf("%d of %s", s.Cells, text.Plural(s.Of, "cell"))
	}
	line := inline{plain("mean of " + cells)}
	if s.Fit != nil {
		line = inline{plain(s.Fit.Of + " over "), code(s.Fit.Over)}
		if s.Fit.Per > 0 && s.Fit.Per != 1 {
			line = append(line, plain(" per "+number(s.Fit.Per)))
		}
		line = append(line, plain(", "+cells))
	}
	if s.Suite != "" {
		line = append(line, plain(" of suite "), code(s.Suite))
	}
	if s.When != "" {
		line = append(line, plain(" ("), code(s.When), plain(")"))
	}
	return line
}

// budgetLimit is the limit of a budget, or what limits a fit.
func budgetLimit(f finding) inline {
	if f.Evidence.Min != nil || f.Evidence.Max != nil {
		return limitsIn(f.Verdict)
	}
	return only(plain(bare(f.Evidence.Limit)))
}

// budgets is the table of all budgets and fits.
func (r *Report) budgets(maximum int) (block, int) {
	t := &table{columns: r.columns("Budget or fit", "Metric", "Baseline → now>", "Change>", "Limit>", "Verdict", "Evidence~")}
	r.eachBudget(func(f finding, s *gate.BudgetResult) {
		if t.total++; len(t.rows) >= maximum {
			return
		}
		change, values, why := none, none, r.why(f)
		switch {
		case ofSpeed(f.Verdict):
			change, values = r.changeCell(f), r.values(f)
		case s.Fit != nil && f.Evidence.Method == gate.MethodBound:
			values = r.now(f)
		}
		if s.LeftOut != "" {
			why = append(why, plain("; without "), reason(s.LeftOut))
		}
		row := r.row(f, metricName(f), values, change, budgetLimit(f), only(plain(f.word())), why)
		row[0] = r.budgetOf(f)
		t.rows = append(t.rows, row)
	})
	return t, t.total
}

// overBudget is the clause of the title on budgets that block.
func (r *Report) overBudget() string {
	var over, open, worse, unfit int
	r.eachBudget(func(f finding, s *gate.BudgetResult) {
		switch beyond := !f.Undecided() && f.Finding != gate.Incomparable; {
		case !f.Blocks:
		case s.Fit != nil:
			worse, unfit = worse+stats.Indicator(beyond), unfit+stats.Indicator(!beyond)
		default:
			over, open = over+stats.Indicator(beyond), open+stats.Indicator(!beyond)
		}
	})
	return enumerate(clauses(clause{over, "1 budget is exceeded", "%d budgets are exceeded"},
		clause{open, "1 budget cannot be judged", "%d budgets cannot be judged"},
		clause{worse, "1 fit is beyond its limit", "%d fits are beyond their limits"},
		clause{unfit, "1 fit cannot be judged", "%d fits cannot be judged"}))
}

// overBudgets returns how to look into a budget that is exceeded, and how to accept it.
func (r *Report) overBudgets() bullets {
	var items bullets
	r.eachBudget(func(f finding, s *gate.BudgetResult) {
		if items != nil || s.Group != "" || !f.Blocks || f.Undecided() || f.Finding != gate.OverBudget && f.Finding != gate.Regressed {
			return
		}
		what, key := "budget", "mean"
		if s.Fit != nil {
			what, key = "fit", "change"
		}
		h := &r.hosts[f.host]
		if len(s.Worst) > 0 && len(s.Worst[0].Cell) <= typable {
			items = append(items, r.on(f, inline{
				plain("See what the cell that lost most of the " + what + " rests on: "),
				command("accelgate explain " + text.ShellQuote(s.Worst[0].Cell)),
			}))
		}
		if f.Evidence.InPairs {
			items = append(items, inline{
				plain("To accept the loss, raise "),
				code(key),
				plain(" of the " + what + " in the configuration; no waiver accepts it"),
			})
			return
		}
		items = append(items, r.on(f, inline{
			plain("Accept the loss of the " + what + " as the new baseline (records only the cells that passed): "),
			command(h.update("why it is accepted") + force),
		}))
	})
	return items
}

// BudgetDocument is a [gate.BudgetResult] with the sign that a document has for a change.
type BudgetDocument struct {
	gate.BudgetResult
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
		d := BudgetDocument{BudgetResult: s}
		d.Loss = finite(d.Loss)
		for _, w := range s.Worst {
			d.Worst = append(d.Worst, CellChangeDocument{w.Cell, finite(better.Change(w.Delta)) / 100})
		}
		list = append(list, d)
	}
	return list
}

// budgetTitle is "2 budgets", "3 fits" or "2 budgets and 3 fits".
func (r *Report) budgetTitle(n int) string {
	fits := 0
	r.eachBudget(func(_ finding, s *gate.BudgetResult) { fits += stats.Indicator(s.Fit != nil) })
	var parts []string
	if n > fits {
		parts = append(parts, text.Plural(n-fits, "budget"))
	}
	if fits > 0 {
		parts = append(parts, text.Plural(fits, "fit"))
	}
	return enumerate(parts)
}
