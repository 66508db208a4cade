package gate

import (
	"fmt"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// Limit holds the configuration's own limits of one metric in a cell. nil is none.
type Limit struct {
	// Change is the change for the worse, in percent, that the metric may have. It is
	// used in place of the policy's Threshold and MinEffect.
	Change *float64
	// Noise derives Change from the recorded noise of the cell, in place of Change; nil does not.
	Noise *NoiseLimit
	// Min and Max bound the median, in the metric's unit. A median on a bound passes.
	Min, Max *float64
	// Test is [TestOneSided] or [TestTwoSided] to compare the metric by the standard errors
	// that its program reports, in place of the policy. Change is then the least
	// difference that blocks. "" tests nothing.
	Test string
	// Shown says that the cell's suite does not gate the metric, though another one does.
	Shown bool
	// Trade is the loss that a gain of another metric may pay for; nil is none.
	Trade *Trade

	derived *Derived // how Change was derived from Noise
}

// limitsOf returns the limits of each cell of the run by its id; nil where the
// configuration has none.
func limitsOf(in *inputs) map[string]map[string]Limit {
	if in.policy.Limits == nil {
		return nil
	}
	of := map[string]map[string]Limit{}
	for _, c := range in.cells {
		if limits := in.policy.Limits(c.got.Cell, in.run.Host.Label); len(limits) > 0 {
			of[c.id] = in.resolve(c, limits)
		}
	}
	return of
}

// LimitOf returns the change for the worse, in percent, that a metric of a cell may have on the host with this label: its
// own limit, or the threshold.
func (p *Policy) LimitOf(c bench.Cell, host, metric string) float64 {
	if p.Limits != nil {
		if l := p.Limits(c, host)[metric]; l.Change != nil {
			return *l.Change
		}
	}
	return p.Threshold
}

// change returns the limit of a number's change, in percent; ok is false where only
// the policy limits it.
func (in *inputs) change(n seriesKey) (percent float64, ok bool) {
	if l := in.limits[n.cell][n.metric]; l.Change != nil {
		return *l.Change, true
	}
	return 0, false
}

// shows reports whether a metric is only shown in a cell: it is informational there, and
// the configuration limits no change of it.
func (in *inputs) shows(m *described, cell string) bool {
	if !m.Informational && !in.limits[cell][m.Name].Shown {
		return false
	}
	_, limited := in.change(seriesKey{cell, m.Name})
	return !limited && !in.tested(seriesKey{cell, m.Name})
}

// policyOf returns the policy with the limit of a number in place of its own. Drift is
// at least as much: a loss that is allowed in one step is no drift.
func (in *inputs) policyOf(n seriesKey) *Policy {
	limit, ok := in.change(n)
	if !ok {
		return &in.policy
	}
	p := in.policy
	p.Threshold, p.MinEffect = limit, limit
	if p.Drift > 0 {
		p.Drift = max(p.Drift, limit)
	}
	return &p
}

// withoutChanges returns the inputs without limits of changes: the policy limits
// all numbers.
func (in *inputs) withoutChanges() *inputs {
	out := *in
	out.limits = nil
	return &out
}

// limitsChanges reports whether any number has a limit of its own, or a test.
func (in *inputs) limitsChanges() bool {
	for _, limits := range in.limits {
		for _, l := range limits {
			if l.Change != nil || l.Test != "" {
				return true
			}
		}
	}
	return false
}

// bounded judges the medians of a cell that passed by their bounds, and shows these
// in the other verdicts on the metrics. No reference, noise or state of the host
// counts.
func bounded(in *inputs, c cell, verdicts []Verdict) []Verdict {
	if c.got.Outcome != bench.Passed {
		return verdicts
	}
	limits := in.limits[c.id]
	for _, metric := range slices.Sorted(maps.Keys(limits)) {
		l := limits[metric]
		if l.Min == nil && l.Max == nil && !in.limitsResource(metric) {
			continue
		}
		for i := range verdicts {
			if v := &verdicts[i]; v.Metric == metric {
				v.Evidence.Min, v.Evidence.Max = l.Min, l.Max
			}
		}
		if v, ok := l.judge(in.run, c, metric); ok && !(v.Finding == Missing && lacking(verdicts, metric)) {
			verdicts = append(verdicts, v)
		}
	}
	return verdicts
}

// limitsResource reports whether a metric is a resource: only its limits demand it.
func (in *inputs) limitsResource(metric string) bool {
	if m := in.run.Metric(metric); m != nil {
		return m.IsResource()
	}
	m := in.metric(metric)
	return m == nil && bench.Resource(metric) != nil || m != nil && m.IsResource()
}

func lacking(verdicts []Verdict, metric string) bool {
	return slices.ContainsFunc(verdicts, func(v Verdict) bool { return v.Metric == metric && v.Finding == Missing })
}

// judge is the verdict on a median beyond its bounds; ok is false where it is within
// them. A metric that some cells need not report may be absent.
func (l Limit) judge(run *bench.Run, c cell, metric string) (v Verdict, ok bool) {
	v = Verdict{Cell: c.id, Metric: metric, Finding: OutOfBounds, Evidence: Evidence{Method: MethodBound, Min: l.Min, Max: l.Max}}
	sample := c.got.Sample(metric)
	if sample == nil {
		m := run.Metric(metric)
		v.Finding, v.Evidence.Method = Missing, NoMethod
		v.Reason = "the configuration bounds " + printable(metric, maxName) + " and the cell does not report it"
		if m != nil && m.IsResource() {
			v.Reason = "the configuration limits " + metric + " and it could not be measured here (" + m.Definition + "): remove the limit, or name the hosts that can in its when, as in when: {host: gpu-*}"
		}
		return v, m == nil || !m.Optional && m.FallbackFor == ""
	}
	s := sample.Summarize()
	v.New, v.Evidence.NewN, v.Evidence.Noise = s.Median, s.N, noise(s)
	switch { // NaN is within no bounds
	case l.Min != nil && !(s.Median >= *l.Min):
		v.Reason = fmt.Sprintf("%v is below the minimum %v", s.Median, *l.Min)
	case l.Max != nil && !(s.Median <= *l.Max):
		v.Reason = fmt.Sprintf("%v is above the maximum %v", s.Median, *l.Max)
	default:
		return v, false
	}
	if m := run.Metric(metric); sample.Doubt != "" && m != nil && m.IsResource() {
		v.Reason = text.Reasons(v.Reason, sample.Doubt)
	}
	return v, true
}
