package gate

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// lack is a metric that a cell that passed should have reported.
type lack struct {
	bench.Absent
	remedy string
	shown  bool // no cell of the suite reports it, and none must
}

// lacks finds, by the id of each cell, which metrics it should have reported, by
// the configuration or by the run's own list: a list that was shortened by hand
// hides nothing.
func lacks(in *inputs) map[string][]lack {
	if !in.tool.Complete {
		return nil
	}
	all, optional := map[string][]lack{}, optionals{}
	for _, c := range in.cells {
		id, r := c.id, c.got
		if r.Outcome != bench.Passed {
			continue
		}
		for _, a := range r.Absent {
			if !a.Optional && r.Sample(a.Metric) == nil && !in.informational(a.Metric) {
				all[id] = append(all[id], lack{Absent: a})
			}
		}
		if in.policy.Demands == nil {
			continue
		}
		for _, d := range in.policy.Demands(r.Cell) {
			switch {
			case d.Optional:
				optional.look(r, id, &d)
			case !d.Met(r) && !slices.ContainsFunc(all[id], func(l lack) bool { return l.Metric == d.Metrics[0] }):
				all[id] = append(all[id], lackOf(r, &d))
			}
		}
	}
	optional.add(all)
	return all
}

// informational reports whether both sides only show the metric.
func (in *inputs) informational(metric string) bool {
	return slices.ContainsFunc(in.metrics, func(m described) bool { return m.Name == metric && m.Informational && m.contradiction == "" })
}

func lackOf(r *bench.Result, d *bench.Demand) lack {
	l := lack{Absent: bench.Absent{Metric: d.Metrics[0], At: d.At}, remedy: d.Remedy, shown: d.Optional}
	if l.shown {
		l.remedy = "correct the metric in the configuration, or remove it"
	}
	for _, a := range r.Absent {
		if a.Metric == l.Metric {
			l.Near = a.Near
		}
	}
	return l
}

// optional is a metric that some cell of a suite should report.
type optional struct {
	suite, cell string // the first cell that does not
	lack
	met bool
}

type optionals []*optional

func (o *optionals) look(r *bench.Result, id string, d *bench.Demand) {
	i := slices.IndexFunc(*o, func(one *optional) bool { return one.suite == r.Cell.Suite && one.Metric == d.Metrics[0] })
	if i < 0 {
		i = len(*o)
		*o = append(*o, &optional{suite: r.Cell.Suite, cell: id, lack: lackOf(r, d)})
	}
	(*o)[i].met = (*o)[i].met || d.Met(r)
}

// add keeps those that no cell reports.
func (o optionals) add(all map[string][]lack) {
	for _, one := range o {
		if !one.met {
			all[one.cell] = append(all[one.cell], one.lack)
		}
	}
}

// unreported blocks a cell that passed without a metric that its suite gates: a
// typo in the configuration would otherwise judge nothing. A metric that is
// optional, and that no cell reports, warns. It returns the verdicts on the cell with
// the new ones after them.
func unreported(in *inputs, c cell, verdicts []Verdict) []Verdict {
	for _, l := range in.absences[c.id] {
		v := Verdict{Cell: c.id, Metric: l.Metric, Finding: Missing, Reason: l.explain(keysOf(c.got))}
		if l.shown {
			v = excusedBy("optional: true", v)
			v.Reason = "no cell of the suite reports this optional metric: " + v.Reason
		}
		if i := slices.IndexFunc(verdicts, func(v Verdict) bool { return v.Metric == l.Metric && v.Finding == Missing }); i >= 0 {
			verdicts[i].Reason = text.Reasons(verdicts[i].Reason, v.Reason)
			continue
		}
		verdicts = append(verdicts, v)
	}
	return verdicts
}

// keysOf names what the output of a cell held, or what was read of it.
func keysOf(r *bench.Result) []string {
	if len(r.Keys) > 0 {
		return r.Keys
	}
	var names []string
	for i := range r.Samples {
		names = append(names, r.Samples[i].Metric)
	}
	return names
}

// explain returns where a metric was looked for, and what there is instead.
func (l *lack) explain(keys []string) string {
	const maximum = 10
	why := "no value of " + text.Visible(l.Metric, maxName) + " in the output"
	if l.At != "" {
		why += " (" + text.Visible(l.At, maxName) + ")"
	}
	if l.Near != "" {
		why += ", did you mean " + text.Visible(l.Near, maxName) + "?"
	}
	switch {
	case len(keys) > maximum:
		why += fmt.Sprintf("; the output holds %s and %d more", text.Visible(strings.Join(keys[:maximum], ", "), 2*maxLine), len(keys)-maximum)
	case len(keys) > 0:
		why += "; the output holds " + text.Visible(strings.Join(keys, ", "), 2*maxLine)
	}
	return why + ": " + cmp.Or(l.remedy, "correct the metric in the configuration, or declare it with optional: true or when")
}
