package compat

import (
	"iter"
	"slices"
)

// OperatorStatus is the result of comparing operators, or of one of them.
type OperatorStatus string

// The statuses of operators.
const (
	OperatorsPass       OperatorStatus = "PASS"
	OperatorsWarn       OperatorStatus = "WARN"
	OperatorsFail       OperatorStatus = "FAIL"
	OperatorsNoBaseline OperatorStatus = "NO_BASELINE" // none recorded
	OperatorsOff        OperatorStatus = "OFF"         // by configuration, or the run has no total or no breakdown to compare
)

// Differs reports operators that are not as recorded.
func (s OperatorStatus) Differs() bool { return s == OperatorsWarn || s == OperatorsFail }

// Compared reports whether operators of both sides were compared.
func (s OperatorStatus) Compared() bool { return s == OperatorsPass || s.Differs() }

// OperatorCheck compares the breakdown of a total with the recorded one.
type OperatorCheck struct {
	Status    OperatorStatus `json:"status"`
	TopN      int            `json:"top_n,omitempty"`
	Tolerance float64        `json:"tolerance"` // fraction
	// Of names the reference whose total Rows are parts of.
	Of string `json:"of,omitempty"`
	// DeltaPS is the difference of the two totals in picoseconds. Outside of
	// compat mode it is exactly the sum of that of Rows.
	DeltaPS int64         `json:"delta_ps"`
	Rows    []OperatorRow `json:"rows,omitempty"`
	// Violations are msmodeling's own lines, in compat mode only.
	Violations []string `json:"violations,omitempty"`
}

// OperatorChange says how an operator's place among the recorded ones changed.
type OperatorChange string

// The changes. Outside of compat mode, Moved is an operator that only crossed
// the cut of a list that holds the largest: nothing is wrong with it.
const (
	OperatorKept    OperatorChange = ""
	OperatorNew     OperatorChange = "new"
	OperatorMissing OperatorChange = "missing"
	OperatorMoved   OperatorChange = "moved"
	// OperatorOther is everything that has no row of its own. It never violates:
	// nothing says which operators it is, and the total, which is judged, has it.
	OperatorOther OperatorChange = "other"
)

// OperatorRow is one operator on both sides. Totals are in the Check's unit.
type OperatorRow struct {
	Name   string         `json:"name"` // "" for the other row
	Change OperatorChange `json:"change,omitempty"`
	Status OperatorStatus `json:"status"`
	Old    float64        `json:"old"`
	New    float64        `json:"new"`
	// Calls are 0 where the side does not say them.
	OldCalls int64 `json:"old_calls"`
	NewCalls int64 `json:"new_calls"`
	// Ranks count from 1 by total, descending; 0 where the side does not list it.
	OldRank int     `json:"old_rank,omitempty"`
	NewRank int     `json:"new_rank,omitempty"`
	Diff    float64 `json:"diff"` // (new - old) / old; 0 where old is 0
	// DeltaPS = ByCallsPS + ByCostPS: what more calls cost at the old cost per
	// call, and what dearer calls cost at the new number of calls.
	DeltaPS   int64 `json:"delta_ps"`
	ByCallsPS int64 `json:"by_calls_ps"`
	ByCostPS  int64 `json:"by_cost_ps"`
	// Share is DeltaPS over the difference of the totals; 0 if that is 0.
	Share float64 `json:"share"`
}

// CallsDiffer reports whether the recorded calls, if there are any, are not those
// of the run. A run that does not say its calls differs too: what was recorded
// and cannot be compared any more is missing, as a metric would be.
func (r *OperatorRow) CallsDiffer() bool { return r.OldCalls > 0 && r.NewCalls != r.OldCalls }

// Differing returns the rows of operators that are not as recorded.
func (o *OperatorCheck) Differing() iter.Seq[*OperatorRow] {
	return func(yield func(*OperatorRow) bool) {
		for i := range o.Rows {
			if r := &o.Rows[i]; r.Status.Differs() && !yield(r) {
				return
			}
		}
	}
}

// LacksCalls reports an operator of the run without its calls, which are recorded.
func (o *OperatorCheck) LacksCalls() bool {
	return slices.ContainsFunc(o.Rows, func(r OperatorRow) bool { return r.NewRank > 0 && r.NewCalls == 0 && r.CallsDiffer() })
}
