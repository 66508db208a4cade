package bench

// Expected is what a cell should measure by its suite's own committed
// files, beside the host's baseline. Package gate judges by it; it never
// travels in a Run, because a run must not bring its own limits.
type Expected struct {
	Cell        string // id
	Suite       string // name
	Description string
	// Host is the label of the only host that References and Operators are of;
	// "" for all. The cell itself is expected on every host.
	Host string
	// Metric names the total that References are of and that Operators are
	// parts of, such as total_time_s. It is better lower.
	Metric string
	// References are the recorded totals above 0 in the metric's unit; empty
	// where nothing was recorded yet.
	References []Reference
	// Group is the group of cells that the cell is judged with; nil for none.
	Group *ExpectedGroup
	// Exact replaces every tolerance of References by equality.
	Exact bool
	// NoReference is the level of a cell without References that the host's
	// baseline does not have either, Drift the level of a move away from a reference
	// that is not the first: "fail", "warn" or "off".
	NoReference, Drift string
	Operators          ExpectedOperators
}

// ExpectedGroup is a group of cells whose mean distance from their baseline references is judged, and
// not that of each.
type ExpectedGroup struct {
	Name        string
	Description string
	Tolerance   float64  // largest mean distance, a fraction, 0 or more
	Implied     bool     // Tolerance is the smallest of the cells' own, which differ
	Cells       []string // ids, in the order of the file; none for a group that is empty
	Names       []string // of Cells in the group
}

// Reference is one recorded total.
type Reference struct {
	Name      string  // "baseline", "initial"
	Value     float64 // above 0, in the metric's unit
	Tolerance float64 // fraction of Value, 0 or more
	// MaxIncrease is how much more than Value the total may be, a fraction of it, 0 or more; nil
	// for no other limit than Tolerance. Implied says that it is no file's: only the rules of
	// the program that the file is of have it.
	MaxIncrease *float64
	Implied     bool
}

// The names of References. The baseline is what a cell is judged by, or the
// initial value where there is no baseline; distance from the initial value
// beside a baseline is drift.
const (
	BaselineReference = "baseline"
	InitialReference  = "initial"
)

// OperatorsTitle is the title of the Breakdown that ExpectedOperators are
// compared with.
const OperatorsTitle = "operators"

// ExpectedOperators is the recorded breakdown of a total and how it is judged.
type ExpectedOperators struct {
	Entries []Entry // Total in the metric's unit, 0 where only Calls count; Calls is 0 where not recorded
	// TopN is how many the original compares. A list of fewer, on either side,
	// claims to be whole: what it does not have did not run.
	TopN      int
	Tolerance float64 // fraction of an operator's recorded total, 0 or more
	// MinShare is the part of the total, on either side, below which an
	// operator is not judged one by one and counts as "other".
	MinShare float64
	Level    string // "fail", "warn" or "off"
}
