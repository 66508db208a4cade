package diff

import (
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// inferenceBench compares by the rules of InferenceBench's diff (version 0.1.0,
// yobitelcomm/bench) to the letter. They are kept as they are, oddities
// included: there is no allowance for binary fractions, so that 1.0 -> 1.02 is
// beyond 2 % and 100 -> 102 is not; the smallest growth from 0 is beyond any
// tolerance; infinity is a number, and worse than itself; what only the
// candidate has is unknown; a direction that is not in its table is unknown even
// where nothing changed; a mismatch of the context, a placeholder or not, only
// warns; and a vanished metric does not fail. Deltas may be infinite or NaN.
func (d *Difference) inferenceBench(baseline, candidate Document, pairs []metricPair, p Policy) {
	for _, f := range pairUp(baseline.Context, candidate.Context, func(f *Fact) string { return f.Name }) {
		c := ContextMatch{Name: f.key, Baseline: f.old.value(), Candidate: f.new.value(), Level: gate.Warn}
		c.Match = c.Baseline == c.Candidate
		d.Context = append(d.Context, c)
	}
	for _, m := range pairs {
		row := describe(m)
		row.Baseline, row.Candidate = m.old.pythonFloat(), m.new.pythonFloat()
		row.classify(p.Tolerance)
		d.Failed = d.Failed || p.Strict && row.Verdict == Regression
		d.Rows = append(d.Rows, row)
	}
}

// classify gives a row its changes and its verdict.
func (r *Row) classify(tolerance float64) {
	switch {
	case r.Baseline == nil && r.Candidate == nil:
		r.Verdict = NoChange
		return
	case r.Candidate == nil:
		r.Verdict = Missing
		return
	case r.Baseline == nil:
		r.Verdict = Unknown
		return
	}
	delta := *r.Candidate - *r.Baseline
	same := delta == 0
	r.DeltaAbs = &delta
	if *r.Baseline != 0 {
		rel := delta / math.Abs(*r.Baseline)
		r.DeltaRel = &rel
		same = math.Abs(rel) <= tolerance
	}
	switch {
	case r.Better == "":
		r.Verdict = Unknown
	case same:
		r.Verdict = NoChange
	case r.Better == bench.Lower && delta < 0, r.Better == bench.Higher && delta > 0:
		r.Verdict = Improvement
	default:
		r.Verdict = Regression // also where the change is NaN
	}
}

// pythonFloat is the value as the original reads it: infinity is one, NaN is none.
func (m *Metric) pythonFloat() *float64 {
	if m == nil || !m.Has || math.IsNaN(m.Value) {
		return nil
	}
	x := m.Value
	return &x
}
