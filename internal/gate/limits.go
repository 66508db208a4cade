package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// Limit is a rule on the size and the change of one metric. nil limits nothing. Of one metric, rules for
// the same cells all hold, and those for other cells replace what earlier ones limit.
type Limit struct {
	Scope
	Source string // file and line
	// Force is when the rule blocks.
	Force Force
	// Change is used in place of the policy's Threshold and MinEffect.
	Change *Change
	// Min and Max bound the median.
	Min, Max *Bound
	// Test is [TestOneSided] or [TestTwoSided] to compare the metric by the standard errors
	// that its program reports, in place of the policy. Change is then the least
	// difference that blocks. "" tests nothing.
	Test string
	// Shown says that the cell's suite does not gate the metric, though another one does.
	Shown bool
	// Trade is the loss that a gain of another metric may pay for; nil is none.
	Trade *Trade
}

// Force is when a number beyond its limit blocks.
type Force string

// The forces.
const (
	ByLevel  Force = ""         // where no [Level] makes the cell advisory
	Advisory Force = "advisory" // never
	Required Force = "required" // always
)

// limit joins all rules of one force on a metric of a cell. nil and zero limit nothing.
type limit struct {
	changes  []*Limit
	min, max []*Limit
	test     string
	shown    bool
	trade    *Trade
	allowed  *allowance // by changes
}

// limits are those of the cells of a run by cell and metric.
type limits map[string]map[string]*limit

// add puts a rule in place of earlier ones for other cells, value by value.
func (l *limit) add(r *Limit) {
	put := func(list []*Limit, limited bool) []*Limit {
		ofKind := len(list) > 0 && (list[0].Source == "") != (r.Source == "") // by the kind's own metrics
		switch {
		case !limited:
			return list
		case len(list) > 0 && !list[0].same(&r.Scope), ofKind:
			return []*Limit{r}
		}
		return append(list, r)
	}
	l.changes, l.min, l.max = put(l.changes, r.Change != nil), put(l.min, r.Min != nil), put(l.max, r.Max != nil)
	if r.Test != "" {
		l.test = r.Test
	}
	if r.Trade != nil {
		l.trade = r.Trade
	}
	l.shown = l.shown || r.Shown
}

// limitsOf returns what the rules of each force limit the cells of the run to. A change that is
// required alone is that of [ByLevel] too, so that the policy's does not hold beside it.
func limitsOf(in *inputs) map[Force]limits {
	rules := rulesOf[*Limit](&in.policy, in.run.Host.Label)
	of := map[Force]limits{}
	for _, c := range in.cells {
		for _, r := range rules {
			if !r.selects(c.got.Cell) {
				continue
			}
			limitAt(of, r.Force, c.id, r.Metric).add(r)
		}
	}
	for id, metrics := range of[Required] {
		for metric, l := range metrics {
			if plain := limitAt(of, ByLevel, id, metric); len(plain.changes) == 0 {
				plain.changes = l.changes
			}
		}
	}
	for _, cells := range of {
		for _, c := range in.cells {
			for metric, l := range cells[c.id] {
				in.resolve(c, metric, l)
			}
		}
	}
	return of
}

// LimitOf returns the change for the worse, in percent of its recorded median, that a metric of a cell may have on the host
// with this label: its own limit, or the threshold. Limits that earlier runs or standard errors derive count as the threshold.
func (p *Policy) LimitOf(c bench.Cell, host, metric string, median float64) float64 {
	var l limit
	for _, r := range rulesOf[*Limit](p, host) {
		if r.Force != Advisory && r.Applies(c, metric, host) {
			l.add(r)
		}
	}
	var changes []*Change
	for _, r := range l.changes {
		if r.Change.Noise == nil && r.Change.Spread == "" {
			changes = append(changes, r.Change)
		}
	}
	if a := (&inputs{policy: *p}).allow(changes, cell{}, &described{}, nil, math.Abs(median)); a != nil {
		return a.percent
	}
	return p.Threshold
}

// limitAt returns the limit of a metric, made if it is not there.
func limitAt(of map[Force]limits, force Force, id, metric string) *limit {
	if of[force] == nil {
		of[force] = limits{}
	}
	if of[force][id] == nil {
		of[force][id] = map[string]*limit{}
	}
	if of[force][id][metric] == nil {
		of[force][id][metric] = &limit{}
	}
	return of[force][id][metric]
}

// resolve finds what the changes allow the metric.
func (in *inputs) resolve(c cell, metric string, l *limit) {
	m := in.metric(metric)
	if m == nil || len(l.changes) == 0 {
		return
	}
	var recorded *bench.Sample
	if c.ref != nil && in.unjudged == "" {
		recorded = c.ref.Sample(metric)
	}
	changes := make([]*Change, len(l.changes))
	for i, r := range l.changes {
		changes[i] = r.Change
	}
	l.allowed = in.allow(changes, c, m, recorded, in.sizeOf(c, metric))
}

// of returns the limit of a metric; never nil.
func (l limits) of(id, metric string) *limit {
	if one := l[id][metric]; one != nil {
		return one
	}
	return &limit{}
}

// change returns the limit of a number's change, in percent; ok is false where only
// the policy limits it.
func (in *inputs) change(n seriesKey) (percent float64, ok bool) {
	if a := in.limits.of(n.cell, n.metric).allowed; a != nil {
		return a.percent, true
	}
	return 0, false
}

// shows reports whether a metric is only shown in a cell: it is informational there, and
// the configuration limits no change of it.
func (in *inputs) shows(m *described, cell string) bool {
	l := in.limits.of(cell, m.Name)
	if !m.Informational && !l.shown {
		return false
	}
	return len(l.changes) == 0 && l.test == ""
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
func (in *inputs) withoutChanges() *inputs { return in.withLimits(nil) }

// withLimits returns the inputs with other limits of numbers.
func (in *inputs) withLimits(l limits) *inputs {
	out := *in
	out.limits = l
	return &out
}

// limitsChanges reports whether any number has a limit of its own, or a test.
func (in *inputs) limitsChanges() bool {
	for _, metrics := range in.limits {
		for _, l := range metrics {
			if l.allowed != nil || l.test != "" {
				return true
			}
		}
	}
	return false
}

// Bounds returns the bounds that block of the metrics of a cell, by metric.
func (p *Policy) Bounds(c bench.Cell, host string) map[string][]*Limit {
	bounds := map[string][]*Limit{}
	for _, r := range rulesOf[*Limit](p, host) {
		if (r.Min != nil || r.Max != nil) && r.Force != Advisory && r.selects(c) {
			bounds[r.Metric] = append(bounds[r.Metric], r)
		}
	}
	return bounds
}

// derived says how the limit of the change was derived from noise; nil where it was not.
func (l *limit) derived() *Derived {
	if l.allowed == nil {
		return nil
	}
	return l.allowed.derived
}

// String writes the change and the bounds: "5%, min 80"; "" if there are none.
func (l *limit) String() string {
	var parts []string
	if s := l.written(); s != "" {
		parts = append(parts, s)
	}
	min, max := l.tightest()
	if min != nil {
		parts = append(parts, fmt.Sprintf("min %v", *min))
	}
	if max != nil {
		parts = append(parts, fmt.Sprintf("max %v", *max))
	}
	return strings.Join(parts, ", ")
}

// bounds reports whether a limit of any force bounds a metric.
func (in *inputs) bounds(id, metric string) bool {
	for _, of := range in.byForce {
		if l := of.of(id, metric); l.min != nil || l.max != nil {
			return true
		}
	}
	return false
}

// written is the limit of the change as the configuration writes it; "" if there is none.
func (l *limit) written() string {
	texts := make([]string, len(l.changes))
	for i, r := range l.changes {
		texts[i] = r.Change.Text
	}
	return strings.Join(texts, ", or ")
}

// Limited lists the metrics of a cell that limits name, on whatever occasion.
func (p *Policy) Limited(c bench.Cell, host string) (metrics []string) {
	for _, r := range p.Rules {
		if l, ok := r.(*Limit); ok && !l.Shown && l.Applies(c, l.Metric, host) {
			metrics = append(metrics, l.Metric)
		}
	}
	return metrics
}
