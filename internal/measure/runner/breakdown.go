package runner

import (
	"cmp"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// typical merges the breakdowns of several rounds, so that one disturbed round
// does not blame an operator: each part's total is the median over the rounds,
// and what not more than half of them have is left out. Parts of one name are
// added up. Titles, units and calls are those of the last round that has them,
// and the largest part comes first.
func typical(rounds [][]bench.Breakdown) []bench.Breakdown {
	if len(rounds) < 2 {
		return slices.Concat(rounds...)
	}
	merged := slices.Clone(rounds[len(rounds)-1])
	for i := range merged {
		merged[i].Entries = medians(sameParts(rounds, i, merged[i]), len(rounds))
	}
	return merged
}

// sameParts returns what stands at place i of each round, the last round first,
// where it is a breakdown into the same.
func sameParts(rounds [][]bench.Breakdown, i int, of bench.Breakdown) (found []bench.Breakdown) {
	for _, round := range slices.Backward(rounds) {
		if i < len(round) && round[i].Title == of.Title && round[i].Unit == of.Unit {
			found = append(found, round[i])
		}
	}
	return found
}

func medians(breakdowns []bench.Breakdown, rounds int) []bench.Entry {
	var entries []bench.Entry
	totals := map[string][]float64{}
	for _, b := range breakdowns {
		for _, e := range bench.AddUp(b.Entries) {
			if totals[e.Name] == nil {
				entries = append(entries, e)
			}
			totals[e.Name] = append(totals[e.Name], e.Total)
		}
	}
	kept := entries[:0]
	for _, e := range entries {
		values := totals[e.Name]
		if len(values)*2 <= rounds {
			continue
		}
		for len(values) < rounds {
			values = append(values, 0)
		}
		e.Total = stats.Median(values)
		kept = append(kept, e)
	}
	slices.SortStableFunc(kept, func(a, b bench.Entry) int { return cmp.Compare(b.Total, a.Total) })
	return kept
}
