package gate

// advise lets numbers of cells that the policy makes advisory warn instead of block. A
// wrong answer, a failure to run, a number that must be equal, and a cell or metric that is
// gone block all the same. A budget, and a change that all cells share, are advisory where
// all their cells are. spent are the budgets of the verdicts.
func advise(in *inputs, verdicts []Verdict, spent []Spent) []Verdict {
	if in.policy.Advisory == nil {
		return verdicts
	}
	advisory, all := make(map[string]bool, len(in.cells)), true
	for _, c := range in.cells {
		advisory[c.id] = in.policy.Advisory(c.got.Cell, in.run.Host.Label)
		all = all && advisory[c.id]
	}
	for i := range verdicts {
		v := &verdicts[i]
		if v.Level != Fail || !v.ofNumbers() {
			continue
		}
		is := advisory[v.Cell]
		switch {
		case v.Budget > 0:
			is = in.allAdvisory(&spent[v.Budget-1].Budget, advisory)
		case v.Cell == "":
			is = all
		}
		if is {
			v.Level, v.Advisory = Warn, true
		}
	}
	return verdicts
}

func (in *inputs) allAdvisory(b *Budget, advisory map[string]bool) bool {
	for _, c := range in.within(b) {
		if !advisory[c.id] {
			return false
		}
	}
	return true
}

// ofNumbers reports a verdict on how large a number is.
func (v *Verdict) ofNumbers() bool {
	switch v.Class {
	case Regressed, OverBudget, Implausible, OutOfBounds, Drifted, OperatorsDiffer, Improved:
		return v.Evidence.Method != "exact"
	case Inconclusive:
		return v.Evidence.Method == "evidence" || v.Evidence.Method == "threshold" || v.Evidence.Method == MethodFit
	}
	return false
}
