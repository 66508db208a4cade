package gate

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// judgeMetric judges one metric of a cell by the best evidence there is; ok is false
// where it is not gated.
func judgeMetric(in *inputs, ev *testResults, m *described, c cell) (v Verdict, ok bool) {
	counts := in.counts(m, c)
	if in.newCount(m, c) {
		return unrecorded(in, m, c, c.got.Sample(m.Name)), true
	}
	if !counts && (m.contradiction == "" && (in.shows(m, c.id) || m.tooFew(c.ref)) || m.Informational && in.limits.of(c.id, m.Name).shown) {
		return v, false
	}
	old, new := c.ref.Sample(m.Name), c.got.Sample(m.Name)
	if old == nil && new == nil {
		return v, false
	}
	if old != nil && new == nil {
		return Verdict{Finding: Missing, Delta: -100, Old: old.Median(),
			Reason: fmt.Sprintf("the baseline has %s for this cell and the run does not", m.Name)}, true
	}
	if m.replaced(c.ref) || m.replaced(c.got) {
		return v, false
	}
	if counts {
		return byCount(in, m, c), true
	}
	if v, ok := in.belowFloor(m, c); ok && old != nil {
		return v, true
	}
	if v, ok := in.withoutLimit(m, c); ok && old != nil {
		return v, true
	}
	if v, ok := m.impossible(old, new); ok {
		return v, true
	}
	if v, ok := byScore(in, ev, m, c); ok {
		return v, true
	}
	if v, ok := byTest(in, ev, m, c); ok {
		return in.allowing(m, c, m.step.caveat(&m.Metric, v)), true
	}
	if old == nil && in.onlyBounded(c, m.Name) {
		return v, false
	}
	if byPairs(in, m, c, old, new) {
		return in.allowing(m, c, byBase(m, new, c.got.Selected, in.policyOf(seriesKey{c.id, m.Name}).Threshold)), true
	}
	return in.allowing(m, c, byThreshold(in, ev, m, c, old, new)), true
}

// byThreshold judges a number without evidence and pairs: equality where it must be
// equal, else the fixed threshold.
func byThreshold(in *inputs, ev *testResults, m *described, c cell, old, new *bench.Sample) Verdict {
	switch {
	case old == nil:
		return unrecorded(in, m, c, new)
	case in.run.Metric(m.Name) == nil:
		return undescribed(m, old, new)
	case m.contradiction != "":
		return Verdict{Finding: Incomparable, Old: old.Median(), New: new.Median(),
			Reason: m.contradiction + "; if that is meant, record it with baseline update --force"}
	case m.Exact:
		return exact(old, new)
	case in.unjudged != "":
		return Verdict{Finding: Untracked, Old: old.Median(), New: new.Median(),
			Reason: "speed was not judged: " + in.unjudged}
	case unchanged(c.ref, c.got):
		return digest(old, new)
	case m.reliability(c.got) != "" || m.tooFew(c.got):
		return Verdict{Finding: Incomparable, DecidedBy: ByRepeats, Old: old.Median(), New: new.Median(),
			Reason: m.unreliable(c.got)}
	}
	number := seriesKey{c.id, m.Name}
	return once(withinChance(ev, number, m, m.step.caveat(&m.Metric, threshold(&m.Metric, old, new, in.policyOf(number).Threshold))))
}

func undescribed(m *described, old, new *bench.Sample) Verdict {
	return Verdict{Finding: Incomparable, Old: old.Median(), New: new.Median(),
		Reason: "the run does not state what " + m.Name + " is: measure it again with this version of accelgate"}
}

// byPairs reports whether a number without evidence is compared with that of the
// base that it was measured alternately with: there are too few pairs, or one of them
// holds no number that can be tested, or the policy wants the threshold alone.
func byPairs(in *inputs, m *described, c cell, old, new *bench.Sample) bool {
	switch {
	case len(new.Base) == 0 || !in.tool.Statistics || m.contradiction != "" || m.reliability(c.got) != "" || m.tooFew(c.got):
		return false
	case m.Exact:
		return old == nil // what the baseline says must be equal counts
	}
	return in.unjudged != "" || !unchanged(c.ref, c.got)
}

// byBase is the verdict of the threshold, or of equality, on pairs. Those that
// made the cell suspect do not count.
func byBase(m *described, new *bench.Sample, selected int, limit float64) (v Verdict) {
	old, now := new.Pairs()
	if selected < len(old) {
		old, now = old[selected:], now[selected:]
	}
	base, head := bench.Sample{Metric: m.Name, Values: old}, bench.Sample{Metric: m.Name, Values: now}
	if m.Exact {
		v = exact(&base, &head)
	} else {
		v = once(m.step.caveat(&m.Metric, threshold(&m.Metric, &base, &head, limit)))
	}
	v.Reference, v.Evidence.InPairs = pairReference, true
	return v
}

const single = "rests on a single measurement: measure the cell again with --only and --repeats 5"

// once adds to a regression that it rests on one value.
func once(v Verdict) Verdict {
	if v.Finding == Regressed && !v.Undecided() && v.Evidence.NewN == 1 {
		v.Reason = text.Reasons(v.Reason, single)
	}
	return v
}
