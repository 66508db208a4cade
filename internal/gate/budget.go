package gate

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/text"
)

// Budget is what the geometric mean of a metric over some cells may lose.
type Budget struct {
	Scope
	When   string  `json:"when,omitempty"` // which cells of the suite, for people; "" is all
	Source string  `json:"-"`              // file and line
	Force  Force   `json:"-"`              // when it blocks
	Loss   float64 `json:"loss"`           // percent, above 0; 0 for bounds of a Fit
	// Fit is the coefficient of a line that is judged in place of the mean; nil for a mean.
	Fit *Fitted `json:"fit,omitempty"`
}

// BudgetResult is what became of a budget. Finding and numbers are those of the [Verdict] with
// its place.
type BudgetResult struct {
	Budget
	Cells  int `json:"cells"` // that the mean is of
	Of     int `json:"of"`    // of the group in the run, but for those that the host cannot run
	Values int `json:"values,omitempty"`
	// Worst are the cells that lost most, at most 3, the worst first.
	Worst []CellChange `json:"worst,omitempty"`
	// Group is the name of the [compat.CaseGroup] that the mean is of; "" for a budget of the configuration.
	Group string `json:"group,omitempty"`
	// LeftOut says which cells of the group are not in the mean, and why; "" for none.
	LeftOut string `json:"left_out,omitempty"`

	ids        []string // of the cells that a fit is of
	unrecorded []string // cells whose number no reference has
}

// CellChange is the change of the metric in one cell, in percent, negative for the worse.
type CellChange struct {
	Cell  string  `json:"cell"`
	Delta float64 `json:"delta"`
}

// maxWorst is how many cells a budget names.
const maxWorst = 3

// budgeted is a budget while it is judged.
type budgeted struct {
	BudgetResult
	group   group
	verdict Verdict
	test    meanTest // nil if nothing can be tested
}

// budgets judges all budgets of the host. Their share of the false alarms is theirs
// together (Holm), whatever their number.
func budgets(in *inputs, share float64) ([]Verdict, []BudgetResult) {
	all := make([]budgeted, len(in.budgets))
	var ps []float64
	var tested []int
	for i := range in.budgets {
		b := &all[i]
		*b = in.spend(in.budgets[i])
		if b.test != nil {
			ps, tested = append(ps, b.test.p()), append(tested, i)
		}
	}
	for k, q := range detect.AdjustHolm(ps) {
		all[tested[k]].decide(in, q, share, float64(len(ps)))
	}
	var verdicts []Verdict
	var spent []BudgetResult
	for i := range all {
		b := &all[i]
		if b.group.ignored() {
			continue
		}
		v := underHost(in, b.group.unhealthy(in), b.verdict)
		v.Budget = len(spent) + 1
		verdicts, spent = append(verdicts, v), append(spent, b.BudgetResult)
	}
	return verdicts, spent
}

// spend finds the cells of a budget and what they show.
func (in *inputs) spend(of *Budget) budgeted {
	if of.Fit != nil && of.Fit.bounds() {
		return in.spendBound(of)
	}
	b := budgeted{BudgetResult: BudgetResult{Budget: *of}, group: in.groupOf(of)}
	g := &b.group
	b.Cells, b.Of, b.LeftOut, b.unrecorded = len(g.members), g.of, g.leftOut(), g.unrecorded
	b.verdict = Verdict{Metric: of.Metric, Finding: Incomparable, DecidedBy: ByWholeGroup, Evidence: Evidence{Limit: of.Loss}}
	if of.Fit != nil && g.lost == "" {
		g.lost = g.incomplete(of.Fit)
	}
	switch {
	case g.ignored():
	case g.broken != "":
		b.verdict.DecidedBy, b.verdict.Reason = Certain, g.broken
	case in.unjudged != "" && !g.paired:
		b.verdict.Finding, b.verdict.DecidedBy, b.verdict.Reason = Untracked, Certain, "speed was not judged: "+in.unjudged
	case len(g.members) == 0 && g.same > 0:
		b.verdict.Finding, b.verdict.DecidedBy, b.verdict.Evidence.Method = Unchanged, Certain, MethodDigest
	case len(g.members) == 0 && g.lost == "":
		b.verdict.Finding, b.verdict.DecidedBy = Untracked, Certain
		b.verdict.Reason = "no cell of the group has a number to compare with: record them with baseline update"
	case g.lost != "":
		b.verdict.Reason = g.lost
	case of.Fit != nil:
		b.test, b.Worst = newFitTest(in, &b), g.worst()
	default:
		b.test = in.testOf(&b)
		b.Worst = g.worst()
	}
	return b
}

// decide gives the verdict on a mean that was tested; q is p corrected for all budgets.
func (b *budgeted) decide(in *inputs, q, share, of float64) {
	v := &b.verdict
	v.DecidedBy = Certain
	f := b.test.result(b, share/of)
	v.Old, v.New, v.Delta, v.Interval, v.Evidence = f.old, f.new, f.delta, f.interval, f.evidence
	if v.Evidence.Limit = b.Loss; v.Evidence.P > 0 {
		v.Evidence.Q = q
	}
	b.Values = f.values
	if t, ok := b.test.(*boundTest); ok {
		v.Evidence.Limit, v.Evidence.Min, v.Evidence.Max = 0, b.Fit.Min, b.Fit.Max
		t.decide(in, v, q, share)
		return
	}
	if b.Fit != nil {
		b.decideFit(in, v, &f, q, share)
		return
	}
	lost, certain := v.Delta < -b.Loss-Tolerance, f.certain || f.convicts && q <= share
	switch {
	case lost && certain && f.accepted:
		v.Finding, v.Reason = Unchanged, isRecorded
	case lost && certain:
		v.Finding, v.Reason = OverBudget, "lost most: "+b.worstCells(in)
	case !lost && in.policy.Method == MethodThreshold, v.Interval[0] >= -b.Loss-Tolerance:
		v.Finding = Unchanged
	default:
		v.Finding = seen(OverBudget, lost && f.evidence.suspicious())
		v.undecide(f.decider, fmt.Sprintf("a loss of %.1f %% cannot be excluded: %s", -v.Interval[0], f.more))
	}
}

// worstCells names the cells that lost most: "a (-3.1 %), b (-2.0 %)".
func (b *budgeted) worstCells(in *inputs) string {
	list := make([]string, len(b.Worst))
	better := in.metric(b.Metric).Better
	for i, w := range b.Worst {
		list[i] = fmt.Sprintf("%s (%+.1f %%)", text.Visible(w.Cell, maxName), better.Change(w.Delta))
	}
	return strings.Join(list, ", ")
}

// worst returns the members that lost most.
func (g *group) worst() (list []CellChange) {
	for _, m := range g.members {
		list = append(list, CellChange{m.id, m.delta})
	}
	return worstOf(list)
}

// worstOf returns the cells that lost most, the worst first.
func worstOf(list []CellChange) []CellChange {
	list = slices.DeleteFunc(list, func(c CellChange) bool { return c.Delta >= 0 })
	slices.SortStableFunc(list, func(a, b CellChange) int { return cmp.Compare(a.Delta, b.Delta) })
	return slices.Clip(list[:min(maxWorst, len(list))])
}

// meanFinding is what a test shows of a mean.
type meanFinding struct {
	old, new, delta   float64 // geometric means, and percent
	interval          [2]float64
	evidence          Evidence
	values            int
	convicts, certain bool // whether q decides, and whether the loss blocks whatever q is
	accepted          bool // the baseline has the loss already
	more              string
	decider           Decider // of a loss that cannot be excluded
}

// meanTest is one way to evidence on a mean.
type meanTest interface {
	p() float64
	result(b *budgeted, alpha float64) meanFinding
}

// geometric is the geometric mean of positive numbers, at least one; NaN where one is none.
func geometric(values []float64) float64 {
	var logs float64
	for _, v := range values {
		if !(v > 0) || math.IsInf(v, 1) {
			return math.NaN()
		}
		logs += math.Log(v) - math.Log(values[0]) // so that the mean of equal numbers is that number
	}
	return values[0] * math.Exp(logs/float64(len(values)))
}

// cellsOf writes "3 cells (a, b and c)".
func cellsOf(ids []string) string {
	const maximum = 3
	names := make([]string, 0, maximum)
	for _, id := range ids[:min(maximum, len(ids))] {
		names = append(names, text.Visible(id, maxName))
	}
	s := text.Plural(len(ids), "cell") + " (" + strings.Join(names, ", ")
	if len(ids) > maximum {
		s += ", ..."
	}
	return s + ")"
}
