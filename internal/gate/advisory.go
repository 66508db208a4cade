package gate

// Advice makes numbers of cells warn instead of blocking, or undoes that.
type Advice struct {
	Scope
	Required bool   // undoes what earlier rules made advisory
	Source   string // the entry, with its place in the file
}

// advisory returns the entry by which the numbers of a cell do not block on a host, "" if they do.
func advisory(rules []*Advice, c cell) (source string) {
	for _, r := range rules {
		if r.selects(c.got.Cell) {
			if source = r.Source; r.Required {
				source = ""
			}
		}
	}
	return source
}

// advise excuses numbers of cells that the policy makes advisory. A
// wrong answer, a failure to run, a number that must be equal, and a cell or metric that is
// gone block all the same. A budget, and a change that all cells share, are advisory where
// all their cells are. A limit with a [Force] of its own has it. spent are the budgets of the verdicts.
func advise(in *inputs, verdicts []Verdict, spent []BudgetResult) []Verdict {
	rules := rulesOf[*Advice](&in.policy, in.run.Host.Label)
	entries := make(map[string]string, len(in.cells)) // the entry that makes it advisory, by the id of the cell
	for _, c := range in.cells {
		entries[c.id] = advisory(rules, c)
	}
	for i := range verdicts {
		v := &verdicts[i]
		if !v.ofNumbers() || !in.excusable(v) {
			continue
		}
		source := entries[v.Cell]
		switch {
		case v.Budget > 0:
			b := &spent[v.Budget-1].Budget
			source = sharedBy(in.within(b), entries)
			if v.Force = b.Force; v.Force != ByLevel {
				v.Entry = b.Source
			}
		case v.Cell == "":
			source = sharedBy(in.cells, entries)
		}
		switch v.Force {
		case Required:
			source = ""
		case Advisory:
			source = v.Entry
		}
		if source != "" {
			v.Excuse = &Excuse{Kind: AdvisoryLevel, Source: source}
		}
	}
	return verdicts
}

// sharedBy is an entry by which all cells are advisory; "" if one is not.
func sharedBy(cells []cell, entries map[string]string) (source string) {
	for _, c := range cells {
		if source = entries[c.id]; source == "" {
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
