package report

import (
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/report/chart"
	"github.com/accelgate/accelgate/internal/stats"
)

// charts draws each metric that was compared: its values, and its runs; then the operators.
func (h htmlWriter) charts(r *Report, c *cellPage) {
	if c.now == nil {
		return
	}
	for i := range c.now.Samples {
		now := &c.now.Samples[i]
		m := c.host.metrics[now.Metric]
		if m == nil || m.Informational || len(now.Values) == 0 {
			continue
		}
		var old *bench.Sample
		if c.old != nil {
			old = c.old.Sample(now.Metric)
		}
		h.figure(now.Metric+": values", chart.Strip(c.groups(now, old), name(m.Unit)))
		h.figure(now.Metric+": earlier runs and this one", trendOf(m, now, old).SVG())
	}
	h.figure("operators: what changed", operatorsOf(c))
	for _, k := range r.in.Kinds {
		if k.Figures != nil {
			for _, f := range k.Figures(c.now) {
				h.figure(f.Caption, f.SVG)
			}
		}
	}
}

func (h htmlWriter) figure(caption, svg string) {
	if svg != "" {
		h.WriteString("<figure><figcaption>" + escapeHTML(name(caption)) + "</figcaption>" + svg + "</figure>\n")
	}
}

// groups are the values of both sides.
func (c *cellPage) groups(now, old *bench.Sample) []chart.Group {
	head := chart.Group{Name: "now", Class: "head", Values: now.Values}
	for _, v := range c.verdicts {
		if change, ok := c.host.changeOf(v.Verdict); ok && v.Metric == now.Metric && v.Evidence.Method.Statistics() {
			head.Low, head.High = v.Old*(1+change.interval[0]/100), v.Old*(1+change.interval[1]/100)
		}
	}
	groups := make([]chart.Group, 0, 2)
	switch {
	case len(now.Base) > 0:
		groups = append(groups, chart.Group{Name: "base", Class: "base", Values: now.Base})
	case old != nil && len(old.History) > 0:
		const newest = 40 // runs that the gate uses
		groups = append(groups,
			chart.Group{Name: "earlier runs", Class: "base", Values: medians(old.History[max(0, len(old.History)-newest):])})
	case old != nil && len(old.Values) > 0:
		groups = append(groups, chart.Group{Name: "baseline", Class: "base", Values: old.Values})
	case old != nil && old.Summary != nil:
		s := old.Summary
		groups = append(groups,
			chart.Group{Name: "baseline", Class: "base", Values: []float64{s.Median}, Low: s.Median - s.MAD, High: s.Median + s.MAD})
	}
	return append(groups, head)
}

// medians returns the median of each run of a history; NaN for a run without the cell.
func medians(runs [][]float64) []float64 {
	values := make([]float64, len(runs))
	for i, run := range runs {
		values[i] = math.NaN()
		if len(run) > 0 {
			values[i] = stats.Median(run)
		}
	}
	return values
}

func trendOf(m *bench.Metric, now, old *bench.Sample) chart.Trend {
	t := chart.Trend{Name: name(m.Name), Unit: name(m.Unit)}
	if old == nil || len(old.History) < 2 {
		return t
	}
	t.Values, t.Anchor, t.Doubtful = medians(old.History), old.Anchor, old.Unhealthy
	t.Values = append(t.Values, stats.Median(now.Values))
	for _, p := range detect.ChangePoints(t.Values, detect.Search{HigherIsBetter: m.Better == bench.Higher}) {
		t.Changes = append(t.Changes, p.Index)
	}
	return t
}

// operatorsOf draws the change of the cell's time by its parts, where both sides have them.
func operatorsOf(c *cellPage) string {
	if len(c.now.Breakdowns) == 0 {
		return ""
	}
	now := &c.now.Breakdowns[0]
	old := sameTitle(c.old, now.Title)
	if old == nil {
		return ""
	}
	before, sum := map[string]float64{}, 0.0
	for _, e := range bench.AddUp(old.Entries) {
		before[e.Name] = e.Total
		sum += e.Total
	}
	var steps []chart.Step
	for _, e := range bench.AddUp(now.Entries) {
		steps = append(steps, chart.Step{Name: name(e.Name), Delta: e.Total - before[e.Name]})
		delete(before, e.Name)
	}
	for _, e := range bench.AddUp(old.Entries) { // those that are gone, in their order
		if total, gone := before[e.Name]; gone {
			steps = append(steps, chart.Step{Name: name(e.Name), Delta: -total})
		}
	}
	const maximum = 8
	return chart.Waterfall(sum, steps, maximum, name(now.Unit))
}
