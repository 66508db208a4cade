package casefile

import "slices"

// group judges what the cases of a group have together.
func (l *linter) group(g *Group) {
	if len(g.Cases) == 0 {
		l.note("empty-group", "sub_cases", "there are none, so the group fails: add its cases, or remove the file")
		return
	}
	switch tolerances := g.tolerances(); {
	case g.Own:
		l.tolerance("group_tolerance", g.Tolerance, "baseline_time_s", 0, "", 0)
	case g.Implied():
		l.note("group-tolerance", "group_tolerance",
			"is absent, so that the smallest baseline_tolerance of the cases counts, %s of %s to %s: write it down",
			percent(g.Tolerance), percent(tolerances[0]), percent(tolerances[len(tolerances)-1]))
	}
	for _, c := range g.Cases {
		if c.BaselineTimeS == 0 {
			l.note("group-no-baseline", join("sub_cases", c.Name)+".baseline_time_s",
				"there is none, so the group has no mean and fails: measure the case and record it with cases refresh")
		}
	}
}

// Implied reports that the tolerance is the smallest of the cases' own, which differ.
func (g *Group) Implied() bool { return !g.Own && len(g.tolerances()) > 1 }

// tolerances lists the different tolerances of the cases, the smallest first.
func (g *Group) tolerances() []float64 {
	var list []float64
	for _, c := range g.Cases {
		list = append(list, c.BaselineTolerance)
	}
	slices.Sort(list)
	return slices.Compact(list)
}

// increase doubts a limit that never counts.
func (l *linter) increase() {
	const rule, path = "unused-increase", "baseline_max_increase_pct"
	switch c := l.c; {
	case c.MaxIncrease == nil:
	case Model(c.Type, c.UserInput) == "empirical":
		l.note(rule, path, "it has no effect on a case with the performance model profiling: remove it")
	case c.BaselineTimeS == 0:
		l.note(rule, path, "it has no effect without baseline_time_s: measure the case and record it with cases refresh")
	case *c.MaxIncrease > c.BaselineTolerance:
		l.note(rule, path, "%s has no effect, because baseline_tolerance is %s: lower one of the two",
			percent(*c.MaxIncrease), percent(c.BaselineTolerance))
	}
}
