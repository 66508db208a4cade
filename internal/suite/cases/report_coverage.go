package cases

import (
	"cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
)

// notChecked is what tables of cases say of one that could not be judged. It is
// not a [compat.CheckStatus]: there is no Check.
const notChecked = "ERROR"

// hostCases are the cases of one host: those that were compared with their
// files, and those that failed before they could be.
type hostCases struct {
	*report.HostInput
	checks    map[string]*compat.Check // by cell
	unchecked []*gate.Verdict          // in the order of the run
	alone     bool                     // those of groups are left out
	counts
}

// casesOf gathers the cases of a host.
func casesOf(in *report.Input, i int) *hostCases {
	of := &hostCases{HostInput: &in.Hosts[i], checks: compat.ByCell(in.Hosts[i].Comparison.Checks)}
	for k := range of.Comparison.Verdicts {
		if v := &of.Comparison.Verdicts[k]; of.checks[v.Cell] == nil && failsWhole(v) {
			of.unchecked = append(of.unchecked, v)
		}
	}
	of.unchecked = of.onlyCases(in.Policy.Expected)
	of.count()
	return of
}

// withoutGroups leaves out the cases that are judged by the mean of their group.
func (of *hostCases) withoutGroups() *hostCases {
	grouped := map[string]bool{}
	for _, g := range of.Comparison.Groups {
		grouped[g.Group] = len(g.Cases) == 0 // the run has a cell for it
		for _, c := range g.Cases {
			grouped[c.Cell] = true
		}
	}
	rest := &hostCases{HostInput: of.HostInput, checks: of.checks, alone: true}
	for _, f := range of.unchecked {
		if !grouped[f.Cell] {
			rest.unchecked = append(rest.unchecked, f)
		}
	}
	rest.count()
	return rest
}

// failsWhole reports a cell that did not get as far as numbers. One that the
// baseline expects to fail is such a cell, too.
func failsWhole(v *gate.Verdict) bool {
	failed := v.Finding == gate.Crashed || v.Finding == gate.Incorrect
	return v.Cell != "" && v.Metric == "" && (failed || v.Blocks)
}

// onlyCases leaves out what is known to be no case: a cell that no case file
// says anything of, in a suite of which none does. A case whose file cannot be
// read is in a suite with others. Without any such file, all may be cases.
func (of *hostCases) onlyCases(expected map[string]bench.Expected) []*gate.Verdict {
	list := of.unchecked
	if len(list) == 0 || len(expected) == 0 {
		return list
	}
	suites, suiteOf := map[string]bool{}, map[string]string{}
	for i := range of.Run.Results {
		c := &of.Run.Results[i].Cell
		id := c.ID()
		suiteOf[id] = c.Suite
		if _, ok := expected[id]; ok {
			suites[c.Suite] = true
		}
	}
	var kept []*gate.Verdict
	for _, v := range list {
		_, known := expected[v.Cell]
		suite, ran := suiteOf[v.Cell]
		if known || ran && suites[suite] {
			kept = append(kept, v)
		}
	}
	return kept
}

// why is the reason of a verdict as a line of at most limit runes.
func why(v *gate.Verdict, limit int) string {
	return cmp.Or(report.Clip(v.Reason, limit), report.Word(v))
}

// counts sum up cases.
type counts struct {
	total, passed, failed, none int // totals; none has no reference
	errors                      int // without a total
	compared                    int // whose operators were
	same, differ, unrecorded    int // operators; unrecorded has no reference
	rows                        int
}

func (of *hostCases) count() {
	n := &of.counts
	n.errors = len(of.unchecked)
	of.eachCheck(n.add)
	n.compared = n.same + n.differ + n.unrecorded
}

func (n *counts) add(c *compat.Check) {
	n.total++
	switch {
	case c.Status.Fails():
		n.failed++
	case c.Unrecorded():
		n.none++
	default:
		n.passed++
	}
	n.rows += len(c.Operators.Rows)
	switch c.Operators.Status {
	case compat.OperatorsPass:
		n.same++
	case compat.OperatorsNoBaseline:
		n.unrecorded++
	case compat.OperatorsWarn, compat.OperatorsFail:
		n.differ++
	}
}

func (n *counts) merge(m *counts) {
	n.total += m.total
	n.passed += m.passed
	n.failed += m.failed
	n.none += m.none
	n.errors += m.errors
	n.compared += m.compared
	n.same += m.same
	n.differ += m.differ
	n.unrecorded += m.unrecorded
	n.rows += m.rows
}
