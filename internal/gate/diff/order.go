package gate

import (
	"cmp"
	"math"
	"slices"
)

// Ranked returns the rows in the order of tables: that of [Worse], the largest relative change
// first, then by cell and metric. A regression from 0 is the
// largest. InferenceBench has regressions before improvements, everything else after them, and takes a
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
	case d.Compat != CompatInferenceBench:
		v := r.Verdict.asVerdict()
		return v.Standing()*len(Findings) + v.Finding.Rank()
	case r.Verdict == DiffRegression:
		return 0
	case r.Verdict == DiffImprovement:
		return 1
	}
	return 2
}

// asVerdict is what a report would say of a row.
func (d DiffVerdict) asVerdict() Verdict {
	v := Verdict{Finding: Unchanged}
	switch d {
	case DiffRegression:
		v.Finding = Regressed
	case DiffImplausible:
		v.Finding = Implausible
	case DiffMissing:
		v.Finding = Missing
	case DiffInconclusive:
		v.Finding, v.DecidedBy = Incomparable, ByRepeats
	case DiffNew:
		v.Finding = Untracked
	case DiffImprovement:
		v.Finding = Improved
	}
	v.Blocks = (&Policy{}).blocks(&v)
	return v
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
