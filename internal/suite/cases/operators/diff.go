package operators

import (
	"cmp"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/stats"
)

// operatorDiff judges the operators of both sides one by one, and as parts of the
// change of the total.
//
// A row carries a part of the change only if its time is known on both sides:
// one that both list, or one that is new or missing. The time of one that was
// recorded without it, or that only crossed the cut of a list of the largest,
// counts in the other row, with all that no row lists.
type operatorDiff struct {
	*parts
	policy         *bench.ExpectedOperators
	perUnit        float64 // picoseconds
	old, new       float64 // totals
	deltaPS        int64
	budget         int64 // what rows can still carry without overflow
	oldCut, newCut bool  // the side lists only the largest
	// What an operator that the side does not list can have taken at most.
	maxOld, maxNew float64
}

func newOperatorDiff(p *parts, policy *bench.ExpectedOperators, perUnit, old, new float64) *operatorDiff {
	u := &operatorDiff{parts: p, policy: policy, perUnit: perUnit, old: old, new: new, budget: 2 * maxPicoseconds}
	if old > 0 {
		u.deltaPS = inPS(new, perUnit) - inPS(old, perUnit)
	}
	return u
}

// cuts finds out which lists hold only the largest operators. Which reference
// the recorded ones are parts of is a guess, so what they leave out may be as
// much as the largest one holds; 0 if there is none.
func (u *operatorDiff) cuts(largest float64) {
	var recorded, measured int
	minOld, minNew, both := 0.0, math.Inf(1), 0.0 // both: of the run's that were recorded too
	for i := range u.rows {
		r := &u.rows[i]
		if r.OldRank > 0 {
			recorded++
			minOld = minTotal(minOld, r.Old)
		}
		if r.NewRank > 0 {
			measured++
			minNew = min(minNew, r.New)
		}
		if r.OldRank > 0 && r.NewRank > 0 {
			both = minTotal(both, r.New)
		}
	}
	u.newCut, u.maxNew = u.cut(measured, minNew, u.newSum, u.new)
	switch {
	case u.oldSum <= 0: // calls alone were recorded: only the run says how large operators are
		u.oldCut, u.maxOld = u.full(recorded), both
	case u.oldSum > largest*(1+rounding): // nothing says what is left beside them
		u.oldCut, u.maxOld = u.full(recorded), minOld
	default:
		u.oldCut, u.maxOld = u.cut(recorded, minOld, u.oldSum, largest)
	}
}

// nearly is the relative difference up to which a sum is equal to its total: case
// files may have been written by a program that rounds to ten digits.
const nearly = 1e-9

// cut reports whether a list holds only the largest parts of a total: it is not
// shorter than what is compared, as that of a program which has no more, and
// does not add up to the total. What it leaves out took no more than the
// smallest that it has, and no more than is left of the total.
func (u *operatorDiff) cut(listed int, minimum, sum, total float64) (cut bool, maximum float64) {
	return u.full(listed) && sum < total*(1-nearly), min(minimum, total*(1+rounding)-sum)
}

func (u *operatorDiff) full(listed int) bool { return u.policy.TopN > 0 && listed >= u.policy.TopN }

// impossible reports operators that take more than the total, which is the sum
// over all streams. The medians of several measurements need not add up exactly.
func (u *operatorDiff) impossible(measured int) bool {
	room := rounding
	if measured > 1 {
		room = max(room, u.policy.Tolerance)
	}
	return u.new > 0 && u.newSum > u.new*(1+room)
}

// minTotal is the smaller one of two totals above 0; 0 is none.
func minTotal(a, b float64) float64 {
	if a <= 0 || b > 0 && b < a {
		return max(b, 0)
	}
	return a
}

// judged returns the rows of the operators that are judged, the largest change
// first, and one for all the others.
func (u *operatorDiff) judged() []compat.OperatorRow {
	other := compat.OperatorRow{Change: compat.OperatorOther, Status: compat.OperatorsPass, Old: u.old, New: u.new, DeltaPS: u.deltaPS}
	for i := range u.rows {
		r := &u.rows[i]
		if !u.counts(r) {
			continue
		}
		u.change(r)
		u.split(r)
		if u.carries(r) {
			other.Old, other.New, other.DeltaPS = other.Old-r.Old, other.New-r.New, other.DeltaPS-r.DeltaPS
		}
		u.order = append(u.order, r)
	}
	slices.SortFunc(u.order, bySize)
	kept := make([]compat.OperatorRow, 0, len(u.order)+1)
	for _, r := range u.order {
		kept = append(kept, *r)
	}
	other.Old, other.New = u.residue(other.Old), u.residue(other.New)
	if other.Old != 0 || other.New != 0 || other.DeltaPS != 0 {
		other.ByCostPS = other.DeltaPS
		kept = append(kept, other)
	}
	for i := range kept {
		if u.deltaPS != 0 {
			kept[i].Share = float64(kept[i].DeltaPS) / float64(u.deltaPS)
		}
	}
	return kept
}

func bySize(a, b *compat.OperatorRow) int {
	if by := cmp.Compare(magnitude(b.DeltaPS), magnitude(a.DeltaPS)); by != 0 {
		return by
	}
	return strings.Compare(a.Name, b.Name)
}

// counts reports whether an operator has a row of its own. One that was
// recorded without a time always has: nothing says how large it was.
func (u *operatorDiff) counts(r *compat.OperatorRow) bool {
	minimum := u.policy.MinShare
	return minimum <= 0 || r.OldRank > 0 && r.Old == 0 ||
		u.old > 0 && r.Old >= minimum*u.old || u.new > 0 && r.New >= minimum*u.new
}

// carries reports whether a row has a part of the change.
func (u *operatorDiff) carries(r *compat.OperatorRow) bool {
	untimed := r.OldRank > 0 && r.Old == 0
	return u.old > 0 && !untimed && r.Change != compat.OperatorMoved
}

// change tells new, missing and moved operators apart.
func (u *operatorDiff) change(r *compat.OperatorRow) {
	room := 1 + u.policy.Tolerance
	switch {
	case r.OldRank == 0 && u.oldCut && r.New <= u.maxOld*room, r.NewRank == 0 && u.newCut && r.Old <= u.maxNew*room:
		r.Change = compat.OperatorMoved
	case r.OldRank == 0:
		r.Change = compat.OperatorNew
	case r.NewRank == 0:
		r.Change = compat.OperatorMissing
	case r.Old > 0:
		r.Diff = stats.Finite((r.New - r.Old) / r.Old)
	}
}

// split gives a row its part of the change.
func (u *operatorDiff) split(r *compat.OperatorRow) {
	if !u.carries(r) {
		return
	}
	old := inPS(r.Old, u.perUnit)
	r.DeltaPS = max(-u.budget, min(u.budget, inPS(r.New, u.perUnit)-old))
	u.budget -= magnitude(r.DeltaPS)
	divide(r, old)
}

// divide splits a row's part of the change: more calls at the old cost of each,
// and a dearer call as often as now. A new or missing operator is all calls;
// where the calls of one side are not known, all is cost.
func divide(r *compat.OperatorRow, old int64) {
	switch {
	case r.Change != compat.OperatorKept:
		r.ByCallsPS = r.DeltaPS
	case r.OldCalls > 0 && r.NewCalls > 0:
		r.ByCallsPS = int64(clamp(math.Round(float64(r.NewCalls-r.OldCalls) / float64(r.OldCalls) * float64(old))))
	}
	r.ByCostPS = r.DeltaPS - r.ByCallsPS
}

// residue takes from what is left of a total what is only the error of adding
// up numbers.
func (u *operatorDiff) residue(x float64) float64 {
	if math.Abs(x*u.perUnit) < 1 {
		return 0
	}
	return stats.Finite(x)
}

// violations marks the rows that are not as recorded and returns them, the
// largest loss first.
func (u *operatorDiff) violations(rows []compat.OperatorRow) []*compat.OperatorRow {
	var violations []*compat.OperatorRow
	for i := range rows {
		r := &rows[i]
		if r.Change == compat.OperatorNew || r.Change == compat.OperatorMissing ||
			r.Change == compat.OperatorKept && (slower(r, u.policy.Tolerance) || r.CallsDiffer()) {
			r.Status = statusOf(gate.LevelOf(u.policy.Level, gate.Fail))
			violations = append(violations, r)
		}
	}
	slices.SortStableFunc(violations, func(a, b *compat.OperatorRow) int { return cmp.Compare(b.DeltaPS, a.DeltaPS) })
	return violations
}

// slower is the rule of the total for one operator. One that was recorded
// without a time is judged by its calls alone.
func slower(r *compat.OperatorRow, tolerance float64) bool {
	return r.Old > 0 && gate.Worsened(bench.Lower, r.Old, r.New, tolerance*100)
}

func magnitude(ps int64) int64 { return max(ps, -ps) }
