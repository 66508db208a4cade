package gate

import (
	"cmp"

	"github.com/accelgate/accelgate/internal/bench"
)

// Uncompared is a suite of which cells passed and not one number was compared.
type Uncompared struct {
	Suite  string `json:"suite"`
	Reason string `json:"reason"` // for people
	// Shown says that it has no number to compare: every metric is informational.
	Shown bool `json:"shown,omitempty"`
}

// uncompared lists the suites of which cells passed and not one number was
// compared, in the order of the run. Calls of operators are no such number.
func (c *comparer) uncompared() (list []Uncompared) {
	type suite struct {
		compared bool
		reason   string
	}
	compared, reasons := map[string]bool{}, map[string]string{}
	for i := range c.out.Verdicts {
		v := &c.out.Verdicts[i]
		compared[v.Cell] = compared[v.Cell] || v.judged() && v.Class != OperatorsDiffer
		if reasons[v.Cell] == "" {
			reasons[v.Cell] = v.Reason
		}
	}
	suites := map[string]*suite{}
	var names []string
	for _, r := range c.results {
		if r.Outcome != bench.Passed {
			continue
		}
		of := suites[r.Cell.Suite]
		if of == nil {
			of = &suite{}
			suites[r.Cell.Suite] = of
			names = append(names, r.Cell.Suite)
		}
		id := r.Cell.ID()
		of.compared = of.compared || compared[id]
		of.reason = cmp.Or(of.reason, reasons[id])
	}
	for _, name := range names {
		if of := suites[name]; !of.compared {
			list = append(list, Uncompared{Suite: name, Reason: cmp.Or(of.reason, "no metric of its cells is gated"), Shown: of.reason == ""})
		}
	}
	return list
}
