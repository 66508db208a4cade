package compat

import "github.com/accelgate/accelgate/internal/bench"

// CaseGroup is what became of a [bench.ExpectedGroup].
type CaseGroup struct {
	Group       string  `json:"group"`
	Description string  `json:"description,omitempty"`
	Tolerance   float64 `json:"tolerance"` // fraction
	// Mean is that of the changes from the baseline references, a fraction, positive for slower: the geometric mean,
	// or by msmodeling's rules that of the distances to either side. Nil where there is none.
	Mean *float64 `json:"mean,omitempty"`
	// Percent is Mean in percent, as the original computes it.
	Percent float64     `json:"-"`
	Status  GroupStatus `json:"status"`
	// Implied says that Tolerance is the smallest of the cases' own, which differ.
	Implied bool          `json:"implied_tolerance,omitempty"`
	Cases   []CaseOfGroup `json:"cases,omitempty"` // in the order of the file
}

// CaseOfGroup is a case of a group.
type CaseOfGroup struct {
	Cell string `json:"cell"`
	Name string `json:"name"`
	// Initial and Baseline are the recorded totals; 0 for none.
	Initial  float64 `json:"initial,omitempty"`
	Baseline float64 `json:"baseline,omitempty"`
	// Error is why the case could not be judged; "" if it has a [Check].
	Error string `json:"error,omitempty"`
}

// GroupStatus sums up a CaseGroup. The words are those of msmodeling's checker.
type GroupStatus string

// The statuses. The original does not know GroupIncomplete.
const (
	GroupPass       GroupStatus = "PASS"
	GroupFail       GroupStatus = "FAIL"
	GroupEmpty      GroupStatus = "FAIL(EMPTY)"
	GroupError      GroupStatus = "FAIL(ERROR)"
	GroupNoBaseline GroupStatus = "FAIL(NO_BASELINE)"
	GroupIncomplete GroupStatus = "INCOMPLETE" // the run lacks cases
)

// CaseOf returns a case of a group with its recorded totals.
func CaseOf(id, name string, recorded []bench.Reference) CaseOfGroup {
	one := CaseOfGroup{Cell: id, Name: name}
	for _, r := range recorded {
		if r.Name == bench.BaselineReference {
			one.Baseline = r.Value
		} else {
			one.Initial = r.Value
		}
	}
	return one
}
