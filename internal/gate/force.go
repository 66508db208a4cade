package gate

import (
	"fmt"
	"math"

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
	if a == nil || a.by.Absolute == 0 || v.Finding != Regressed {
		return v
	}
	if v.Old == 0 && v.New <= a.absolute {
		v.Finding, v.DecidedBy, v.Delta, v.Interval = Unchanged, Certain, 0, [2]float64{}
		v.Reason = fmt.Sprintf("the baseline is 0, and %s allows %.4g%s", a.by.Text, a.absolute, unit(&m.Metric))
		return v
	}
	allowed := a.percent * math.Abs(v.Old) / 100
	if v.Old == 0 {
		allowed = a.absolute
	}
	v.Reason = text.Reasons(v.Reason, fmt.Sprintf("%s allows %.4g%s here", a.by.Text, allowed, unit(&m.Metric)))
	return v
}

// isBelow reports whether a reference is too small to be judged. One of 0 is none.
func (in *inputs) isBelow(m *described, c cell) bool {
	a := in.limits.of(c.id, m.Name).allowed
	return a != nil && a.below != nil && in.sizeOf(c, m.Name) > 0
}
