package report

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

var (
	_ Renderer = MSModelingTest
	_ Renderer = MSModelingCheck
	_ Renderer = Anomalies
)

// MSModelingTest prints the two tables of msmodeling's checker as it does at
// commit 84fec85: "[Test 1]" and "[Test 2]". It prints nothing of a report
// without checks. There, a case without a reference counts as passed, and
// operators are only warned of.
func MSModelingTest(w io.Writer, r Report) error {
	out := newConsole(w)
	n := r.counts()
	if n.total > 0 {
		out.testTotals(&r, n)
		out.testOperators(&r, n)
	}
	return out.w.Flush()
}

func (c console) testTotals(r *Report, n counts) {
	const width, row = 120, "%-36s %10s  %10s  %10s  %10s  %10s  %10s"
	c.line("")
	c.title("[Test 1] Total Time Regression Summary", width)
	c.format(row, "Case", "Actual", "Init", "InitDiff", "Baseline", "BaseDiff", "Status")
	c.rule("-", width)
	r.checks(func(check *gate.Check) {
		initial, initialDiff := compared(check, bench.InitialReference)
		base, baseDiff := compared(check, bench.BaselineReference)
		c.format(row, check.Cell, milliseconds(check.Actual, check.Unit), initial, initialDiff, base, baseDiff, check.Status)
	})
	c.rule("-", width)
	c.format("Total: %d | Passed: %d | Failed: %d | No Baseline: 0", n.total, n.passed+n.none, n.failed)
	c.rule("=", width)
	c.line("")
}

func (c console) testOperators(r *Report, n counts) {
	const width = 145
	switch {
	case n.rows == 0:
		return
	case n.differ == 0:
		c.line("*** All Operator Top-N Checks Passed (no warnings) ***")
		c.line("")
		return
	}
	c.title("[Test 2] Operator-Level Differences Summary (WARNING only, not treated as failure)", width)
	// The header has one space where the rows have two, twice.
	c.format("%-32s %-44s %10s %10s  %10s  %12s %10s", "Case", "Operator", "Baseline", "Actual", "Diff", "#Calls", "Status")
	c.rule("-", width)
	r.checks(func(check *gate.Check) {
		for i := range check.Operators.Rows {
			row := &check.Operators.Rows[i]
			if row.Status == gate.OperatorsWarn || row.Status == gate.OperatorsFail {
				old, now, diff, calls := operatorCells(check, row)
				c.format("%-32s %-44s %10s  %10s  %10s  %12s  %10s", check.Cell, cmp.Or(row.Name, "other"), old, now, diff, calls, row.Status)
			}
		}
	})
	c.rule("-", width)
	c.format("Total Cases: %d | Passed: %d | Warnings: %d | No Baseline: %d", n.compared, n.same, n.differ, n.unrecorded)
	c.rule("=", width)
	c.line("")
	c.line("*** Operator Differences Detected (WARNING only, test NOT failed) ***")
}

// MSModelingCheck prints the tables that msmodeling's README shows: "[Check 1]"
// and "[Check 2]". There, a case without a reference is not counted as passed,
// and operators that differ are FAIL whatever the level of their verdict. Rows
// are aligned as the README's; one of its own is off by a column.
func MSModelingCheck(w io.Writer, r Report) error {
	out := newConsole(w)
	n := r.counts()
	if n.total > 0 {
		out.checkTotals(&r, n)
		out.checkOperators(&r, n)
	}
	return out.w.Flush()
}

const checkWidth = 110

func (c console) checkTotals(r *Report, n counts) {
	c.title("[Check 1] Total Time Regression Summary", checkWidth)
	c.line("Case                                       Actual      Init   InitDiff%      Base   BaseDiff%         Status")
	c.rule("-", checkWidth)
	r.checks(func(check *gate.Check) {
		initial, initialDiff := compared(check, bench.InitialReference)
		base, baseDiff := compared(check, bench.BaselineReference)
		c.format("%-38s  %9s  %9s  %9s  %9s  %9s  %13s", check.Cell, milliseconds(check.Actual, check.Unit),
			initial, initialDiff, base, baseDiff, check.Status)
	})
	c.rule("-", checkWidth)
	c.format("Total: %d | Passed: %d | Failed: %d | No Baseline: %d", n.total, n.passed, n.failed, n.none)
	c.rule("=", checkWidth)
	c.line("")
}

func (c console) checkOperators(r *Report, n counts) {
	const row = "%-38s  %26s  %38s"
	c.title("[Check 2] Operator Regression Summary", checkWidth)
	c.line("Case                                                         Status                              Details")
	c.rule("-", checkWidth)
	r.checks(func(check *gate.Check) {
		status, details := operatorDetails(&check.Operators)
		c.format(row, check.Cell, status, details)
	})
	c.rule("-", checkWidth)
	c.format("Total: %d | Passed: %d | Failed: %d | No Baseline: %d", n.compared, n.same, n.differ, n.unrecorded)
	c.rule("=", checkWidth)
	if n.differ > 0 {
		c.anomalies(r)
	}
}

func operatorDetails(o *gate.OperatorCheck) (status, details string) {
	switch o.Status {
	case gate.OperatorsWarn, gate.OperatorsFail:
		n := 0
		for i := range o.Rows {
			if s := o.Rows[i].Status; s == gate.OperatorsWarn || s == gate.OperatorsFail {
				n++
			}
		}
		return string(gate.OperatorsFail), fmt.Sprintf("%d operator(s) exceeded", n)
	case gate.OperatorsPass:
		return string(o.Status), "All operators within tolerance"
	case gate.OperatorsNoBaseline:
		return string(o.Status), "No operators recorded"
	}
	return string(o.Status), "Operators not compared"
}

func (c console) anomalies(r *Report) {
	c.line("")
	c.line("*** Operator regression anomalies detected! ***")
	r.checks(func(check *gate.Check) {
		if !differs(check) {
			return
		}
		c.line("")
		c.format("  [%s]:", check.Cell)
		for _, v := range violations(check) {
			c.line(strings.Repeat(" ", 4) + v)
		}
	})
}
