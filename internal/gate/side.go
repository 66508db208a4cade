package gate

import (
	"cmp"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// SideOf returns a run, or a baseline as a run, as one side of a diff. A cell
// that did not pass is there without numbers, so that what it had before is
// missing; one that was skipped is not there.
func SideOf(name string, run *bench.Run, context []Fact) Side {
	side := Side{Name: name, Context: context}
	for i := range run.Results {
		r := &run.Results[i]
		if r.Outcome == bench.Skipped {
			continue
		}
		cell := SideCell{ID: r.Cell.ID()}
		for j := range run.Metrics {
			m := &run.Metrics[j]
			if s := r.Sample(m.Name); s != nil && r.Outcome == bench.Passed {
				cell.Metrics = append(cell.Metrics, sideMetric(*m, summarize(s)))
			}
		}
		side.Cells = append(side.Cells, cell)
	}
	return side
}

// sideMetric is a metric with its median. The measurements of a run are
// processes, and say nothing of the requests that a percentile rests on.
func sideMetric(m bench.Metric, s bench.Summary) SideMetric {
	m.Better = cmp.Or(m.Better, bench.Higher) // as its documentation says
	side := SideMetric{Metric: m, Value: s.Median, Has: true, N: s.N}
	if strings.Contains(m.Name, "_p99") {
		side.N = 0
	}
	return side
}
