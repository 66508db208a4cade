package gate

import (
	"cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// Uncompared is a suite of which cells passed and not one number was compared.
type Uncompared struct {
	Suite  string `json:"suite"`
	Reason string `json:"reason"` // for people
	// Shown says that it has no number to compare: every metric is informational.
	Shown bool `json:"shown,omitempty"`
}

// Unguarded reports a verdict on a cell or number that no loss can fail, because its reference is absent or 0.
func (v *Verdict) Unguarded() bool {
	if v.Cell == "" {
		return false
	}
	zero := v.Metric != "" && v.Old == 0 && (v.DecidedBy == ByNewBaseline || v.DecidedBy == ByCorrectOutput)
	return v.Finding == Untracked || v.Finding == Incomparable && zero
}

// unguarded counts the cells and numbers that nothing guards. A cell that the base of pairs does not have is new, and none.
func (c *Comparison) unguarded() (n int) {
	if c.Unjudged != "" { // nothing of the host is
		return 0
	}
	for i := range c.Verdicts {
		v := &c.Verdicts[i]
		n += stats.Indicator(v.Unguarded() && !(v.Metric == "" && c.InPairs))
	}
	return n
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
	compared, reasons := map[string]bool{}, map[string]string{}
	for i := range verdicts {
		v := &verdicts[i]
		compared[v.Cell] = compared[v.Cell] || v.judged() && v.Finding != PartsDiffer
		if reasons[v.Cell] == "" {
			reasons[v.Cell] = v.Reason
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
	for _, c := range in.cells {
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
		of.compared = of.compared || compared[c.id]
		of.bounded = of.bounded || in.hasBounds(c)
		of.reason = cmp.Or(of.reason, reasons[c.id])
	}
	for _, name := range names {
		if of := suites[name]; !of.compared && !(of.bounded && of.reason == "") {
			list = append(
				list,
				Uncompared{Suite: name, Reason: cmp.Or(of.reason, "no metric of its cells is gated"), Shown: of.reason == ""},
			)
		}
	}
	return list
}
