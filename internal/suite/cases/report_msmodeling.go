package cases

import (
	"cmp"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// PrintTest prints the tables of msmodeling's checker as it does at
// commit 21de24d3: "[Test 1]", "[Test 2]" and "[Test 3]", or by the older rules at commit 84fec85
// the first two. It prints nothing of a report without cases. There, a case without a reference counts as passed, and
// operators are only warned of; a case that could not be judged has no row. Its
// tables do not tell that one is missing, so a line is added after them.
func PrintTest(w io.Writer, r report.Report) error {
	out := newConsole(w)
	return out.each(&r, (*hostCases).any, func(of *hostCases) {
		groups := of.Comparison.Groups
		if of = of.withoutGroups(); of.total > 0 {
			out.testTotals(of, !r.Input().Policy.Compat.Rules().Totals.Groups)
			out.testOperators(of)
		}
		if len(groups) > 0 {
			out.testGroups(of, groups)
		}
		if of.errors > 0 {
			out.format("*** %s could not be judged; see standard error, or --format terminal ***", text.Plural(of.errors, "case"))
		}
	})
}

// operatorsFail reports whether operators that differ block some case.
func (of *hostCases) operatorsFail() (fail bool) {
	of.eachCheck(func(check *compat.Check) { fail = fail || check.Operators.Status == compat.OperatorsFail })
	return fail
}

func (of *hostCases) any() bool { return of.total+of.errors > 0 }

// eachCheck calls do for each check, in the order of the run.
func (of *hostCases) eachCheck(do func(*compat.Check)) {
	for i := range of.Comparison.Checks {
		if c := &of.Comparison.Checks[i]; !of.alone || !grouped(c) {
			do(c)
		}
	}
}

func (c console) testTotals(of *hostCases, older bool) {
	const width, row = 120, "%-36s %10s  %10s  %10s  %10s  %10s  %10s"
	c.line("")
	c.title("[Test 1] Total Time Regression Summary", width)
	c.format(row, "Case", "Actual", "Init", "InitDiff", "Baseline", "BaseDiff", "Status")
	c.rule("-", width)
	of.eachCheck(func(check *compat.Check) {
		initial, initialDiff := compared(check, bench.InitialReference)
		base, baseDiff := compared(check, bench.BaselineReference)
		c.format(row, check.Cell, milliseconds(check.Actual, check.Unit), initial, initialDiff, base, baseDiff, check.Status)
	})
	c.rule("-", width)
	if older { // a case without a time counts as passed
		c.format("Total: %d | Passed: %d | Failed: %d | No Baseline: 0", of.total, of.passed+of.none, of.failed)
	} else {
		c.format("Total: %d | Passed: %d | Failed: %d | Warned: 0 | No Baseline: %d", of.total, of.passed, of.failed, of.none)
	}
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
	of.eachCheck(func(check *compat.Check) {
		for row := range check.Operators.Differing() {
			old, now, diff, calls := operatorCells(check, row)
			c.format("%-32s %-44s %10s  %10s  %10s  %12s  %10s",
				check.Cell, cmp.Or(row.Name, "other"), old, now, diff, calls, row.Status)
		}
	})
	c.rule("-", width)
	c.format("Total Cases: %d | Passed: %d | Warnings: %d | No Baseline: %d", of.compared, of.same, of.differ, of.unrecorded)
	c.rule("=", width)
	c.line("")
	c.line(end)
}

// testGroups prints "[Test 3]".
func (c console) testGroups(h *hostCases, groups []compat.CaseGroup) {
	const width = 135
	passed := 0
	c.line("")
	c.title("[Test 3] Group Average Precision Judgment Summary", width)
	for i := range groups {
		g := &groups[i]
		passed += stats.Indicator(g.Status == compat.GroupPass)
		tolerance, mean := "N/A", "N/A"
		if g.Status != compat.GroupEmpty {
			tolerance = fmt.Sprintf("%.2f%%", g.Tolerance*100)
		}
		if g.Mean != nil {
			mean = fmt.Sprintf("%.2f%%", g.Percent)
		}
		c.format("Group: %-24s Tolerance: %8s   AvgDiff: %8s   GroupStatus: %s", g.Group, tolerance, mean, g.Status)
		c.rule("-", width)
		c.format(groupRow, "Case", "Actual", "Init", "InitDiff", "Baseline", "BaseDiff", "Status", "Op(TopN)")
		if len(g.Cases) == 0 {
			c.format("%-20s", "(no sub-cases)")
		}
		for k := range g.Cases {
			c.caseOfGroup(h, &g.Cases[k])
		}
		c.warningsOfGroup(h, g, width)
		c.rule("-", width)
	}
	c.format("Total: %d group(s) | Passed: %d | Failed: %d", len(groups), passed, len(groups)-passed)
	c.rule("=", width)
	c.line("")
}

const groupRow = "%-20s %13s  %13s  %9s  %13s  %9s  %-12s  %-12s"

func (c console) caseOfGroup(h *hostCases, one *compat.CaseOfGroup) {
	check := h.checks[one.Cell]
	if check == nil {
		recorded := func(x float64) string {
			if x == 0 {
				return "N/A"
			}
			return milliseconds(x, "s")
		}
		c.format(groupRow, one.Name, "N/A", recorded(one.Initial), "N/A", recorded(one.Baseline), "N/A", notChecked, "N/A")
		return
	}
	initial, initialDiff := compared(check, bench.InitialReference)
	base, baseDiff := compared(check, bench.BaselineReference)
	c.format(groupRow, one.Name, milliseconds(check.Actual, check.Unit), initial, initialDiff, base, baseDiff, check.Status,
		operatorsOfGroup(check))
}

func operatorsOfGroup(check *compat.Check) string {
	switch status := check.Operators.Status; {
	case status.Differs():
		return fmt.Sprintf("%s(%d)", status, len(violations(check)))
	case status == compat.OperatorsOff:
		return "N/A"
	default:
		return string(status)
	}
}

// warningsOfGroup lists the operators of a group that differ, if any do.
func (c console) warningsOfGroup(h *hostCases, g *compat.CaseGroup, width int) {
	const line = "  %-24s %-44s %10s  %10s  %10s  %10s"
	first := true
	for i := range g.Cases {
		check := h.checks[g.Cases[i].Cell]
		if check == nil || !check.Operators.Status.Differs() {
			continue
		}
		for row := range check.Operators.Differing() {
			if first {
				c.rule("-", width)
				c.line("  Operator warnings in this group:")
				c.format(line, "Case", "Operator", "Baseline", "Actual", "Diff", "#Calls")
				first = false
			}
			old, now, diff, calls := operatorCells(check, row)
			c.format(line, g.Cases[i].Name, cmp.Or(row.Name, "other"), old, now, diff, calls)
		}
	}
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
	of.eachCheck(func(check *compat.Check) {
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
	of.eachCheck(func(check *compat.Check) {
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

func operatorDetails(o *compat.OperatorCheck) (status, details string) {
	switch o.Status {
	case compat.OperatorsWarn, compat.OperatorsFail:
		n := 0
		for range o.Differing() {
			n++
		}
		return string(compat.OperatorsFail), fmt.Sprintf("%d operator(s) exceeded", n)
	case compat.OperatorsPass:
		return string(o.Status), "All operators within tolerance"
	case compat.OperatorsNoBaseline:
		return string(o.Status), "No operators recorded"
	}
	return string(o.Status), "Operators not compared"
}

func (c console) operatorAnomalies(of *hostCases) {
	c.line("")
	c.line("*** Operator regression anomalies detected! ***")
	of.eachCheck(func(check *compat.Check) {
		if !check.Operators.Status.Differs() {
			return
		}
		c.line("")
		c.format("  [%s]:", check.Cell)
		for _, v := range violations(check) {
			c.line(strings.Repeat(" ", 4) + v)
		}
	})
}
