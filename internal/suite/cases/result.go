package cases

import (
	"cmp"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
)

// criticalPathTitle is the title of the breakdown after
// [bench.OperatorsTitle].
const criticalPathTitle = "critical path"

// Result returns what a profile says of a cell.
func Result(cell bench.Cell, p *optrace.Profile) bench.Result {
	r := bench.Result{Cell: cell, Outcome: bench.Passed}
	if !(p.Total > 0) { // NaN, too
		r.Outcome, r.Cause, r.Reason = bench.Failed, bench.CauseOutput, "the total time is 0: the program measured nothing"
		return r
	}
	r.Samples = []bench.Sample{sample(Total.Name, p.Total)}
	known := metricNames()
	for _, v := range p.Values {
		if slices.Contains(known, v.Metric) && v.Metric != Total.Name {
			r.Samples = append(r.Samples, sample(v.Metric, v.Value))
		}
	}
	for _, b := range []bench.Breakdown{{Title: bench.OperatorsTitle, Entries: p.Operators}, {Title: criticalPathTitle,
		Entries: p.CriticalPath}} {
		if len(b.Entries) > 0 {
			b.Unit = Total.Unit
			r.Breakdowns = append(r.Breakdowns, b)
		}
	}
	return r
}

func sample(metric string, value float64) bench.Sample {
	return bench.Sample{Metric: metric, Values: []float64{value}}
}

// complete adds to a profile what only another one of the same run has.
func complete(p, other *optrace.Profile) {
	for _, v := range other.Values {
		if !slices.ContainsFunc(p.Values, func(have optrace.Value) bool { return have.Metric == v.Metric }) {
			p.Values = append(p.Values, v)
		}
	}
	slices.SortFunc(p.Values, func(a, b optrace.Value) int { return cmp.Compare(a.Metric, b.Metric) })
	if p.CriticalPath == nil {
		p.CriticalPath = other.CriticalPath
	}
}
