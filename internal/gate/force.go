package gate

import (
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// forced judges a metric by the limits of its change that block on every level, and by those that
// never block, and returns the verdict that matters most. v is the one by the other limits.
func forced(in *inputs, ev *testResults, m *described, c cell, v Verdict) Verdict {
	for _, force := range []Force{Required, Advisory} {
		l := in.byForce[force].of(c.id, m.Name)
		if l.allowed == nil || v.loss() && v.Force != ByLevel {
			continue
		}
		if force == Required && in.limits.of(c.id, m.Name).allowed.by == l.allowed.by {
			if v.loss() {
				v.Force, v.Entry = Required, l.sourceOf() // no other change is limited
			}
			continue
		}
		other, ok := judgeMetric(in.withLimits(in.byForce[force]), ev.byForce[force], m, c)
		if !ok || other.Finding != Regressed || force == Required && other.Undecided() || force == Advisory && v.loss() {
			continue
		}
		other.Cell, other.Metric, other.Force, other.Entry = c.id, m.Name, force, l.sourceOf()
		other.Evidence.Derived = l.derived()
		v = other
	}
	return v
}

// sourceOf is the place of the rule that allows the smallest change; "" if there is none.
func (l *limit) sourceOf() string {
	for _, r := range l.changes {
		if l.allowed != nil && r.Change == l.allowed.by {
			return r.Source
		}
	}
	return ""
}

// belowFloor is the verdict on a number whose reference is too small to be judged; ok is false for others.
func (in *inputs) belowFloor(m *described, c cell) (v Verdict, ok bool) {
	if !in.isBelow(m, c) {
		return v, false
	}
	a, old := in.limits.of(c.id, m.Name).allowed, in.sizeOf(c, m.Name)
	return Verdict{Finding: Skipped, Old: old, New: c.got.Sample(m.Name).Median(),
		Reason: fmt.Sprintf("%.4g%s is below %.4g%s, from where %s is judged", old, unit(&m.Metric), a.below.From, unit(&m.Metric),
			text.Visible(m.Name, maxName))}, true
}

// allowing judges a change from 0 by what the configuration allows in the metric's unit, and adds to a loss what that is
// where it is more than a percentage.
func (in *inputs) allowing(m *described, c cell, v Verdict) Verdict {
	a := in.limits.of(c.id, m.Name).allowed
	switch {
	case a == nil:
		return v
	case v.Old == 0 && v.New == 0 && v.Finding == Unchanged && (a.both && a.absolute > 0 || m.Better == bench.Lower):
		v.Evidence.Method = MethodThreshold // any change for the worse would have blocked
		return v
	case v.Old == 0 && a.absolute > 0 && (v.Finding == Regressed || v.Finding == Incomparable && v.DecidedBy == ByNewBaseline):
		return a.judgeFromZero(m, v)
	case v.Old == 0 || a.by.Absolute == 0 || v.Finding != Regressed:
		return v
	}
	allowed := a.percent * math.Abs(v.Old) / 100
	v.Reason = text.Reasons(v.Reason, fmt.Sprintf("%s allows %.4g%s here", a.by.Text, allowed, unit(&m.Metric)))
	return v
}

// judgeFromZero judges a change from 0 by the amount that it may have. A metric that is better higher can lose nothing from 0
// but by a negative number, so that only a limit in both directions guards it.
func (a *allowance) judgeFromZero(m *described, v Verdict) Verdict {
	loss := v.New
	if m.Better != bench.Lower {
		loss = -v.New
	}
	if m.Better != bench.Lower && loss <= 0 && !a.both {
		return v
	}
	allows := fmt.Sprintf("the baseline is 0, and %s allows %.4g%s", a.fromZero.Text, a.absolute, unit(&m.Metric))
	v.DecidedBy, v.Evidence.Method, v.Delta, v.Interval = Certain, MethodThreshold, 0, [2]float64{}
	switch {
	case loss > a.absolute:
		v.Finding, v.Delta, v.Reason = Regressed, -100, allows
		return once(v)
	case -loss > a.absolute && a.both:
		v.Finding, v.Delta, v.Reason = Improved, 100, allows
	default:
		v.Finding, v.Reason = Unchanged, allows
	}
	return v
}

// isBelow reports whether a reference is too small to be judged. One of 0 is none.
func (in *inputs) isBelow(m *described, c cell) bool {
	a := in.limits.of(c.id, m.Name).allowed
	return a != nil && a.below != nil && in.sizeOf(c, m.Name) > 0
}
