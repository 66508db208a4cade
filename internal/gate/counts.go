package gate

import (
	"github.com/accelgate/accelgate/internal/bench"
)

// counts reports whether a metric is gated as a count: all values of each side are equal, so
// that its change needs no statistics. A count that the run lacks is missing.
func (in *inputs) counts(m *described, c cell) bool {
	new := c.got.Sample(m.Name)
	old, paired := countOf(m, c)
	switch {
	case !in.mayCount(m, c.id):
		return false
	case old == nil || !constant(old) || in.unjudged != "" && !paired:
		return false
	}
	return new == nil || constant(new)
}

// mayCount reports whether a metric is gated as a count where its values are equal.
func (in *inputs) mayCount(m *described, id string) bool {
	l := in.limits.of(id, m.Name)
	return m.Counted && m.contradiction == "" && in.tool.Statistics && !l.shown && l.test == ""
}

// newCount reports whether a metric would be gated as a count if the reference had it.
func (in *inputs) newCount(m *described, c cell) bool {
	new := c.got.Sample(m.Name)
	return in.mayCount(m, c.id) && in.byID[c.id] != nil && c.ref.Sample(m.Name) == nil && new != nil && len(new.Base) == 0 && constant(new)
}

// countOf is what a count is compared with: the values of the base, else the reference's; nil if
// there is neither.
func countOf(m *described, c cell) (s *bench.Sample, paired bool) {
	if now := c.got.Sample(m.Name); now != nil && len(now.Base) > 0 {
		return &bench.Sample{Metric: m.Name, Values: now.Base}, true
	}
	if c.ref == nil {
		return nil, false
	}
	return c.ref.Sample(m.Name), false
}

// constant reports whether all values are equal, as far as a summary shows it.
func constant(s *bench.Sample) bool {
	for _, v := range s.Values {
		if v != s.Values[0] {
			return false
		}
	}
	return s.Summary == nil || s.Summary.MAD == 0
}

// byCount is the verdict on a count. Smaller changes than the policy's least effect never block.
func byCount(in *inputs, m *described, c cell) Verdict {
	old, paired := countOf(m, c)
	if in.run.Metric(m.Name) == nil && !paired {
		return undescribed(m, old, c.got.Sample(m.Name))
	}
	v := threshold(&m.Metric, old, c.got.Sample(m.Name), in.policyOf(seriesKey{c.id, m.Name}).minEffect())
	if v.Finding == Implausible && v.New == 0 { // a count can be none, unlike a time
		v.Finding, v.Evidence.Method = Improved, MethodThreshold
	}
	if paired {
		v.Reference, v.Evidence.InPairs = pairReference, true
	}
	return v
}
