package cases

import (
	"cmp"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/msmodeling"
	"github.com/accelgate/accelgate/internal/stats"
)

// RefreshOf returns the numbers of a result that are to be recorded in the file
// of its case: the median of the total, as the initial time too if initial is
// set, and as many of the largest operators as the file keeps or compares.
func RefreshOf(one *msmodeling.Case, r *bench.Result, initial bool) msmodeling.Refresh {
	var f msmodeling.Refresh
	if s := r.Sample(Total.Name); s != nil {
		total := median(s)
		f.BaselineTimeS = &total
		if initial {
			f.InitialTimeS = &total
		}
	}
	i := slices.IndexFunc(r.Breakdowns, func(b bench.Breakdown) bool { return b.Title == OperatorsTitle && b.Unit == Total.Unit })
	if i < 0 {
		return f
	}
	entries := slices.Clone(r.Breakdowns[i].Entries)
	slices.SortStableFunc(entries, func(a, b bench.Entry) int { return cmp.Compare(b.Total, a.Total) })
	for _, e := range entries[:min(len(entries), max(len(one.Operators), one.OperatorTopN))] {
		f.Operators = append(f.Operators, msmodeling.Operator{Name: e.Name, TotalTimeS: e.Total, NumCalls: e.Calls})
	}
	return f
}

func median(s *bench.Sample) float64 {
	if s.Summary != nil {
		return s.Summary.Median
	}
	return stats.Median(s.Values)
}
