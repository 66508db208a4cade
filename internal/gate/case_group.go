package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// CaseGroup is what became of a [bench.ExpectedGroup].
type CaseGroup struct {
	Group       string  `json:"group"`
	Description string  `json:"description,omitempty"`
	Tolerance   float64 `json:"tolerance"` // fraction
	// Mean is that of the changes from the baseline references, a fraction, positive for slower: the geometric mean,
	// or by msmodeling's rules that of the distances to either side. Nil where there is none.
	Mean *float64 `json:"mean,omitempty"`
	// Percent is Mean in percent, as the original computes it.
	Percent float64     `json:"-"`
	Status  GroupStatus `json:"status"`
	// Implied says that Tolerance is the smallest of the cases' own, which differ.
	Implied bool          `json:"implied_tolerance,omitempty"`
	Cases   []CaseOfGroup `json:"cases,omitempty"` // in the order of the file
	spent   BudgetResult
}

// CaseOfGroup is a case of a group.
type CaseOfGroup struct {
	Cell string `json:"cell"`
	Name string `json:"name"`
	// Initial and Baseline are the recorded totals; 0 for none.
	Initial  float64 `json:"initial,omitempty"`
	Baseline float64 `json:"baseline,omitempty"`
	// Error is why the case could not be judged; "" if it has a [Check].
	Error string `json:"error,omitempty"`
}

// GroupStatus sums up a CaseGroup. The words are those of msmodeling's checker.
type GroupStatus string

// The statuses. The original does not know GroupIncomplete.
const (
	GroupPass       GroupStatus = "PASS"
	GroupFail       GroupStatus = "FAIL"
	GroupEmpty      GroupStatus = "FAIL(EMPTY)"
	GroupError      GroupStatus = "FAIL(ERROR)"
	GroupNoBaseline GroupStatus = "FAIL(NO_BASELINE)"
	GroupIncomplete GroupStatus = "INCOMPLETE" // the run lacks cases
)

// grouped reports whether the group of a case is judged in its place. msmodeling's older rules know
// no groups, and another host than that of the recorded times has no references.
func grouped(run *bench.Run, p *Policy, e *bench.Expected) bool {
	return e.Group != nil && p.Compat.Rules().Totals.Groups && !otherHost(run, e)
}

// inGroup excuses what the mean of the group decides.
func inGroup(in *inputs, g *bench.ExpectedGroup, status CheckStatus, verdicts []Verdict) (CheckStatus, []Verdict) {
	for i := range verdicts {
		switch v := &verdicts[i]; {
		case !in.policy.blocks(v):
		case v.Finding == Regressed || v.Finding == Drifted || v.Finding == Unrecorded:
			*v = excusedBy("group "+text.Visible(g.Name, maxName), *v)
		default:
			return status, verdicts // the case fails whatever the others show
		}
	}
	warns := map[CheckStatus]CheckStatus{CheckFailInit: CheckWarnInit, CheckFailBase: CheckWarnBase, CheckFailBoth: CheckWarnBoth}
	if warn, ok := warns[status]; ok {
		status = warn
	}
	return status, verdicts
}

// caseGroups judges the groups of cases in the order of the run. Their places follow those of the budgets.
func caseGroups(in *inputs, checks []Check, budgets int) (verdicts []Verdict, groups []CaseGroup, spent []BudgetResult) {
	byCell := make(map[string]*Check, len(checks))
	for i := range checks {
		byCell[checks[i].Cell] = &checks[i]
	}
	seen := map[*bench.ExpectedGroup]bool{}
	for _, c := range in.cells {
		e, ok := in.policy.Expected[c.id]
		if !ok || !grouped(in.run, &in.policy, &e) || seen[e.Group] {
			continue
		}
		seen[e.Group] = true
		g, v := in.judgeCaseGroup(&e, byCell)
		g.spent.Suite, g.spent.When = c.got.Cell.Suite, "group "+text.Visible(g.Group, maxName)
		spent = append(spent, g.spent)
		v.Budget = budgets + len(spent)
		verdicts, groups = append(verdicts, v), append(groups, g)
	}
	return verdicts, groups, spent
}

// judgeCaseGroup judges the mean of the changes of a group from the baseline references.
func (in *inputs) judgeCaseGroup(e *bench.Expected, checks map[string]*Check) (CaseGroup, Verdict) {
	of := e.Group
	g := CaseGroup{Group: of.Name, Description: of.Description, Tolerance: of.Tolerance, Implied: of.Implied}
	g.spent = BudgetResult{Budget: Budget{Scope: Scope{Metric: e.Metric}, Loss: of.Tolerance * 100}, Of: len(of.Cells), Group: of.Name}
	g.spent.Selects = func(c bench.Cell) bool { return slices.Contains(of.Cells, c.ID()) }
	v := Verdict{Metric: e.Metric, Reference: bench.BaselineReference, Evidence: Evidence{Limit: g.spent.Loss}}
	var failed, lost, fresh []string
	var changes []ReferenceCheck
	for i, id := range of.Cells {
		one := in.caseOfGroup(id, of.Names[i])
		check := checks[id]
		switch base := baselineOf(check); {
		case !in.ids[id]:
			one.Error = "the run does not have it"
			lost = append(lost, id)
		case check == nil || check.Actual == 0:
			one.Error = cmp.Or(in.reasonOf(id), "no passed measurement")
			failed = append(failed, id)
		case base == nil:
			fresh = append(fresh, id)
		default:
			changes = append(changes, *base)
			g.spent.Worst = append(g.spent.Worst, CellChange{id, -base.Diff * 100})
		}
		g.Cases = append(g.Cases, one)
	}
	g.spent.Cells, g.spent.Worst = len(changes), worstOf(g.spent.Worst)
	v.Finding, v.DecidedBy = Incomparable, Certain
	switch {
	case len(of.Cells) == 0:
		g.Status, v.Reason = GroupEmpty, "the group has no sub_cases: add its cases, or remove the file"
	case len(failed) > 0:
		g.Status, v.Reason = GroupError, "no passed measurement of "+cellsOf(failed)+": measure again"
	case len(lost) > 0:
		g.Status, v.DecidedBy = GroupIncomplete, ByWholeGroup
		v.Reason = "the mean needs the whole group, and the run lacks " + cellsOf(lost) + ": measure without filters"
	case len(fresh) > 0:
		g.Status, v.Finding = GroupNoBaseline, in.withoutBaseline(e)
		v.Reason = "there is no baseline time of " + cellsOf(fresh) + ": record it with cases refresh"
	default:
		g.decide(in, &v, changes)
	}
	return g, v
}

// withoutBaseline is the finding on a group without a mean. The original fails it.
func (in *inputs) withoutBaseline(e *bench.Expected) Finding {
	if in.tool.Totals.TwoSided || LevelOf(e.NoReference, Warn) == Fail {
		return Missing
	}
	return Untracked
}

// caseOfGroup is a case with what is recorded of it.
func (in *inputs) caseOfGroup(id, name string) CaseOfGroup {
	one := CaseOfGroup{Cell: id, Name: name}
	for _, r := range in.policy.Expected[id].References {
		if r.Name == bench.BaselineReference {
			one.Baseline = r.Value
		} else {
			one.Initial = r.Value
		}
	}
	return one
}

// reasonOf is why a cell of the run did not pass.
func (in *inputs) reasonOf(id string) string {
	for _, c := range in.cells {
		if c.id == id {
			return c.got.Reason
		}
	}
	return ""
}

func baselineOf(c *Check) *ReferenceCheck {
	if c == nil {
		return nil
	}
	i := slices.IndexFunc(c.References, func(r ReferenceCheck) bool { return r.Name == bench.BaselineReference })
	if i < 0 {
		return nil
	}
	return &c.References[i]
}

// decide judges the mean of a group.
func (g *CaseGroup) decide(in *inputs, v *Verdict, changes []ReferenceCheck) {
	v.Evidence.Method = MethodThreshold
	v.Evidence.OldN, v.Evidence.NewN = 1, 1
	old, now := make([]float64, len(changes)), make([]float64, len(changes))
	for i, r := range changes {
		old[i], now[i] = r.Value, r.Value*(1+r.Diff)
	}
	v.Old, v.New = stats.Finite(geometric(old)), stats.Finite(geometric(now))
	const beyond = "the mean %s from the baseline times is %.2f %%, and %.4g %% are allowed"
	mean, fails, what := v.New/v.Old-1, false, "change"
	if in.tool.Totals.TwoSided {
		sum := 0.0 // in percent, and in this order, as the original adds
		for _, r := range changes {
			sum += math.Abs(r.Diff) * 100
		}
		g.Percent, what = sum/float64(len(changes)), "distance"
		mean, fails = g.Percent/100, g.Percent > g.Tolerance*100
	} else {
		g.Percent = stats.Finite(mean * 100)
		fails = g.Percent > g.Tolerance*100+Tolerance
	}
	mean = stats.Finite(mean)
	g.Mean, g.Status = &mean, GroupPass
	v.Finding, v.Delta = Unchanged, stats.Finite(-mean*100)
	v.Interval = [2]float64{v.Delta, v.Delta}
	if !fails {
		return
	}
	g.Status, v.Finding = GroupFail, OverBudget
	v.Reason = fmt.Sprintf(beyond, what, g.Percent, g.Tolerance*100)
	for _, w := range g.spent.Worst {
		v.Reason = text.Reasons(v.Reason, fmt.Sprintf("%s %+.1f %%", text.Visible(w.Cell, maxName), -w.Delta))
	}
}
