package operators

import (
	"cmp"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// topOperators compares the first N operators of the run with the N largest
// recorded ones, as the original does, which only warns.
func topOperators(in gate.Operators) (compat.OperatorCheck, []gate.Verdict) {
	check, e := in.Check, in.Recorded
	o := check.Operators
	var verdicts []gate.Verdict
	switch {
	case gate.LevelOf(e.Level, gate.Fail) == gate.Off:
		return o, nil
	case len(e.Entries) == 0:
		o.Status = compat.OperatorsNoBaseline
		return o, nil
	}
	var actual []bench.Entry
	b, unit, ok := breakdown(in.Got, check.Unit)
	if ok {
		actual = top(b.Entries, e.TopN)
	}
	recorded := largestOf(e.Entries, e.TopN)
	t := topN{check: check, o: &o, recorded: recorded, perUnit: picoseconds(check.Unit)}
	o.Rows = make([]compat.OperatorRow, 0, max(len(recorded), len(actual)))
	t.compare(actual, unit, total(e.Entries))
	o.Status = compat.OperatorsPass
	if len(o.Violations) > 0 {
		o.Status = compat.OperatorsWarn
		verdicts = []gate.Verdict{excusedBy("policy.compat: msmodeling", operatorsDiffer(check, t.reason(), in.Measured))}
	}
	return o, verdicts
}

// top is the first n of a list.
func top(entries []bench.Entry, n int) []bench.Entry {
	return entries[:max(0, min(n, len(entries)))]
}

// largestOf returns the n largest of the recorded operators, equal ones in
// their order. Of those that stand twice, the last counts and takes the place
// of the first, as in a Python dict.
func largestOf(entries []bench.Entry, n int) []bench.Entry {
	list := make([]bench.Entry, 0, len(entries))
	place := make(map[string]int, len(entries))
	for _, e := range entries {
		if i, ok := place[e.Name]; ok {
			list[i] = e
			continue
		}
		place[e.Name] = len(list)
		list = append(list, e)
	}
	slices.SortStableFunc(list, func(a, b bench.Entry) int { return cmp.Compare(b.Total, a.Total) })
	return top(list, n)
}

func total(entries []bench.Entry) float64 {
	sum := 0.0
	for _, e := range entries {
		sum = stats.Finite(sum + e.Total)
	}
	return sum
}

// topN compares two lists of operators by msmodeling's rule.
type topN struct {
	check    *compat.Check
	o        *compat.OperatorCheck
	recorded []bench.Entry
	perUnit  float64
}

// compare adds the missing operators by name, then those of the run in its
// order. The original compares the numbers as they are, without any rounding.
func (t *topN) compare(actual []bench.Entry, unit scale, sum float64) {
	of, was := recordedTotal(t.check.References, sum)
	t.o.Of, t.o.DeltaPS = of, inPS(t.check.Actual, t.perUnit)-inPS(was, t.perUnit)
	place := make(map[string]int, len(t.recorded)) // in t.recorded
	for i, e := range t.recorded {
		place[e.Name] = i
	}
	at, ran := make([]int, len(actual)), make([]bool, len(t.recorded))
	for i, e := range actual {
		j, ok := place[e.Name]
		if at[i] = j; ok {
			ran[j] = true
		} else {
			at[i] = -1
		}
	}
	for i, e := range t.recorded {
		if !ran[i] {
			gone := compat.OperatorRow{Name: e.Name, Change: compat.OperatorMissing, Old: e.Total, OldCalls: e.Calls, OldRank: i + 1}
			t.o.Rows = append(t.o.Rows, gone)
		}
	}
	slices.SortFunc(t.o.Rows, func(a, b compat.OperatorRow) int { return strings.Compare(a.Name, b.Name) })
	for i, e := range actual {
		r := compat.OperatorRow{Name: e.Name, Change: compat.OperatorNew, New: unit.of(e.Total), NewCalls: e.Calls, NewRank: i + 1}
		if j := at[i]; j >= 0 {
			r.Change, r.Old, r.OldCalls, r.OldRank = compat.OperatorKept, t.recorded[j].Total, t.recorded[j].Calls, j+1
		}
		t.o.Rows = append(t.o.Rows, r)
	}
	for i := range t.o.Rows {
		t.share(&t.o.Rows[i])
		t.judge(&t.o.Rows[i])
	}
}

// share gives a row its part of the change, for whoever looks closer than the
// original does.
func (t *topN) share(r *compat.OperatorRow) {
	old := inPS(r.Old, t.perUnit)
	r.DeltaPS = inPS(r.New, t.perUnit) - old
	divide(r, old)
	if t.o.DeltaPS != 0 {
		r.Share = float64(r.DeltaPS) / float64(t.o.DeltaPS)
	}
}

// judge sets a row's status and adds its lines, which are the original's.
func (t *topN) judge(r *compat.OperatorRow) {
	r.Status = compat.OperatorsWarn
	switch {
	case r.Change == compat.OperatorMissing:
		t.violated("  MISSING OPERATOR: %s (baseline=%.3fms, #calls=%d) - Not found in current results", r.Name, t.ms(r.Old), r.OldCalls)
	case r.Change == compat.OperatorNew:
		t.violated("  NEW OPERATOR: %s (actual=%.3fms, #calls=%d) - Not in baseline Top %d", r.Name, t.ms(r.New), r.NewCalls, t.o.TopN)
	case r.Old == 0:
		r.Status = compat.OperatorsPass
	default:
		diff := (r.New - r.Old) / r.Old
		r.Diff = stats.Finite(diff)
		if math.Abs(diff) <= t.o.Tolerance && !r.CallsDiffer() {
			r.Status = compat.OperatorsPass
			return
		}
		t.violated("  %s: %+.2f%% (baseline=%.3fms, actual=%.3fms)", r.Name, r.Diff*100, t.ms(r.Old), t.ms(r.New))
		if r.CallsDiffer() {
			t.violated("  %s: #CALLS MISMATCH baseline=%d, actual=%d", r.Name, r.OldCalls, r.NewCalls)
		}
	}
}

func (t *topN) violated(format string, args ...any) {
	t.o.Violations = append(t.o.Violations, fmt.Sprintf(format, args...))
}

// ms is a total in milliseconds, as the original computes them of seconds.
func (t *topN) ms(x float64) float64 {
	if s, ok := between(t.check.Unit, "ms"); ok {
		return s.of(x)
	}
	return x * 1000
}

// reason names the first of the violations.
func (t *topN) reason() string {
	var said []string
	for _, line := range t.o.Violations[:min(len(t.o.Violations), maxNamed)] {
		said = append(said, text.Visible(strings.TrimSpace(line), maxLine))
	}
	if more := len(t.o.Violations) - len(said); more > 0 {
		said = append(said, fmt.Sprintf("and %d more", more))
	}
	return strings.Join(said, "; ") + ": msmodeling only warns of it; refresh the case if that is meant"
}
