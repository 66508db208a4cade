package gate

// blocking are the findings that block when they are certain and nothing excuses them.
var blocking = map[Finding]bool{
	OtherHost: true, Incorrect: true, Crashed: true, Missing: true, Incomparable: true, OutOfBounds: true, Implausible: true,
	Regressed: true, OverBudget: true, Drifted: true, PartsDiffer: true, Unrecorded: true,
}

// Blocks is what lets a finding block, and nothing else does. docs/verdicts.md shows it as a
// table, which a test holds against this function for every combination.
func (p *Policy) Blocks(f Finding, c Decider, e ExcuseKind) bool {
	switch {
	case e == LeftOut && p.LeftOut != LeftOutWarn: // not accepted
	case e != NotExcused:
		return false
	}
	if c != Certain {
		return p.Inconclusive == InconclusiveFail && (blocking[f] || f == Unchanged)
	}
	return blocking[f]
}

// blocks reports whether a verdict blocks as it is now.
func (p *Policy) blocks(v *Verdict) bool { return p.Blocks(v.Finding, v.DecidedBy, v.Excused()) }

// settled marks the verdicts that block. Nothing changes them after that.
func (p *Policy) settled(verdicts []Verdict) []Verdict {
	for i := range verdicts {
		verdicts[i].Blocks = p.blocks(&verdicts[i])
	}
	return verdicts
}

// excusable reports a verdict that an excuse is of use to: it blocks, or keeps a required check
// from being satisfied.
func (in *inputs) excusable(v *Verdict) bool { return in.policy.blocks(v) || v.UndecidedLoss() }

// UndecidedLoss reports a loss beyond its limit that is undecided, so that a required check
// must not be satisfied. Drift is none: it is a loss since another time, and not of this change.
func (v *Verdict) UndecidedLoss() bool {
	return !v.Blocks && v.Undecided() && v.Excuse == nil && (v.Finding == Regressed || v.Finding == OverBudget || v.Finding == OutOfBounds)
}
