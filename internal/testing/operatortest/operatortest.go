// Package operatortest makes the operators of cells, and checks what is judged of them.
package operatortest

import (
	"slices"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// Entries makes operators: name, total and calls in turn.
func Entries(parts ...any) []bench.Entry {
	var list []bench.Entry
	for i := 0; i < len(parts); i += 3 {
		list = append(list, bench.Entry{Name: parts[i].(string), Total: parts[i+1].(float64), Calls: int64(parts[i+2].(int))})
	}
	return list
}

// Operating gives a cell operators.
func Operating(r bench.Result, unit string, parts ...any) bench.Result {
	r.Breakdowns = []bench.Breakdown{{Title: "operators", Unit: unit, Entries: Entries(parts...)}}
	return r
}

// CheckAddsUp fails the test unless the rows of operators are the whole change of the total.
func CheckAddsUp(t *testing.T, o compat.OperatorCheck) {
	t.Helper()
	var sum int64
	for i, r := range o.Rows {
		sum += r.DeltaPS
		if r.ByCallsPS+r.ByCostPS != r.DeltaPS {
			t.Errorf("row %+v: calls and cost are not the difference", r)
		}
		last := i == len(o.Rows)-1
		if r.Change == compat.OperatorOther && !last {
			t.Errorf("row %d of %d is the other row", i, len(o.Rows))
		}
		if r.Change != compat.OperatorOther && i > 0 && max(r.DeltaPS, -r.DeltaPS) > max(o.Rows[i-1].DeltaPS, -o.Rows[i-1].DeltaPS) {
			t.Errorf("row %d is larger than the one before it", i)
		}
		listed := !slices.Contains([]compat.OperatorChange{compat.OperatorKept, compat.OperatorOther}, r.Change)
		if listed && r.OldRank > 0 == (r.NewRank > 0) {
			t.Errorf("row %+v is on both sides, or on none", r)
		}
	}
	if o.Rows != nil && sum != o.DeltaPS {
		t.Errorf("rows add up to %d ps, want %d", sum, o.DeltaPS)
	}
}
