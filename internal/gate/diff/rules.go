package diff

import (
	"cmp"
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// impossibleSides returns which number of either side cannot be, or "".
func impossibleSides(sides ...Document) (why string) {
	for _, side := range sides {
		if side.Impossible != "" {
			why = text.Reasons(why, fmt.Sprintf("%.200s: %s: correct what wrote it", side.Name, side.Impossible))
		}
	}
	return why
}

// refusal returns why the two must not be compared, or "".
func refusal(context []ContextMatch, strict bool, compared, judged, fails int) string {
	var reasons []string
	if why := differ(context); why != "" {
		reasons = append(reasons, why)
	}
	switch {
	case fails > 0: // what vanished is a verdict
	case compared == 0:
		reasons = append(reasons, "nothing could be compared: no metric of one cell has a number on both sides:"+
			" compare documents of the same suite")
	case strict && judged == 0:
		reasons = append(reasons, "nothing could be judged: every metric is informational, inconclusive or of unknown direction:"+
			" see the reasons of the single metrics, or leave strict out to only look at the numbers")
	}
	return strings.Join(reasons, "; ")
}

// judgedRow is a row and what it counts for: each count is 0 or 1.
type judgedRow struct {
	row      Row
	compared int // both sides have a number, of one unit and direction
	judged   int // and the two say whether the metric changed for the worse
	fails    int // if strict
}

// describe fills in what holds by any rule: what the baseline does not say, the
// candidate may.
func describe(m metricPair) Row {
	row := Row{Cell: m.cell, Metric: m.key}
	for _, side := range []*Metric{m.old, m.new} {
		if side == nil {
			continue
		}
		row.Unit = cmp.Or(row.Unit, side.Unit)
		if row.Better == "" && directed(side.Better) {
			row.Better = side.Better
		}
	}
	return row
}

func directed(d bench.Direction) bool { return d == bench.Higher || d == bench.Lower }

func (p Policy) find(m metricPair) judgedRow {
	f := judgedRow{row: describe(m)}
	row := &f.row
	row.Baseline, row.Candidate = m.old.number(), m.new.number()
	switch disagreement := m.disagreement(); {
	case m.gone:
		f.fails = 1
		row.Verdict, row.Reason = Missing, "the candidate does not have the cell: measure it as well"
	case m.added:
		row.Verdict, row.Reason = New, "the baseline does not have the cell: record it there to have it judged"
	case row.Baseline == nil && row.Candidate == nil:
		row.Verdict, row.Reason = NoChange, "neither side has a number, so no scenario was compared: name one with --scenarios"
	case row.Candidate == nil:
		f.fails = 1
		row.Verdict, row.Reason = Missing, "the candidate has no number for it: measure it again"
	case row.Baseline == nil:
		row.Verdict, row.Reason = New, "the baseline has no number for it: record it there to have it judged"
	case disagreement != "":
		f.fails = stats.Indicator(!m.informational())
		row.Verdict, row.Reason = Inconclusive, disagreement
	case m.reliability() != "":
		f.compared = 1
		row.Verdict, row.Reason = Inconclusive, m.reliability()
	default:
		f.compare(m, p)
	}
	return f
}

// reliability returns why one of the two numbers is not fit to be judged, or "".
func (m metricPair) reliability() string { return cmp.Or(m.new.Caveat, m.old.Caveat) }

// compare judges two numbers.
func (f *judgedRow) compare(m metricPair, p Policy) {
	row := &f.row
	old, new := *row.Baseline, *row.Candidate
	delta, rel := new-old+0, (new-old)/math.Abs(old) // without minus zero
	row.DeltaAbs, row.DeltaRel = finiteOrNone(delta), finiteOrNone(rel)
	switch {
	case delta == 0 || !m.exact() && math.Abs(rel) <= p.limit(): // false for NaN
		row.Verdict = NoChange
	case m.informational():
		row.Verdict, row.Reason = Unknown, "informational: shown, not judged"
	case m.exact():
		row.Verdict, row.Reason = Regression, fmt.Sprintf("must equal %v: find out why it does not", old)
	case row.Better == "":
		row.Verdict, row.Reason = Unknown, "the direction is unknown: shown, not judged"
	default:
		row.Verdict, row.Reason = direct(row.Better, old, new)
	}
	if why := m.suspicious(old, new); why != "" && !m.informational() && !m.exact() {
		row.Verdict, row.Reason = Implausible, why
		f.compared, f.judged, f.fails = 1, 1, 1
		return
	}
	if few, minimum := m.few(); few > 0 && (row.Verdict == Regression || row.Verdict == Improvement) {
		row.Verdict, row.Reason = Inconclusive, fmt.Sprintf(
			"a percentile of %d requests is little else than their maximum: gate it from %d on", few, minimum)
	}
	if note := m.fewer(); note != "" {
		row.Reason = text.Reasons(row.Reason, note)
	}
	f.compared = 1
	f.judged = stats.Indicator(!m.informational() && row.Verdict != Unknown && row.Verdict != Inconclusive)
	f.fails = stats.Indicator(row.Verdict == Regression)
}

// direct judges two numbers that differ.
func direct(better bench.Direction, old, new float64) (Verdict, string) {
	switch {
	case old == 0 && better == bench.Lower && new > 0:
		return Regression, "the baseline is 0"
	case old == 0:
		return Inconclusive, "the baseline is 0, so a relative change is undefined: compare with a baseline that is not 0"
	case (new > old) == (better == bench.Higher):
		return Improvement, ""
	}
	return Regression, ""
}

// limit is the largest relative change that is none, as a fraction.
func (p Policy) limit() float64 {
	if p.Tolerance > 0 {
		return p.Tolerance + gate.Tolerance/100
	}
	return 0
}

// number is the value of a metric, nil where it is none or not finite.
func (m *Metric) number() *float64 {
	if m == nil || !m.Has {
		return nil
	}
	return finiteOrNone(m.Value)
}

func finiteOrNone(x float64) *float64 {
	if !bench.Finite(x) {
		return nil
	}
	return &x
}
