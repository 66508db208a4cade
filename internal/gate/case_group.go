package gate

import (
	"cmp"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// grouped reports whether the group of a case is judged in its place. msmodeling's older rules know
// no groups, and another host than that of the recorded times has no references.
func grouped(run *bench.Run, p *Policy, e *bench.Expected) bool {
	return e.Group != nil && p.Compat.Rules().Totals.Groups && !otherHost(run, e)
}

// inGroup excuses what the mean of the group decides.
func inGroup(in *inputs, g *bench.ExpectedGroup, check *compat.Check, verdicts []Verdict) {
	check.Group = g.Name
	for i := range verdicts {
		switch v := &verdicts[i]; {
		case !in.policy.blocks(v):
		case v.Finding == Regressed || v.Finding == Drifted || v.Finding == Unrecorded:
			*v = excusedBy("group "+text.Visible(g.Name, maxName), *v)
		default:
			return // the case fails whatever the others show
		}
	}
	check.Status = check.Status.Grouped()
}

// caseGroups judges the groups of cases in the order of the run. Their places follow those of the budgets.
func caseGroups(in *inputs, checks []compat.Check, budgets int) (verdicts []Verdict, groups []compat.CaseGroup, spent []BudgetResult) {
	byCell := compat.ByCell(checks)
	seen := map[*bench.ExpectedGroup]bool{}
	for _, c := range in.cells {
		e, ok := in.policy.Expected[c.id]
		if !ok || !grouped(in.run, &in.policy, &e) || seen[e.Group] {
			continue
		}
		seen[e.Group] = true
		g, result, v := in.judgeCaseGroup(&e, byCell)
		result.Suite, result.When = c.got.Cell.Suite, "group "+text.Visible(g.Group, maxName)
		spent = append(spent, result)
		v.Budget = budgets + len(spent)
		verdicts, groups = append(verdicts, v), append(groups, g)
	}
	return verdicts, groups, spent
}

// judgeCaseGroup judges the mean of the changes of a group from the baseline references.
func (in *inputs) judgeCaseGroup(e *bench.Expected, checks map[string]*compat.Check) (compat.CaseGroup, BudgetResult, Verdict) {
	of := e.Group
	g := compat.CaseGroup{Group: of.Name, Description: of.Description, Tolerance: of.Tolerance, Implied: of.Implied}
	spent := BudgetResult{Budget: Budget{Scope: Scope{Metric: e.Metric}, Loss: of.Tolerance * 100}, Of: len(of.Cells), Group: of.Name}
	spent.Selects = func(c bench.Cell) bool { return slices.Contains(of.Cells, c.ID()) }
	v := Verdict{Metric: e.Metric, Reference: bench.BaselineReference, Evidence: Evidence{Limit: spent.Loss}}
	var failed, lost, fresh []string
	var changes []compat.ReferenceCheck
	for i, id := range of.Cells {
		one := compat.CaseOf(id, of.Names[i], in.policy.Expected[id].References)
		check := checks[id]
		switch {
		case !in.has(id):
			one.Error = "the run does not have it"
			lost = append(lost, id)
		case check == nil || check.Actual == 0:
			one.Error = cmp.Or(in.reasonOf(id), "no passed measurement")
			failed = append(failed, id)
		default:
			base := check.Reference(bench.BaselineReference)
			if base == nil {
				fresh = append(fresh, id)
				break
			}
			changes = append(changes, *base)
			spent.Worst = append(spent.Worst, CellChange{id, -base.Diff * 100})
		}
		g.Cases = append(g.Cases, one)
	}
	spent.Cells, spent.Worst = len(changes), worstOf(spent.Worst)
	v.Finding, v.DecidedBy = Incomparable, Certain
	switch {
	case len(of.Cells) == 0:
		g.Status, v.Reason = compat.GroupEmpty, "the group has no sub_cases: add its cases, or remove the file"
	case len(failed) > 0:
		g.Status, v.Reason = compat.GroupError, "no passed measurement of "+cellsOf(failed)+": measure again"
	case len(lost) > 0:
		g.Status, v.DecidedBy = compat.GroupIncomplete, ByWholeGroup
		v.Reason = "the mean needs the whole group, and the run lacks " + cellsOf(lost) + ": measure without filters"
	case len(fresh) > 0:
		g.Status, v.Finding = compat.GroupNoBaseline, in.withoutBaseline(e)
		v.Reason = "there is no baseline time of " + cellsOf(fresh) + ": record it with cases refresh"
	default:
		in.decideGroup(&g, &v, changes, spent.Worst)
	}
	return g, spent, v
}

// withoutBaseline is the finding on a group without a mean. The original fails it.
func (in *inputs) withoutBaseline(e *bench.Expected) Finding {
	if in.tool.Totals.Mean != nil || LevelOf(e.NoReference, Warn) == Fail {
		return Missing
	}
	return Untracked
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

// decideGroup judges the mean of a group.
func (in *inputs) decideGroup(g *compat.CaseGroup, v *Verdict, changes []compat.ReferenceCheck, worst []CellChange) {
	v.Evidence.Method = MethodThreshold
	v.Evidence.OldN, v.Evidence.NewN = 1, 1
	old, now := make([]float64, len(changes)), make([]float64, len(changes))
	for i, r := range changes {
		old[i], now[i] = r.Value, r.Value*(1+r.Diff)
	}
	v.Old, v.New = stats.Finite(geometric(old)), stats.Finite(geometric(now))
	mean, limit, what := v.New/v.Old-1, g.Tolerance*100+Tolerance, "change"
	g.Percent = stats.Finite(mean * 100)
	if of := in.tool.Totals.Mean; of != nil {
		g.Percent, limit, what = of(changes), g.Tolerance*100, "distance"
		mean = g.Percent / 100
	}
	mean = stats.Finite(mean)
	g.Mean, g.Status = &mean, compat.GroupPass
	v.Finding, v.Delta = Unchanged, stats.Finite(-mean*100)
	v.Interval = [2]float64{v.Delta, v.Delta}
	if !(g.Percent > limit) {
		return
	}
	g.Status, v.Finding = compat.GroupFail, OverBudget
	v.Reason = fmt.Sprintf("the mean %s from the baseline times is %.2f %%, and %.4g %% are allowed", what, g.Percent, g.Tolerance*100)
	for _, w := range worst {
		v.Reason = text.Reasons(v.Reason, fmt.Sprintf("%s %+.1f %%", text.Visible(w.Cell, maxName), -w.Delta))
	}
}
