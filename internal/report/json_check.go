package report

import (
	"slices"

	"github.com/accelgate/accelgate/internal/gate/compat"
)

// checks writes the member of that name, if it is not empty.
func (e *encoder) checks(checks []compat.Check) {
	if len(checks) == 0 {
		return
	}
	e.text(`"checks":[`)
	for i := range checks {
		e.separate(i)
		e.check(&checks[i])
	}
	e.text("\n],")
}

// check writes one: the operators come last in it, and their rows and
// violations last in them.
func (e *encoder) check(c *compat.Check) {
	head := finiteCheck(*c)
	head.Operators.Rows, head.Operators.Violations = nil, nil
	e.begin(&head, "}}")
	if rows := c.Operators.Rows; len(rows) > 0 {
		e.text(`,"rows":[`)
		var row compat.OperatorRow // one for all: a run may have 400,000
		for i := range rows {
			e.separate(i)
			row = finiteOperator(rows[i])
			e.value(&row)
		}
		e.text("\n]")
	}
	if len(c.Operators.Violations) > 0 {
		e.text(`,"violations":`)
		e.value(c.Operators.Violations)
	}
	e.text("}}")
}

func finiteCheck(c compat.Check) compat.Check {
	c.Actual, c.Operators.Tolerance = finite(c.Actual), finite(c.Operators.Tolerance)
	c.References = slices.Clone(c.References)
	for i := range c.References {
		r := &c.References[i]
		r.Value, r.Tolerance, r.Diff = finite(r.Value), finite(r.Tolerance), finite(r.Diff)
	}
	return c
}

func finiteOperator(r compat.OperatorRow) compat.OperatorRow {
	r.Old, r.New, r.Diff, r.Share = finite(r.Old), finite(r.New), finite(r.Diff), finite(r.Share)
	return r
}
