package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// countStep is by how much the values of one count differ: a harness divides a total by the number of operations and
// cuts the fraction, so code with 9 allocations reports 8 or 9.
const countStep = 1

// counts reports whether a metric is gated as a count: the values of each side are those of one count, so
// that its change needs no statistics. A count that the run lacks is missing.
func (in *inputs) counts(m *described, c cell) bool {
	new := c.got.Sample(m.Name)
	old, paired := countOf(m, c)
	switch {
	case !in.mayCount(m, c.id):
		return false
	case old == nil || !steady(old) || in.unjudged != "" && !paired:
		return false
	}
	return new == nil || steady(new)
}

// mayCount reports whether a metric is gated as a count where its values are equal.
func (in *inputs) mayCount(m *described, id string) bool {
	l := in.limits.of(id, m.Name)
	return m.Counted && m.contradiction == "" && in.tool.Statistics && !l.shown && l.test == ""
}

// newCount reports whether a metric would be gated as a count if the reference had it.
func (in *inputs) newCount(m *described, c cell) bool {
	new := c.got.Sample(m.Name)
	return in.mayCount(m, c.id) && in.byID[c.id] != nil && c.ref.Sample(m.Name) == nil && new != nil && len(new.Base) == 0 && steady(new)
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

// steady reports whether all values are those of one count, as far as a summary shows it.
func steady(s *bench.Sample) bool {
	low, high := span(s)
	return high-low <= countStep
}

// span is the smallest and the largest value of a side, as far as a summary shows it.
func span(s *bench.Sample) (low, high float64) {
	if len(s.Values) == 0 {
		all := s.Summarize()
		return all.Median - all.MAD, all.Median + all.MAD
	}
	return slices.Min(s.Values), slices.Max(s.Values)
}

// SameCount reports whether values are those of one count, as [byCount] judges them.
func SameCount(values []float64) bool {
	return len(values) == 0 || steady(&bench.Sample{Values: values})
}

// nearest are the values of both sides that are nearest to each other: what differs for certain.
func nearest(old, new *bench.Sample) (o, n float64) {
	oldLow, oldHigh := span(old)
	newLow, newHigh := span(new)
	switch {
	case newLow > oldHigh:
		return oldHigh, newLow
	case newHigh < oldLow:
		return oldLow, newHigh
	}
	same := max(oldLow, newLow)
	return same, same
}

// counted is a side of one value.
func counted(s *bench.Sample, value float64) *bench.Sample {
	return &bench.Sample{Metric: s.Metric, Summary: &bench.Summary{Median: value, N: s.Summarize().N}}
}

// byCount is the verdict on a count. Smaller changes than the policy's least effect never block.
func byCount(in *inputs, m *described, c cell) Verdict {
	old, paired := countOf(m, c)
	if in.run.Metric(m.Name) == nil && !paired {
		return undescribed(m, old, c.got.Sample(m.Name))
	}
	o, n := nearest(old, c.got.Sample(m.Name))
	v := threshold(&m.Metric, counted(old, o), counted(c.got.Sample(m.Name), n), in.policyOf(seriesKey{c.id, m.Name}).minEffect())
	if v.Finding == Implausible && v.New == 0 { // a count can be none, unlike a time
		v.Finding, v.Evidence.Method = Improved, MethodThreshold
	}
	if paired {
		v.Reference, v.Evidence.InPairs = pairReference, true
	}
	return v
}
