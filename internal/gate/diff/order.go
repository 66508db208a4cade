package diff

import (
	"cmp"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
)

// Ranked returns the rows in the order of tables: that of [Worse], the largest relative change
// first, then by cell and metric. A regression from 0 is the
// largest. InferenceBench has regressions before improvements, everything else after them, and takes a
// change from 0 for the smallest.
func (d *Difference) Ranked() []Row {
	rows := slices.Clone(d.Rows)
	slices.SortStableFunc(rows, func(a, b Row) int {
		return cmp.Or(cmp.Compare(d.rank(a), d.rank(b)), cmp.Compare(d.size(b), d.size(a)),
			cmp.Compare(a.Cell, b.Cell), cmp.Compare(a.Metric, b.Metric))
	})
	return rows
}

func (d *Difference) rank(r Row) int {
	if order := d.Compat.Rules().Order; order != nil {
		return placeByTool(order, r.Verdict)
	}
	v := r.Verdict.asVerdict()
	return v.Standing()*len(gate.Findings) + v.Finding.Rank()
}

// asVerdict is what a report would say of a row.
func (d Verdict) asVerdict() gate.Verdict {
	v := gate.Verdict{Finding: gate.Unchanged}
	switch d {
	case Regression:
		v.Finding = gate.Regressed
	case Implausible:
		v.Finding = gate.Implausible
	case Missing:
		v.Finding = gate.Missing
	case Inconclusive:
		v.Finding, v.DecidedBy = gate.Incomparable, gate.ByRepeats
	case New:
		v.Finding = gate.Untracked
	case Improvement:
		v.Finding = gate.Improved
	}
	v.Blocks = (&gate.Policy{}).Blocks(v.Finding, v.DecidedBy, v.Excused())
	return v
}

// size is by how much rows are ordered that have one rank. Where the original
// would compare NaN, its order is that of its sorting algorithm; here they are
// the smallest.
func (d *Difference) size(r Row) float64 {
	switch {
	case r.Verdict != Regression && r.Verdict != Implausible && r.Verdict != Improvement:
		return 0
	case r.DeltaRel != nil && !math.IsNaN(*r.DeltaRel):
		return math.Abs(*r.DeltaRel)
	case d.Compat.Rules().Order != nil:
		return 0
	}
	return math.Inf(1)
}
