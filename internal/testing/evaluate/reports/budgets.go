package reports

import (
	"fmt"
	"io"
	"math/rand/v2"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	detectors "github.com/accelgate/accelgate/internal/testing/evaluate/detection"
)

// BudgetRates are what the gate does with reports that have budgets.
type BudgetRates struct {
	Host, Road string
	Red        detectors.Rate   // unchanged reports that block, for cells or budgets
	Over       detectors.Rate   // unchanged reports with a budget that blocks
	Found      []detectors.Rate // groups that are slower throughout, by effect
}

// The reports with budgets: one budget over all cells, and one over each group.
const (
	budgetCells  = 80
	budgetGroups = 4
	budgetLoss   = 1 // percent
)

// budgetEffects are the slow-downs of all cells of one group.
var budgetEffects = []float64{0.01, 0.02, 0.03, 0.05}

// withBudgets adds the budgets to the default policy.
func withBudgets() gate.Policy {
	p := gate.DefaultPolicy()
	p.Rules = []gate.Rule{&gate.Budget{Scope: gate.Scope{Metric: metric}, Loss: budgetLoss}}
	for g := range budgetGroups {
		of := gate.Scope{Metric: metric, Selects: func(c bench.Cell) bool { return index(c.ID())%budgetGroups == g }}
		p.Rules = append(p.Rules, &gate.Budget{Scope: of, Loss: budgetLoss})
	}
	return p
}

// MeasureBudgets judges so many unchanged reports of each generated host and road, and the
// same reports with one group slower by each effect.
func MeasureBudgets(reports int, effects []float64) []BudgetRates {
	var all []BudgetRates
	for _, n := range noises {
		rng := rand.New(rand.NewPCG(23, uint64(len(n.name))))
		for i, name := range []string{"pairs in stages", "history, 3 new runs", "history, 1 new run", "two sessions"} {
			r := road{name: name, paired: i == 0, policy: withBudgets()}
			out := BudgetRates{Host: n.name, Road: name, Found: make([]detectors.Rate, len(effects))}
			for range reports {
				out.add(&r, draw[i](newHost(n, budgetCells, rng)), effects)
			}
			all = append(all, out)
		}
	}
	return all
}

func (out *BudgetRates) add(r *road, cells []number, effects []float64) {
	red, over := r.overBudget(cells)
	out.Red.Add(red)
	out.Over.Add(slices.Contains(over, true))
	for j, effect := range effects {
		slowed := append([]number(nil), cells...)
		for i := 0; i < len(slowed); i += budgetGroups {
			slowed[i].head, slowed[i].more = slower(slowed[i].head, effect), slower(slowed[i].more, effect)
		}
		_, over := r.overBudget(slowed)
		out.Found[j].Add(over[1])
	}
}

// overBudget reports whether a report blocks, and each of its budgets.
func (r *road) overBudget(cells []number) (red bool, over []bool) {
	run, ref := r.documents(cells)
	c := gate.Compare("baseline", ref, run, r.policy)
	if !r.paired {
		c = r.again(c, cells, run, ref)
	}
	over = make([]bool, len(c.Budgets))
	for i := range c.Verdicts {
		if v := &c.Verdicts[i]; v.Budget > 0 {
			over[v.Budget-1] = v.Blocks
		}
	}
	return gate.Decide([]gate.Comparison{c}, r.policy).Status == gate.StatusFailed, over
}

// Budgets writes the table of reports with budgets, and returns its rows.
func Budgets(w io.Writer, reports int) []BudgetRates {
	head(w, "red %", "over a budget %", budgetEffects)
	all := MeasureBudgets(reports, budgetEffects)
	for _, out := range all {
		fmt.Fprintf(w, "| %s | %s | %d | %s | %s |", out.Host, out.Road, out.Red.Of, tenths(out.Red), tenths(out.Over))
		for _, f := range out.Found {
			fmt.Fprintf(w, " %.0f |", f.Percent())
		}
		fmt.Fprintln(w)
	}
	return all
}
