package gate

import (
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// boundTest is the evidence that a coefficient of the run is beyond a bound.
type boundTest struct {
	value, stderr, chance float64
	points                int
	beyond                string // "3.2 is above the maximum 3"; "" if it is within its bounds
}

// spendBound judges a coefficient of the run by its bounds. No reference counts.
func (in *inputs) spendBound(of *Budget) budgeted {
	b := budgeted{BudgetResult: BudgetResult{Budget: *of}, group: group{metric: in.metric(of.Metric)}}
	b.verdict = Verdict{Metric: of.Metric, Finding: Incomparable, DecidedBy: ByWholeGroup,
		Evidence: Evidence{Min: of.Fit.Min, Max: of.Fit.Max}}
	g := &b.group
	g.absent, g.gone = in.lacking[of.Suite].cells, in.lacking[of.Suite].gone
	var xs, ys []float64
	var without []string
	for _, c := range of.Fit.line.cells {
		if c.got.Outcome == bench.Skipped && !in.required(c.id) {
			continue
		}
		g.of++
		y, ok := in.pointOf(g.metric, c)
		if !ok {
			without = append(without, c.id)
			continue
		}
		xs, ys = append(xs, of.Fit.x(c.id)), append(ys, y)
		g.members = append(g.members, member{cell: c})
	}
	b.Cells, b.Of = len(g.members), g.of
	t := &boundTest{points: len(xs)}
	fits := false
	t.value, t.stderr, fits = detect.FitOne(xs, ys, of.Fit.coefficient)
	switch {
	case len(without) > 0:
		b.verdict.Reason = "no usable number of " + cellsOf(without) + ": a fit needs its whole group; measure again"
	case g.absent > 0:
		b.verdict.Reason = g.lacks("fit")
	case !fits || math.IsNaN(t.value) || math.IsInf(t.value, 0):
		b.verdict.Reason = fmt.Sprintf("a fit needs %d points with different values of %s, and the run has %s of the group: measure more",
			detect.MinPoints, text.Visible(of.Fit.Over, maxName), text.Plural(t.points, "cell"))
	default:
		t.judge(of.Fit)
		b.test = t
	}
	return b
}

// pointOf is the median of a metric in a cell of the run; ok is false where no line should go through it.
func (in *inputs) pointOf(m *described, c cell) (y float64, ok bool) {
	if m == nil || c.got.Outcome != bench.Passed || in.quarantined(c.id) || m.reliability(c.got) != "" || m.tooFew(c.got) {
		return 0, false
	}
	now := c.got.Sample(m.Name)
	if now == nil || len(now.Values) == 0 {
		return 0, false
	}
	y = stats.Median(now.Values)
	return y, y > 0 && !math.IsInf(y, 1)
}

func (t *boundTest) judge(f *Fitted) {
	t.chance = 1
	switch {
	case f.Max != nil && t.value > *f.Max:
		t.chance, t.beyond = detect.Beyond(t.value-*f.Max, t.stderr, t.points), fmt.Sprintf("%.4g is above the maximum %v", t.value, *f.Max)
	case f.Min != nil && t.value < *f.Min:
		t.chance, t.beyond = detect.Beyond(*f.Min-t.value, t.stderr, t.points), fmt.Sprintf("%.4g is below the minimum %v", t.value, *f.Min)
	}
}

func (t *boundTest) p() float64 { return t.chance }

func (t *boundTest) result(*budgeted, float64) meanFinding {
	return meanFinding{
		new:      t.value,
		values:   t.points,
		evidence: Evidence{Method: MethodBound, NewN: t.points, P: t.chance, StdErr: t.stderr},
	}
}

// decideBound gives the verdict on a coefficient with bounds.
func (t *boundTest) decide(in *inputs, v *Verdict, q, share float64) {
	switch {
	case t.beyond == "":
		v.Finding = Unchanged
	case in.policy.Method == MethodThreshold || q <= share:
		v.Finding, v.Reason = OutOfBounds, t.beyond
	default:
		v.Finding = OutOfBounds
		v.undecide(ByRepeats, fmt.Sprintf("%s, and with a standard error of %.2g that is not certain (q %.2g): "+
			"measure more with --repeats 5, or more cells over the axis", t.beyond, t.stderr, q))
	}
}
