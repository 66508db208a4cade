package gate

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// described is a metric of either side. Where both describe it, the
// reference's word counts, because it was reviewed.
type described struct {
	bench.Metric
	contradiction string // how the two sides mean different things by the name
	// instead names the metric that is gated in place of this one where it
	// applies: FallbackFor, if that is one which is always gated.
	instead string
	step    step
}

// describedBy joins the metrics of both sides. ref is nil without a reference.
func describedBy(ref, run *bench.Run) []described {
	var all []described
	if ref != nil {
		for i := range ref.Metrics {
			m := &ref.Metrics[i]
			now := run.Metric(m.Name)
			d := described{Metric: *m, contradiction: Contradiction("baseline", m, now), step: printed(m, now, !ref.Host.Unknown())}
			if d.Kind = m.Quantity(); d.Kind == 0 && now != nil {
				d.Kind = now.Quantity()
			}
			d.Counted = d.Counted || now != nil && now.Counted // earlier versions did not record it
			all = append(all, d)
		}
	}
	for _, m := range run.Metrics {
		if ref == nil || ref.Metric(m.Name) == nil {
			all = append(all, described{Metric: m})
		}
	}
	for i := range all {
		m := &all[i]
		if slices.ContainsFunc(all, func(o described) bool { return o.Name == m.FallbackFor && o.Gates() }) {
			m.instead = m.FallbackFor
		}
	}
	return all
}

// replaced reports whether the metric that is gated in place of this one applies to a result.
func (m *described) replaced(r *bench.Result) bool {
	return m.instead != "" && compat.Applies(r, m.instead)
}

// coarser warns of metrics that the run prints in larger steps than the reference.
func coarser(ref, run *bench.Run) (verdicts []Verdict) {
	if ref == nil || ref.Host.Unknown() {
		return nil
	}
	for i := range ref.Metrics {
		m := &ref.Metrics[i]
		if now := run.Metric(m.Name); now != nil && now.Resolution > m.Resolution && (!m.Informational || m.Counted) {
			verdicts = append(verdicts, Verdict{Metric: m.Name, Finding: Incomparable, DecidedBy: ByNewBaseline,
				Reason: fmt.Sprintf("%s is printed in steps of %v and the baseline has steps of %v, which count: "+
					"record the cells again with baseline update", m.Name, now.Resolution, m.Resolution)})
		}
	}
	return verdicts
}

// Contradiction returns how the two sides mean different things by a metric's
// name, so that its numbers cannot be compared: a change of unit or direction,
// or a metric that is taken out of the gate. "" if they do not, or if the run
// has not heard of it. name is what the reference is called.
func Contradiction(name string, ref, run *bench.Metric) string {
	switch {
	case run == nil:
	case ref.Better != run.Better:
		return fmt.Sprintf("%s is better in the %s and %s in the run", ref.Better, name, run.Better)
	case ref.Unit != run.Unit && ref.Unit != "" && run.Unit != "":
		return fmt.Sprintf("its unit is %q in the %s and %q in the run", ref.Unit, name, run.Unit)
	case ref.Exact != run.Exact || ref.Informational != run.Informational || ref.CountedBy != run.CountedBy ||
		ref.ConfirmedBy != run.ConfirmedBy || ref.MinCount != run.MinCount:
		return "it is gated in another way in the " + name + " than in the run"
	}
	return ""
}
