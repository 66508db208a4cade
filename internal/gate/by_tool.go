package gate

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/text"
)

// byTool turns what another tool finds of a cell into findings.
func byTool(in *inputs, c cell, j compat.Judgement) findings {
	id, got := c.id, c.got
	switch j.Class {
	case compat.Skipped:
		return found(Verdict{Cell: id, Finding: Skipped, Outcome: bench.Skipped, Reason: got.Reason})
	case compat.Unknown:
		return found(Verdict{Cell: id, Finding: Untracked, Reason: text.Reasons("the baseline does not have this cell", got.Reason)})
	case compat.Failed:
		return found(failure(c))
	case compat.Fixed:
		return found(Verdict{Cell: id, Finding: Fixed, Reason: "failed in the baseline, passes now"})
	case compat.StillFails:
		v := failure(c)
		v.Delta, v.Excuse, v.Reason = 0, in.knownFailure(), text.Reasons("fails as in the baseline", got.Reason)
		return found(v)
	}
	v := Verdict{Cell: id, Metric: j.Metric, Finding: Unchanged, Old: j.Old.Median, New: j.New.Median}
	switch {
	case in.unjudged != "":
		v.Finding, v.Reason = Untracked, "speed was not judged: "+in.unjudged
		return found(v)
	case j.Class == compat.NoSpeed:
		v.Metric = "" // there is nothing to judge
	case j.Class == compat.NoReference:
		v.Reason = j.Reason
		return found(v)
	default:
		v = in.speedByTool(c, j, v)
	}
	return findings{verdicts: []Verdict{v}, tracked: true}
}

// speedByTool adds the speed that a tool judged.
func (in *inputs) speedByTool(c cell, j compat.Judgement, v Verdict) Verdict {
	v.Delta = j.Percent
	v.Interval = [2]float64{v.Delta, v.Delta}
	v.Evidence = Evidence{
		Method: MethodThreshold,
		Limit:  in.policy.Threshold,
		OldN:   j.Old.N,
		NewN:   j.New.N,
		Noise:  max(noise(j.Old), noise(j.New)),
	}
	if s := c.got.Sample(v.Metric); s != nil {
		v.Interval = interval(&bench.Metric{Better: bench.Higher}, v.Old, s, v.Delta)
	}
	if j.Class == compat.Regressed {
		v.Finding = Regressed
		if j.New.N == 1 {
			v.Reason = single
		}
	}
	return v
}

// findingsByTool are the findings on a total that another tool judged.
var findingsByTool = map[compat.Class]Finding{
	compat.Unknown: Untracked, compat.Unchanged: Unchanged, compat.Regressed: Regressed, compat.TooFast: Unrecorded,
}

// totalByTool turns what another tool finds of a total into verdicts.
func totalByTool(check *compat.Check, judged []compat.TotalJudgement, sample *bench.Sample) (verdicts []Verdict) {
	for _, j := range judged {
		v := Verdict{Cell: check.Cell, Metric: check.Metric, New: check.Actual}
		if j.Reference != nil {
			v = judgeReference(j.Reference, check, false, sample)
			v.DecidedBy, v.Evidence.Method = Certain, MethodThreshold
		}
		v.Finding, v.Reason = findingsByTool[j.Class], j.Reason
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// gated reports whether the policy judges the metric at all.
func (p *Policy) gated(m *described) bool { return p.Compat.Rules().Judges(m.Name, m.Informational) }

// inOrder sorts by the place of the finding in the order of a tool, and by the cell within one. Verdicts on the host come
// before all others, and what the order does not list after them, such as what fails as in the baseline.
func inOrder(order []string, verdicts []Verdict) []Verdict {
	place := func(v *Verdict) int {
		if v.Cell == "" {
			return 0 // as a verdict on another host, which is the first of the order
		}
		if i := slices.Index(order, string(v.Finding)); i >= 0 && v.Excused() != KnownFailure {
			return i
		}
		return len(order)
	}
	sorted := slices.Clone(verdicts)
	slices.SortStableFunc(sorted, func(a, b Verdict) int {
		if by := place(&a) - place(&b); by != 0 {
			return by
		}
		return strings.Compare(a.Cell, b.Cell)
	})
	return sorted
}
