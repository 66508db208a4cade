package compat

import "github.com/accelgate/accelgate/internal/bench"

// Check is the whole comparison of one cell with its [bench.Expected], in the words of msmodeling's checker. The gate's
// verdicts decide; a Check records what was compared with what, for tables and explanations.
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

// Fails reports a total that is too far from a reference.
func (s CheckStatus) Fails() bool {
	return s == CheckFailInit || s == CheckFailBase || s == CheckFailBoth
}

// Grouped is the status of a case whose group is judged in its place.
func (s CheckStatus) Grouped() CheckStatus {
	switch s {
	case CheckFailInit:
		return CheckWarnInit
	case CheckFailBase:
		return CheckWarnBase
	case CheckFailBoth:
		return CheckWarnBoth
	}
	return s
}

// Unrecorded reports a total without any reference.
func (c *Check) Unrecorded() bool { return c.Status == CheckNoBaseline }

// Reference returns the comparison with the reference of that name; nil where there is none.
func (c *Check) Reference(name string) *ReferenceCheck {
	for i := range c.References {
		if c.References[i].Name == name {
			return &c.References[i]
		}
	}
	return nil
}

// Deciding returns the reference that the cell is judged by: the baseline's, or the first where there is none. It is nil
// if nothing is recorded.
func (c *Check) Deciding() *ReferenceCheck {
	if base := c.Reference(bench.BaselineReference); base != nil || len(c.References) == 0 {
		return base
	}
	return &c.References[0]
}

// SumUp sets the status by the references.
func (c *Check) SumUp() {
	var base, initial bool // did not pass
	for _, r := range c.References {
		base = base || !r.Passed && r.Name == bench.BaselineReference
		initial = initial || !r.Passed && r.Name != bench.BaselineReference
	}
	switch {
	case len(c.References) == 0:
		c.Status = CheckNoBaseline
	case base && initial:
		c.Status = CheckFailBoth
	case base:
		c.Status = CheckFailBase
	case initial:
		c.Status = CheckFailInit
	default:
		c.Status = CheckPass
	}
}

// ByCell finds checks by their cells.
func ByCell(checks []Check) map[string]*Check {
	found := make(map[string]*Check, len(checks))
	for i := range checks {
		found[checks[i].Cell] = &checks[i]
	}
	return found
}

// OfFile reports the name of a reference that suites' files record.
func OfFile(name string) bool {
	return name == bench.BaselineReference || name == bench.InitialReference
}
