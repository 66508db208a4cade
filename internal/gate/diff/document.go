package diff

import (
	"cmp"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
)

// DocumentOf returns a run, or a baseline as a run, as one side of a diff. A cell
// that did not pass is there without numbers, so that what it had before is
// missing; one that was skipped is not there. Impossible is the first number of
// a passed cell that its metric cannot have.
func DocumentOf(name string, run *bench.Run, context []Fact) Document {
	side := Document{Name: name, Context: context}
	for i := range run.Results {
		r := &run.Results[i]
		if r.Outcome == bench.Skipped {
			continue
		}
		if r.Outcome == bench.Passed && side.Impossible == "" {
			side.Impossible = run.Impossible(r)
		}
		cell := Cell{ID: r.Cell.ID(), Context: factsOf(r.Facts())}
		for j := range run.Metrics {
			m := &run.Metrics[j]
			if s := r.Sample(m.Name); s != nil && r.Outcome == bench.Passed {
				number := sideMetric(*m, s.Summarize(), r.Sample(cmp.Or(m.CountedBy, requests)))
				number.Caveat = cmp.Or(r.Caveat, s.Caveat)
				cell.Metrics = append(cell.Metrics, number)
			}
		}
		side.Cells = append(side.Cells, cell)
	}
	return side
}

func factsOf(context map[string]string) []Fact {
	var facts []Fact
	for _, name := range slices.Sorted(maps.Keys(context)) {
		facts = append(facts, Fact{Name: name, Value: context[name]})
	}
	return facts
}

// requests is the metric that counts the requests of a cell that were answered.
const requests = "n_ok"

// sideMetric is a metric with its median. The measurements of a run are
// processes; a percentile rests on requests, where the cell counts them.
func sideMetric(m bench.Metric, s bench.Summary, answered *bench.Sample) Metric {
	m.Better = cmp.Or(m.Better, bench.Higher) // as its documentation says
	side := Metric{Metric: m, Value: s.Median, Has: true, N: s.N}
	if s.N > 1 && !m.Exact && s.Median > 0 {
		spread := detect.NewSide(s.Median, s.MAD, s.N)
		spread.Noise = max(spread.Noise, s.Noise)
		side.Spread = &spread
	}
	if m.CountedBy != "" || strings.Contains(m.Name, "_p99") {
		side.N = 0
		if answered != nil {
			side.N = int(min(answered.Median(), 1<<31-1))
		}
	}
	return side
}
