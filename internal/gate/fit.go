package gate

import (
	"fmt"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
)

// Fit is a line of a metric over an axis, one for each group of cells that differ in that axis
// alone.
type Fit struct {
	Scope
	Over string  // the axis
	Per  float64 // the slope is per so many units of the axis
	// At returns the group of a cell and its place on the axis; ok is false for cells that are
	// no point of the fit.
	At               func(bench.Cell) (group string, x float64, ok bool)
	Slope, Intercept FitLimit
}

// FitLimit limits one coefficient. nil limits nothing.
type FitLimit struct {
	Change   *float64 // for the worse, in percent
	Min, Max *float64 // of the coefficient, in the metric's unit
}

// Fitted is the coefficient that a [Budget] is about.
type Fitted struct {
	Of   string   `json:"of"` // "slope" or "intercept"
	Over string   `json:"over"`
	Per  float64  `json:"per,omitempty"` // of a slope
	Min  *float64 `json:"min,omitempty"`
	Max  *float64 `json:"max,omitempty"`

	coefficient detect.Coefficient
	line        *line
}

// line is a group of cells that differ in the axis alone, with the place of each by its id.
type line struct {
	cells []cell
	at    map[string]float64
}

// x is the place of a cell of the group, in units of the slope.
func (f *Fitted) x(id string) float64 {
	if f.Per > 0 {
		return f.line.at[id] / f.Per
	}
	return f.line.at[id]
}

// within are the cells of the run that a budget is about.
func (in *inputs) within(b *Budget) (cells []cell) {
	if b.Fit != nil {
		return b.Fit.line.cells
	}
	for _, c := range in.cells {
		if b.selects(c.got.Cell) {
			cells = append(cells, c)
		}
	}
	return cells
}

func (f *Fitted) bounds() bool { return f.Min != nil || f.Max != nil }

// fitted returns the budgets of the coefficients that the configuration limits, for each group of the run.
func (in *inputs) fitted(fits []*Fit) (list []*Budget) {
	for _, f := range fits {
		var groups []string
		lines := map[string]*line{}
		for _, c := range in.cells {
			group, x, ok := f.At(c.got.Cell)
			if !ok || !f.selects(c.got.Cell) {
				continue
			}
			if lines[group] == nil {
				groups, lines[group] = append(groups, group), &line{at: map[string]float64{}}
			}
			l := lines[group]
			l.cells, l.at[c.id] = append(l.cells, c), x
		}
		for _, group := range groups {
			b := Budget{Scope: Scope{Suite: f.Suite, Metric: f.Metric}, When: group}
			list = append(
				list,
				f.Slope.of(b, Fitted{Of: "slope", Over: f.Over, Per: f.Per, coefficient: detect.Slope, line: lines[group]})...)
			list = append(
				list,
				f.Intercept.of(b, Fitted{Of: "intercept", Over: f.Over, coefficient: detect.Intercept, line: lines[group]})...)
		}
	}
	return list
}

// of returns a budget for the change of the coefficient and one for its bounds.
func (l *FitLimit) of(b Budget, f Fitted) (list []*Budget) {
	if l.Change != nil {
		change, fit := b, f
		change.Loss, change.Fit = *l.Change, &fit
		list = append(list, &change)
	}
	if l.Min != nil || l.Max != nil {
		f.Min, f.Max = l.Min, l.Max
		b.Fit = &f
		list = append(list, &b)
	}
	return list
}

// incomplete returns why a group of a fit has no line, or "". All of its points count, or none: a
// line through others is another line.
func (g *group) incomplete(f *Fitted) string {
	switch {
	case len(g.apart) > 0:
		return cellsOf(g.apart) + " in quarantine: a fit needs its whole group"
	case len(g.members) > 0 && g.same > 0:
		return fmt.Sprintf("%s without a new number: a fit needs its whole group", text.Plural(g.same, "cell"))
	}
	var xs []float64
	for i := range g.members {
		xs = append(xs, f.x(g.members[i].id))
	}
	slices.Sort(xs)
	if n := len(slices.Compact(xs)); len(g.members) > 0 && n < detect.MinPoints {
		return fmt.Sprintf("%s to compare, and a fit needs %d: measure more cells over %s, or record them with baseline update",
			text.Plural(n, "point"), detect.MinPoints, text.Visible(f.Over, maxName))
	}
	return ""
}

// fitTest is the evidence on the change of a coefficient.
type fitTest struct {
	detect.FitEvidence
	metric  *described
	paired  bool
	used    int  // pairs of each cell that were looked at
	need    int  // pairs that each cell is to have before more can be said; 0 if it is settled
	decides bool // the evidence may convict, and not only select
}

// newFitTest takes pairs, or two sessions. It returns nil where no line goes through the values.
func newFitTest(in *inputs, b *budgeted) meanTest {
	t := &fitTest{metric: b.group.metric, paired: b.group.paired}
	ok := false
	if t.paired {
		ok = t.walk(in, b)
	} else {
		t.decides = true
		t.FitEvidence, ok = detect.JudgeFitTwoSample(sidesOfFit(b), b.Fit.coefficient, t.metric.Better != bench.Lower)
	}
	if !ok || math.IsNaN(t.Old+t.New) || math.IsInf(t.Old+t.New, 0) {
		b.verdict.DecidedBy, b.verdict.Reason = Certain, "no line goes through the values: they are not finite numbers; measure again"
		return nil
	}
	return t
}

// sidesOfFit are the points of a fit whose sides were measured in two sessions.
func sidesOfFit(b *budgeted) []detect.FitTwoSample {
	points := make([]detect.FitTwoSample, len(b.group.members))
	for i := range points {
		m := &b.group.members[i]
		o, n := m.old.Summarize(), m.now.Summarize()
		points[i] = detect.FitTwoSample{X: b.Fit.x(m.id), Base: baseSide(&o), Head: detect.NewSide(n.Median, n.MAD, n.N)}
	}
	return points
}

// walk takes the cells of the group through the stages of pairs together, as [detect.JudgeStages] takes
// each: the looks only select, and fresh pairs of all cells decide. Where there is one look, all pairs decide.
func (t *fitTest) walk(in *inputs, b *budgeted) (ok bool) {
	have := math.MaxInt
	for i := range b.group.members {
		have = min(have, len(b.group.members[i].now.Base))
	}
	if in.policy.OneLook || in.policy.Method == MethodThreshold {
		t.decides = true
		return t.judge(b, 0, have)
	}
	s := stages(in.run)
	for _, look := range s.Looks {
		if have < look.Pairs {
			t.need = look.Pairs
			return t.judge(b, 0, have)
		}
		if ok = t.judge(b, 0, look.Pairs); !ok || t.P > look.P {
			return ok
		}
	}
	last := s.Looks[len(s.Looks)-1].Pairs
	if have < s.Total() {
		t.need = s.Total()
		return true
	}
	t.decides = true
	return t.judge(b, last, s.Total())
}

// judge takes the pairs from one to another of each cell.
func (t *fitTest) judge(b *budgeted, from, to int) (ok bool) {
	points := make([]detect.FitPoint, len(b.group.members))
	for i := range points {
		m := &b.group.members[i]
		base, head := m.now.Pairs()
		points[i] = detect.FitPoint{X: b.Fit.x(m.id), Base: base[from:to], Head: head[from:to]}
	}
	t.used = to
	t.FitEvidence, ok = detect.JudgeFitPairs(points, b.Fit.coefficient, t.metric.Better != bench.Lower)
	return ok
}

// p is 1 where the evidence only selects.
func (t *fitTest) p() float64 {
	if !t.decides {
		return 1
	}
	return t.P
}

func (t *fitTest) result(b *budgeted, alpha float64) meanFinding {
	better := t.metric.Better
	f := meanFinding{old: t.Old, new: t.New, values: t.Values, convicts: true}
	low, high := t.Interval()
	if better == bench.Lower {
		low, high = -high, -low
	}
	size := math.Abs(t.Old)
	if delta, ok := better.Gain(t.Old, t.New); ok {
		f.delta, f.interval = delta, [2]float64{100 * low / size, 100 * high / size}
	}
	f.evidence = Evidence{Method: MethodFit, OldN: t.Values, NewN: t.Values, P: t.P, StdErr: t.StdErr}
	if mde := t.MDE(alpha); !math.IsInf(mde, 1) && size > 0 {
		f.evidence.MDE = max(b.Loss, 100*mde/size)
	}
	if math.IsInf(f.evidence.StdErr, 1) {
		f.evidence.StdErr, f.interval = 0, [2]float64{-100, 100}
	}
	f.more, f.decider = "decide it in pairs with --ab", ByPairs
	if t.paired {
		f.decider = ByMorePairs
		f.evidence.InPairs, f.evidence.Pairs, f.evidence.Need = true, t.used, t.need
		f.more = fmt.Sprintf("measure more with --pairs %d", max(5, 2*t.used))
	}
	return f
}

// decideFit gives the verdict on the change of a coefficient.
func (b *budgeted) decideFit(in *inputs, v *Verdict, f *meanFinding, q, share float64) {
	b.ids = make([]string, len(b.group.members))
	for i := range b.ids {
		b.ids[i] = b.group.members[i].id
	}
	medians := in.policy.Method == MethodThreshold
	lost := v.Delta < -b.Loss-Tolerance
	switch {
	case v.Old == 0:
		v.Evidence.Method, v.Finding = NoMethod, Incomparable
		v.undecide(ByNewBaseline, "the "+b.Fit.Of+" of the reference is 0, so a change in percent is undefined: bound it with max or min")
	case v.Evidence.Need > 0 && !medians:
		v.Finding = seen(Regressed, lost && v.Evidence.suspicious())
		v.undecide(ByMorePairs, fmt.Sprintf("p %.2g after %s of each cell decides nothing: %d pairs are needed; "+
			"measure again without a time limit", v.Evidence.P, text.Plural(v.Evidence.Pairs, "pair"), v.Evidence.Need))
	case lost && (medians || q <= share):
		v.Finding, v.Reason = Regressed, "changed most: "+b.worstCells(in)
	case !lost && (medians || v.Interval[0] >= -b.Loss-Tolerance):
		v.Finding = Unchanged
	default:
		v.Finding = seen(Regressed, lost && v.Evidence.suspicious())
		v.undecide(f.decider, fmt.Sprintf("a change for the worse by %.1f %% cannot be excluded: %s", -v.Interval[0], f.more))
	}
}
