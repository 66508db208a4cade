package gate

import (
	"fmt"
	"slices"
)

// bothSlower finds losses since the baseline that pairs do not show, because the base lost as
// much: the host changed, or the base is not what it is said to be. Pairs cannot tell these
// apart, so the loss is undecided. Only the baseline's own noise excuses it, because a run could
// claim any. What an unhealthy host measured says nothing here.
func bothSlower(in *inputs, c cell, verdicts []Verdict) (losses []Verdict) {
	if in.unjudged != "" || in.elsewhere || unhealthy(in, c.got) != "" {
		return nil
	}
	for i := range verdicts {
		if v := &verdicts[i]; v.Evidence.InPairs && v.driftable() {
			if loss, ok := sinceBaseline(in, c, v.Metric); ok {
				losses = append(losses, loss)
			}
		}
	}
	return losses
}

// uniqueLosses joins what a cell lost since older levels. Of a loss that is found twice, since
// the baseline and since an anchor that is the baseline, one verdict is enough: a certain one first.
func uniqueLosses(drifts, losses []Verdict) []Verdict {
	twice := func(in []Verdict, of *Verdict) bool {
		return slices.ContainsFunc(in, func(v Verdict) bool { return v.Metric == of.Metric && v.Old == of.Old })
	}
	certain := slices.DeleteFunc(slices.Clone(drifts), func(v Verdict) bool { return v.Undecided() })
	losses = slices.DeleteFunc(losses, func(v Verdict) bool { return twice(certain, &v) })
	drifts = slices.DeleteFunc(drifts, func(v Verdict) bool { return v.Undecided() && twice(losses, &v) })
	return append(drifts, losses...)
}

// sinceBaseline is the loss of a metric since the baseline, by the limit of drift; ok is false
// where there is none.
func sinceBaseline(in *inputs, c cell, metric string) (v Verdict, ok bool) {
	m, old, now := in.metric(metric), c.ref.Sample(metric), c.got.Sample(metric)
	if m == nil || old == nil || now == nil || m.tooFew(c.ref) || !(old.Median() > 0) {
		return v, false
	}
	v = m.step.caveat(&m.Metric, threshold(&m.Metric, old, now, in.driftLimit(seriesKey{c.id, metric})))
	if v.Finding != Regressed || v.Undecided() || in.host.explains(&v) != "" {
		return v, false
	}
	if _, chance := byChance(m, old, now); chance && knownNoise(old) > 0 {
		return v, false
	}
	v.Cell, v.Metric, v.Reference = c.id, metric, in.reference
	v.undecide(ByNewBaseline, fmt.Sprintf("%.1f %% worse than the baseline, which pairs with the base do not show: "+
		"the host changed, or the base is not the code that it is said to be", -v.Delta))
	return v, true
}

// SinceBaseline reports a loss since the baseline that pairs do not show.
func (v *Verdict) SinceBaseline() bool {
	return v.Finding == Regressed && v.DecidedBy == ByNewBaseline && v.Evidence.Method == MethodThreshold
}

// driftLimit is the change since an older level that a number may have, whether or not the
// policy looks for drift.
func (in *inputs) driftLimit(n seriesKey) float64 {
	p := in.policyOf(n)
	if p.Drift > 0 {
		return p.Drift
	}
	return max(DefaultDrift, p.Threshold)
}

// onAnotherHost reports a verdict that run and reference are of different hosts.
func onAnotherHost(verdicts []Verdict) bool {
	return slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Finding == OtherHost })
}
