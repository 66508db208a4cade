package gate

import (
	"cmp"
	"math"
	"slices"
)

// Ranked returns the rows in the order of tables: regressions with the largest
// relative change first, then what is missing, then improvements with the
// largest first, then the rest by cell and metric. A regression from 0 is the
// largest. InferenceBench has what is missing among the rest, and takes a
// change from 0 for the smallest.
func (d *Difference) Ranked() []DiffRow {
	rows := slices.Clone(d.Rows)
	slices.SortStableFunc(rows, func(a, b DiffRow) int {
		return cmp.Or(cmp.Compare(d.rank(a), d.rank(b)), cmp.Compare(d.size(b), d.size(a)),
			cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Metric, b.Metric))
	})
	return rows
}

func (d *Difference) rank(r DiffRow) int {
	switch {
	case r.Verdict == DiffRegression || r.Verdict == DiffImplausible:
		return 0
	case r.Verdict == DiffMissing && d.Compat != CompatInferenceBench:
		return 1
	case r.Verdict == DiffImprovement:
		return 2
	}
	return 3
}

// size is by how much rows are ordered that have one rank. Where the original
// would compare NaN, its order is that of its sorting algorithm; here they are
// the smallest.
func (d *Difference) size(r DiffRow) float64 {
	switch {
	case r.Verdict != DiffRegression && r.Verdict != DiffImplausible && r.Verdict != DiffImprovement:
		return 0
	case r.DeltaRel != nil && !math.IsNaN(*r.DeltaRel):
		return math.Abs(*r.DeltaRel)
	case d.Compat == CompatInferenceBench:
		return 0
	}
	return math.Inf(1)
}
