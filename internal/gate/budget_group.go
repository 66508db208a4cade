package gate

import (
	"fmt"
	"math"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// group is the cells of a budget.
type group struct {
	metric  *described // nil where neither side has it
	members []member
	paired  bool // the members were measured in pairs
	of      int  // cells in the run
	same    int  // cells of which nothing that is measured has changed
	// lost says which cells should be in the mean and are not, broken which of them
	// block; "" for none.
	lost, broken string
	fresh        []string // cells without a number to compare with
	unrecorded   []string // those of fresh whose number no reference has
	apart        []string // cells in quarantine
	absent       int      // cells of the suite that the run lacks
	gone         bool     // some of absent are not declared
}

// member is a cell of a group with both sides of the metric.
type member struct {
	cell
	old, now *bench.Sample // old is nil for pairs
	delta    float64       // change of the medians in percent, negative for the worse
}

// ignored reports a group of which filters or limits left out every cell.
func (g *group) ignored() bool { return g.of == 0 && !g.gone }

// groupOf sorts the cells of a budget into those that its mean is of and the others.
func (in *inputs) groupOf(b *Budget) group {
	g := group{metric: in.metric(b.Metric)}
	g.absent, g.gone = in.lacking[b.Suite].cells, in.lacking[b.Suite].gone
	var failed, without, unusable, doubtful []string
	var members []member
	for _, c := range in.within(b) {
		if c.got.Outcome == bench.Skipped && !in.required(c.id) {
			continue
		}
		g.of++
		m := member{cell: c}
		switch state := g.stateOf(in, &m); state {
		case memberCounts:
			members = append(members, m)
			g.paired = g.paired || m.old == nil
		case memberFresh:
			g.fresh = append(g.fresh, c.id)
		case memberUnrecorded:
			g.fresh, g.unrecorded = append(g.fresh, c.id), append(g.unrecorded, c.id)
		case memberSame:
			g.same++
		case memberApart:
			g.apart = append(g.apart, c.id)
		case memberFailed:
			failed = append(failed, c.id)
		case memberWithout:
			without = append(without, c.id)
		case memberUnusable:
			unusable = append(unusable, c.id)
		case memberDoubtful:
			doubtful = append(doubtful, c.id)
		}
	}
	for _, m := range members {
		if g.paired && m.old != nil { // the base does not have it, so the mean has no number of it
			g.fresh = append(g.fresh, m.id)
			continue
		}
		g.members = append(g.members, m)
	}
	metric, what, mean := text.Visible(b.Metric, maxName), "budget", "there is no geometric mean"
	if b.Fit != nil {
		what, mean = "fit", "no line is fitted"
	}
	if g.metric == nil && g.of > 0 {
		g.broken = "neither the run nor the baseline describes " + metric + ": measure it again with this configuration"
	}
	if g.metric != nil && g.metric.contradiction != "" {
		g.broken = g.metric.contradiction + "; if that is meant, record it with baseline update --force"
	}
	for _, l := range []struct {
		ids []string
		why string
		to  *string
	}{
		{without, metric + " is not reported by ", &g.broken},
		{unusable, mean + ", because " + metric + " is not a positive number in ", &g.broken},
		{failed, "no passed measurement of ", &g.lost},
		{doubtful, metric + " is doubtful in ", &g.lost},
	} {
		if len(l.ids) > 0 {
			*l.to = text.Reasons(*l.to, l.why+cellsOf(l.ids)+": measure again")
		}
	}
	if g.absent > 0 {
		g.lost = text.Reasons(g.lost, g.lacks(what))
	}
	return g
}

// lacks is the reason of a budget or fit of a suite of which the run lacks cells.
func (g *group) lacks(what string) string {
	return "the " + what + " needs its whole group, and the run lacks " + text.Plural(g.absent, "cell") +
		" of the suite: measure without filters"
}

// memberState says what a cell is to its budget.
type memberState int

const (
	memberCounts memberState = iota
	memberFresh
	memberUnrecorded
	memberSame
	memberApart
	memberFailed
	memberWithout
	memberUnusable
	memberDoubtful
)

func (g *group) stateOf(in *inputs, m *member) memberState {
	d, got := g.metric, m.got
	known := m.ref != nil && m.ref.Outcome == bench.Passed
	now := got.Sample(nameOf(d))
	paired := now != nil && len(now.Base) > 0
	var old *bench.Sample
	if known {
		old = m.ref.Sample(nameOf(d))
	}
	switch {
	case in.quarantined(m.id):
		return memberApart
	case got.Outcome != bench.Passed && (known || in.required(m.id)):
		return memberFailed
	case got.Outcome != bench.Passed || d == nil:
		return memberFresh
	case now == nil && (old != nil || in.demanded(d.Name)):
		return memberWithout
	case now == nil:
		return memberFresh
	case !paired && old == nil:
		return m.unrecorded(d)
	case d.replaced(got) || known && d.replaced(m.ref):
		return memberFresh
	case known && in.unjudged == "" && unchanged(m.ref, got):
		return memberSame
	case d.reliability(got) != "" || d.tooFew(got) || known && otherConditions(m.ref, got) != "":
		return memberDoubtful
	}
	return m.compare(d, now, old, paired)
}

// unrecorded is the state of a member whose number no reference has: one that another metric stands for needs none.
func (m *member) unrecorded(d *described) memberState {
	if d.replaced(m.got) {
		return memberFresh
	}
	return memberUnrecorded
}

// demanded reports whether each cell that passed must report a metric.
func (in *inputs) demanded(metric string) bool {
	m := in.run.Metric(metric)
	return m == nil || !m.Optional && m.FallbackFor == ""
}

// compare sets the samples of a member and its change.
func (m *member) compare(d *described, now, old *bench.Sample, paired bool) memberState {
	head, base := now.Median(), 0.0
	if paired {
		old, new := now.Pairs()
		base, head = stats.Median(old), stats.Median(new)
	} else {
		m.old, base = old, old.Median()
	}
	m.now = now
	delta, ok := d.Better.Gain(base, head)
	if !ok || !(base > 0) || !(head > 0) || math.IsInf(base, 1) || math.IsInf(head, 1) {
		return memberUnusable
	}
	m.delta = delta
	return memberCounts
}

func nameOf(d *described) string {
	if d == nil {
		return ""
	}
	return d.Name
}

// lacked counts what [inputs.absentOf] returns for a suite.
type lacked struct {
	cells         int
	gone, counted bool
}

// absentOf counts the cells of a suite that the run lacks, and those whose suite is
// unknown. gone says that no filter or limit declares some of them.
func (in *inputs) absentOf(suite string) (n int, gone bool) {
	seen := map[string]bool{}
	add := func(id string) {
		if ref := in.byID[id]; in.has(id) || seen[id] || ref != nil && ref.Cell.Suite != "" && ref.Cell.Suite != suite {
			return
		}
		seen[id] = true
		n++
	}
	for _, id := range in.run.Unselected {
		add(id)
	}
	for _, out := range in.run.LeftOut {
		if out.Cell != "" {
			add(out.Cell)
		}
	}
	declared := n
	if in.ref != nil {
		for i := range in.ref.Results {
			if r := &in.ref.Results[i]; r.Cell.Suite == suite {
				add(r.Cell.ID())
			}
		}
	}
	return n, n > declared
}

// unhealthy returns how the host was unhealthy while a member was measured, or "".
func (g *group) unhealthy(in *inputs) string {
	for _, m := range g.members {
		if because := unhealthy(in, m.got); because != "" {
			return because
		}
	}
	return ""
}

// leftOut returns which cells of the group are not in its mean, but for those that are lost.
func (g *group) leftOut() string {
	var parts []string
	if len(g.fresh) > 0 {
		parts = append(parts, cellsOf(g.fresh)+" without a number to compare with")
	}
	if len(g.apart) > 0 {
		parts = append(parts, cellsOf(g.apart)+" in quarantine")
	}
	if g.same > 0 {
		parts = append(parts, fmt.Sprintf("%d of which nothing that is measured has changed", g.same))
	}
	return strings.Join(parts, "; ")
}
