package cases

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/text"
)

// PrintTest prints the two tables of msmodeling's checker as it does at
// commit 84fec85: "[Test 1]" and "[Test 2]". It prints nothing of a report
// without cases. There, a case without a reference counts as passed, and
// operators are only warned of; a case that could not be judged has no row. Its
// tables do not tell that one is missing, so a line is added after them.
func PrintTest(w io.Writer, r report.Report) error {
	out := newConsole(w)
	return out.each(&r, (*hostCases).any, func(of *hostCases) {
		if of.total > 0 {
			out.testTotals(of)
			out.testOperators(of)
		}
		if of.errors > 0 {
			out.format("*** %s could not be judged; see standard error, or --format terminal ***", text.Plural(of.errors, "case"))
		}
	})
}

// operatorsFail reports whether operators that differ block some case.
func (of *hostCases) operatorsFail() (fail bool) {
	of.eachCheck(func(check *gate.Check) { fail = fail || check.Operators.Status == gate.OperatorsFail })
	return fail
}

func (of *hostCases) any() bool { return of.total+of.errors > 0 }

// eachCheck calls do for each check, in the order of the run.
func (of *hostCases) eachCheck(do func(*gate.Check)) {
	for i := range of.Comparison.Checks {
		do(&of.Comparison.Checks[i])
	}
}

func (c console) testTotals(of *hostCases) {
	const width, row = 120, "%-36s %10s  %10s  %10s  %10s  %10s  %10s"
	c.line("")
	c.title("[Test 1] Total Time Regression Summary", width)
	c.format(row, "Case", "Actual", "Init", "InitDiff", "Baseline", "BaseDiff", "Status")
	c.rule("-", width)
	of.eachCheck(func(check *gate.Check) {
		initial, initialDiff := compared(check, bench.InitialReference)
		base, baseDiff := compared(check, bench.BaselineReference)
		c.format(row, check.Cell, milliseconds(check.Actual, check.Unit), initial, initialDiff, base, baseDiff, check.Status)
	})
	c.rule("-", width)
	c.format("Total: %d | Passed: %d | Failed: %d | No Baseline: 0", of.total, of.passed+of.none, of.failed)
	c.rule("=", width)
	c.line("")
}

func (c console) testOperators(of *hostCases) {
	const width = 145
	switch {
	case of.rows == 0:
		return
	case of.differ == 0:
		c.line("*** All Operator Top-N Checks Passed (no warnings) ***")
		c.line("")
		return
	}
	// What the original prints is true where operators only warn.
	title, end := "[Test 2] Operator-Level Differences Summary (WARNING only, not treated as failure)", "*** Operator Differences Detected (WARNING only, test NOT failed) ***"
	if of.operatorsFail() {
		title, end = "[Test 2] Operator-Level Differences Summary", "*** Operator Differences Detected ***"
	}
	c.title(title, width)
	// The header has one space where the rows have two, twice.
	c.format("%-32s %-44s %10s %10s  %10s  %12s %10s", "Case", "Operator", "Baseline", "Actual", "Diff", "#Calls", "Status")
	c.rule("-", width)
	of.eachCheck(func(check *gate.Check) {
		for i := range check.Operators.Rows {
			row := &check.Operators.Rows[i]
			if row.Status == gate.OperatorsWarn || row.Status == gate.OperatorsFail {
				old, now, diff, calls := operatorCells(check, row)
				c.format(
					"%-32s %-44s %10s  %10s  %10s  %12s  %10s",
					check.Cell,
					cmp.Or(row.Name, "other"),
					old,
					now,
					diff,
					calls,
					row.Status,
				)
			}
		}
	})
	c.rule("-", width)
	c.format("Total Cases: %d | Passed: %d | Warnings: %d | No Baseline: %d", of.compared, of.same, of.differ, of.unrecorded)
	c.rule("=", width)
	c.line("")
	c.line(end)
}

// PrintCheck prints the tables that msmodeling's README shows: "[Check 1]"
// and "[Check 2]". There, a case without a reference is not counted as passed,
// and operators that differ are FAIL whatever the level of their verdict. Rows
// are aligned as the README's; one of its own is off by a column. A case that
// could not be judged, which the README does not mention, is an ERROR and
// counts as failed.
func PrintCheck(w io.Writer, r report.Report) error {
	out := newConsole(w)
	return out.each(&r, (*hostCases).any, func(of *hostCases) {
		out.checkTotals(of)
		out.checkOperators(of)
	})
}

const (
	checkWidth = 110
	maxReason  = 500 // characters
)

func (c console) checkTotals(of *hostCases) {
	const row = "%-38s  %9s  %9s  %9s  %9s  %9s  %13s"
	c.title("[Check 1] Total Time Regression Summary", checkWidth)
	c.line("Case                                       Actual      Init   InitDiff%      Base   BaseDiff%         Status")
	c.rule("-", checkWidth)
	of.eachCheck(func(check *gate.Check) {
		initial, initialDiff := compared(check, bench.InitialReference)
		base, baseDiff := compared(check, bench.BaselineReference)
		c.format(row, check.Cell, milliseconds(check.Actual, check.Unit), initial, initialDiff, base, baseDiff, check.Status)
	})
	for _, v := range of.unchecked {
		c.format(row, v.Cell, "N/A", "N/A", "N/A", "N/A", "N/A", notChecked)
	}
	c.rule("-", checkWidth)
	c.format("Total: %d | Passed: %d | Failed: %d | No Baseline: %d", of.total+of.errors, of.passed, of.failed+of.errors, of.none)
	c.rule("=", checkWidth)
	c.line("")
}

func (c console) checkOperators(of *hostCases) {
	const row = "%-38s  %26s  %38s"
	c.title("[Check 2] Operator Regression Summary", checkWidth)
	c.line("Case                                                         Status                              Details")
	c.rule("-", checkWidth)
	of.eachCheck(func(check *gate.Check) {
		status, details := operatorDetails(&check.Operators)
		c.format(row, check.Cell, status, details)
	})
	for _, v := range of.unchecked {
		c.format(row, v.Cell, notChecked, why(v, maxReason))
	}
	c.rule("-", checkWidth)
	c.format("Total: %d | Passed: %d | Failed: %d | No Baseline: %d", of.compared+of.errors, of.same, of.differ+of.errors, of.unrecorded)
	c.rule("=", checkWidth)
	if of.differ > 0 {
		c.operatorAnomalies(of)
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

func (c console) operatorAnomalies(of *hostCases) {
	c.line("")
	c.line("*** Operator regression anomalies detected! ***")
	of.eachCheck(func(check *gate.Check) {
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
