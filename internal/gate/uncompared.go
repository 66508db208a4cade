package gate

import (
	"cmp"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// Uncompared is a suite of which cells passed and not one number was compared.
type Uncompared struct {
	Suite  string `json:"suite"`
	Reason string `json:"reason"` // for people
	// Shown says that it has no number to compare: every metric is informational.
	Shown bool `json:"shown,omitempty"`
}

// unguarded reports a verdict on a cell or number that no loss can fail, because its reference is absent, failed or 0.
func (v *Verdict) unguarded() bool {
	if v.Cell == "" {
		return false
	}
	zero := v.Metric != "" && v.Old == 0 && (v.DecidedBy == ByNewBaseline || v.DecidedBy == ByCorrectOutput)
	return v.Finding == Untracked || v.Finding == Fixed || v.Finding == Incomparable && zero
}

// Unguarded names the cells, and the numbers as "CELL METRIC", that no loss can fail, because their reference is absent,
// failed or 0. A budget does not guard the cells that it leaves out. A cell that the base of pairs does not have is new, and none.
func (c *Comparison) Unguarded() (names []string) {
	if c.Unjudged != "" { // nothing of the host is
		return nil
	}
	known := map[string]bool{}
	add := func(cell, metric string) {
		name := strings.TrimSpace(cell + " " + metric)
		if !known[cell] && !known[name] {
			names = append(names, name)
		}
		known[name] = true
	}
	for i := range c.Verdicts {
		if v := &c.Verdicts[i]; v.unguarded() && !(v.Metric == "" && c.InPairs) {
			add(v.Cell, v.Metric)
		}
	}
	for i := range c.Budgets {
		for _, cell := range c.Budgets[i].unrecorded {
			add(cell, c.Budgets[i].Metric)
		}
	}
	return names
}

// uncompared lists the suites of which cells passed and not one number was
// compared, in the order of the run. Calls of operators are no such number; the mean of
// a budget is one. A suite of informational metrics of which bounds judge some has none to compare.
func uncompared(in *inputs, verdicts []Verdict, spent []BudgetResult) (list []Uncompared) {
	type suite struct {
		compared bool
		bounded  bool
		reason   string
	}
	compared, reasons := make([]bool, len(in.cells)), make([]string, len(in.cells))
	for i := range verdicts {
		v := &verdicts[i]
		if at, ok := in.ids[v.Cell]; ok {
			compared[at] = compared[at] || v.judged() && v.Finding != PartsDiffer
			reasons[at] = cmp.Or(reasons[at], v.Reason)
		}
	}
	suites := map[string]*suite{}
	inBudget := map[string]bool{}
	for i := range verdicts {
		if v := &verdicts[i]; v.Budget > 0 && v.judged() {
			inBudget[spent[v.Budget-1].Suite] = true
		}
	}
	var names []string
	for i, c := range in.cells {
		if c.got.Outcome != bench.Passed {
			continue
		}
		name := c.got.Cell.Suite
		of := suites[name]
		if of == nil {
			of = &suite{compared: inBudget[name]}
			suites[name] = of
			names = append(names, name)
		}
		of.compared = of.compared || compared[i]
		of.bounded = of.bounded || in.hasBounds(c)
		of.reason = cmp.Or(of.reason, reasons[i])
	}
	for _, name := range names {
		if of := suites[name]; !of.compared && !(of.bounded && of.reason == "") {
			list = append(list,
				Uncompared{Suite: name, Reason: cmp.Or(of.reason, "no metric of its cells is gated"), Shown: of.reason == ""})
		}
	}
	return list
}
