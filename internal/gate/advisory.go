package gate

// advise excuses numbers of cells that the policy makes advisory. A
// wrong answer, a failure to run, a number that must be equal, and a cell or metric that is
// gone block all the same. A budget, and a change that all cells share, are advisory where
// all their cells are. spent are the budgets of the verdicts.
func advise(in *inputs, verdicts []Verdict, spent []Spent) []Verdict {
	if in.policy.Advisory == nil {
		return verdicts
	}
	advisory := make(map[string]string, len(in.cells)) // the entry that says so, by the id of the cell
	for _, c := range in.cells {
		advisory[c.id] = in.policy.Advisory(c.got.Cell, in.run.Host.Label)
	}
	for i := range verdicts {
		v := &verdicts[i]
		if !v.ofNumbers() || !in.excusable(v) {
			continue
		}
		source := advisory[v.Cell]
		switch {
		case v.Budget > 0:
			source = sharedBy(in.within(&spent[v.Budget-1].Budget), advisory)
		case v.Cell == "":
			source = sharedBy(in.cells, advisory)
		}
		if source != "" {
			v.Excuse = &Excuse{Kind: AdvisoryLevel, Source: source}
		}
	}
	return verdicts
}

// sharedBy is an entry by which all cells are advisory; "" if one is not.
func sharedBy(cells []cell, advisory map[string]string) (source string) {
	for _, c := range cells {
		if source = advisory[c.id]; source == "" {
			return ""
		}
	}
	return source
}

// ofNumbers reports a verdict on how large a number is.
func (v *Verdict) ofNumbers() bool {
	switch v.Finding {
	case Regressed, OverBudget, Implausible, OutOfBounds, Drifted, PartsDiffer, Unrecorded:
		return true
	case Unchanged:
		return v.Evidence.Method.Speed()
	}
	return false
}
