package diff

import (
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// byTool compares by the rules of another tool: a mismatch of the context, a placeholder or not, only warns, and a
// vanished metric does not fail.
func (d *Difference) byTool(baseline, candidate Document, pairs []metricPair, p Policy, tool *compat.Rules) {
	for _, f := range pairUp(baseline.Context, candidate.Context, func(f *Fact) string { return f.Name }) {
		c := ContextMatch{Name: f.key, Baseline: f.old.value(), Candidate: f.new.value(), Level: gate.Warn}
		c.Match = c.Baseline == c.Candidate
		d.Context = append(d.Context, c)
	}
	for _, m := range pairs {
		row := describe(m)
		row.Baseline, row.Candidate = m.old.pythonFloat(), m.new.pythonFloat()
		c := tool.Change(row.Baseline, row.Candidate, row.Better, p.Tolerance)
		row.Verdict, row.DeltaAbs, row.DeltaRel = Verdict(c.Verdict), c.Delta, c.Relative
		d.Failed = d.Failed || p.Strict && row.Verdict == Regression
		d.Rows = append(d.Rows, row)
	}
}

// placeByTool is the place of a verdict in the order of a tool.
func placeByTool(order []string, v Verdict) int {
	if i := slices.Index(order, string(v)); i >= 0 {
		return i
	}
	return len(order)
}

// pythonFloat is the value as the original reads it: infinity is one, NaN is none.
func (m *Metric) pythonFloat() *float64 {
	if m == nil || !m.Has || math.IsNaN(m.Value) {
		return nil
	}
	x := m.Value
	return &x
}
