package judge

import (
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/measure"
	"github.com/accelgate/accelgate/internal/text"
)

// WithoutEffect names entries of a configuration and its files that have no effect, as far as the
// plan and the last run on this host show: waived and quarantined cells that there are
// not, metrics that were not reported, expectations that look at the answer alone.
func WithoutEffect(p *measure.Plan) []string {
	d := effects{plan: p, last: &bench.Run{}}
	if run, err := p.Options.ReadRun(p.OutPath("run.json")); err == nil {
		d.last = run
	}
	d.results = d.last.ByID()
	d.ids, d.all = p.Known()
	d.accepted()
	for i := range p.Suites {
		d.demanded(&p.Suites[i])
		d.limited(&p.Suites[i])
		if hidden := p.Suites[i].Plan.Hidden; hidden != nil {
			d.found = append(d.found, hidden(d.answered)...)
		}
	}
	return d.found
}

type effects struct {
	plan    *measure.Plan
	last    *bench.Run
	results map[string]*bench.Result
	ids     []string // of the cells of all suites
	all     bool     // ids are all that there are
	found   []string
}

func (d *effects) add(format string, args ...any) {
	d.found = append(d.found, fmt.Sprintf(format, args...))
}

func (d *effects) answered(c bench.Cell) string {
	if r := d.results[c.ID()]; r != nil {
		return r.Output
	}
	return ""
}

// accepted looks at waivers and quarantined cells that are for this host.
func (d *effects) accepted() {
	p := d.plan
	var metrics, gated []string
	for _, m := range p.Metrics {
		metrics = append(metrics, m.Name)
		if !m.Informational && len(gated) < maxNamed {
			gated = append(gated, m.Name)
		}
	}
	for _, w := range p.Policy.Waivers {
		if w.Host != "" && w.Host != p.Host.Label {
			continue
		}
		d.cell(w.Source, w.Cell)
		if len(p.Suites) == len(p.File.Suites) && !slices.Contains(metrics, w.Metric) && p.Policy.Expected[w.Cell].Metric != w.Metric {
			d.add("%s: no suite measures %s%s: write a metric such as %s", w.Source, text.Quote(w.Metric, 80), near(w.Metric, metrics),
				text.OneLine(strings.Join(gated, ", ")))
		}
	}
	for _, q := range p.Policy.Quarantine {
		if q.Host == "" || q.Host == p.Host.Label {
			d.cell(q.Source, q.Cell)
		}
	}
}

// cell doubts the id of a cell that no suite has, where all cells are known.
func (d *effects) cell(source, id string) {
	if d.all && !slices.Contains(d.ids, id) {
		d.add("%s: no suite has the cell %s%s: copy an id from accelgate plan --list", source, text.Quote(id, 200), near(id, d.ids))
	}
}

func near(name string, known []string) string {
	if n := text.NearestID(name, known); n != "" {
		return ", did you mean " + text.Quote(n, 200) + "?"
	}
	return ""
}

// measured are the last results of the cells of a suite in whose output metrics were looked for.
func (d *effects) measured(one *measure.Planned) (all []*bench.Result) {
	for _, c := range one.Cells {
		if r := d.results[c.ID()]; r != nil && len(r.Samples)+len(r.Absent) > 0 {
			all = append(all, r)
		}
	}
	return all
}

// demanded looks for the metrics that the suite gates where the last run looked for them, too.
func (d *effects) demanded(one *measure.Planned) {
	if d.plan.Policy.Demands == nil {
		return
	}
	lacking, of, results := map[string]int{}, map[string]bench.Absent{}, d.measured(one)
	for _, r := range results {
		for _, demand := range d.plan.Policy.Demands(r.Cell) {
			name := demand.Metrics[0]
			i := slices.IndexFunc(r.Absent, func(a bench.Absent) bool { return a.Metric == name && a.At == demand.At })
			if i >= 0 && !demand.Met(r) {
				lacking[name]++
				of[name] = r.Absent[i]
			}
		}
	}
	for _, m := range one.Plan.Metrics {
		a, n := of[m.Name], lacking[m.Name]
		if n == 0 || a.Optional && n < len(results) {
			continue
		}
		known := ""
		if a.Near != "" {
			known = ", did you mean " + text.Quote(a.Near, 80) + "?"
		}
		d.add("suite %s: the last run found no %s (%s) in %d of %s%s: correct the metric", text.OneLine(one.Name), text.Quote(m.Name, 80), text.Line(a.At, 80),
			n, text.Plural(len(results), "cell"), known)
	}
}

// limited looks for the metrics that limits and fits of the suite name.
func (d *effects) limited(one *measure.Planned) {
	results := d.measured(one)
	i := slices.IndexFunc(d.plan.File.Suites, func(s config.Suite) bool { return s.Name == one.Name })
	if len(results) == 0 || i < 0 {
		return
	}
	s := &d.plan.File.Suites[i]
	look := func(key string, i int, metric string) {
		reported := func(r *bench.Result) bool {
			return r.Sample(metric) != nil || slices.ContainsFunc(r.Resources, func(s bench.Sample) bool { return s.Metric == metric })
		}
		if d.last.Metric(metric) != nil && !slices.ContainsFunc(results, reported) {
			d.found = append(d.found, s.Errorf(fmt.Sprintf("%s[%d].metric", key, i),
				"the last run reported no %s, so nothing is limited: let the program report it, or remove the entry", text.Quote(metric, 80)).Error())
		}
	}
	for i, l := range s.Limits {
		look("limits", i, l.Metric)
	}
	for i, f := range s.Fits {
		look("fits", i, f.Metric)
	}
}
