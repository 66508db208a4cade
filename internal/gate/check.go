package gate

// Check is the whole comparison of one cell with its [bench.Expected]. The
// verdicts say what it means for the decision; a Check says what was compared
// with what, for tables and explanations.
type Check struct {
	Cell        string           `json:"cell"`
	Group       string           `json:"group,omitempty"` // name of the [CaseGroup] that is judged in its place; "" for none
	Description string           `json:"description,omitempty"`
	Metric      string           `json:"metric"`
	Unit        string           `json:"unit,omitempty"` // of all totals
	Actual      float64          `json:"actual"`
	References  []ReferenceCheck `json:"references,omitempty"` // in the order of [bench.Expected]
	Status      CheckStatus      `json:"status"`
	Operators   OperatorCheck    `json:"operators"`
}

// CheckStatus sums up the references of a Check. The words are those of
// msmodeling's checker, and Improved is ours.
type CheckStatus string

// The statuses. The original does not know CheckImproved.
const (
	CheckPass       CheckStatus = "PASS"
	CheckImproved   CheckStatus = "IMPROVED"   // faster than the reference's tolerance allows
	CheckFailInit   CheckStatus = "FAIL(INIT)" // too far from the initial value
	CheckFailBase   CheckStatus = "FAIL(BASE)" // too far from the baseline
	CheckFailBoth   CheckStatus = "FAIL(BOTH)"
	CheckNoBaseline CheckStatus = "NO_BASELINE"
	// Those of a case in a group, which do not fail it.
	CheckWarnInit CheckStatus = "WARN(INIT)"
	CheckWarnBase CheckStatus = "WARN(BASE)"
	CheckWarnBoth CheckStatus = "WARN(BOTH)"
)

// ReferenceCheck compares the total with one reference.
type ReferenceCheck struct {
	Name      string  `json:"name"` // "baseline", "initial"
	Value     float64 `json:"value"`
	Tolerance float64 `json:"tolerance"` // fraction
	// MaxIncrease is the largest Diff, a fraction, if there is such a limit beside Tolerance.
	MaxIncrease *float64 `json:"max_increase,omitempty"`
	Diff        float64  `json:"diff"` // (actual - value) / value: positive is slower
	Passed      bool     `json:"passed"`
}

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
