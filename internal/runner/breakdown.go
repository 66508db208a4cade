package runner

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// typical merges the breakdowns of several rounds, so that one disturbed round
// does not blame an operator: each part's total is the median over the rounds,
// and what fewer than half of them have is left out. Titles, units, calls and
// the order of parts are those of the last round that has them.
func typical(rounds [][]bench.Breakdown) []bench.Breakdown {
	if len(rounds) < 2 {
		return slices.Concat(rounds...)
	}
	merged := slices.Clone(rounds[len(rounds)-1])
	for i := range merged {
		merged[i].Entries = medians(merged[i], rounds)
	}
	return merged
}

func medians(of bench.Breakdown, rounds [][]bench.Breakdown) []bench.Entry {
	var entries []bench.Entry
	totals := map[string][]float64{}
	for _, round := range slices.Backward(rounds) {
		i := slices.IndexFunc(round, func(b bench.Breakdown) bool { return b.Title == of.Title && b.Unit == of.Unit })
		if i < 0 {
			continue
		}
		for _, e := range round[i].Entries {
			if totals[e.Name] == nil {
				entries = append(entries, e)
			}
			totals[e.Name] = append(totals[e.Name], e.Total)
		}
	}
	kept := entries[:0]
	for _, e := range entries {
		values := totals[e.Name]
		if len(values)*2 < len(rounds) {
			continue
		}
		for len(values) < len(rounds) {
			values = append(values, 0)
		}
		e.Total = stats.Median(values)
		kept = append(kept, e)
	}
	return kept
}
