package cases

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/report"
)

// console writes the layouts of msmodeling's checker: byte for byte those of
// the original, except that what a name holds cannot move the cursor or be a
// command to GitHub's runner. As in Python, a width counts code points, and
// what is longer is not cut. Write errors are kept by the buffer.
type console struct{ w *bufio.Writer }

func newConsole(w io.Writer) console { return console{bufio.NewWriterSize(w, 64<<10)} }

func (c console) line(s string) {
	c.w.WriteString(report.LogLine(s))
	c.w.WriteByte('\n')
}

func (c console) format(format string, args ...any) { c.line(fmt.Sprintf(format, args...)) }

func (c console) rule(of string, width int) { c.line(strings.Repeat(of, width)) }

// title writes a title between two rules.
func (c console) title(title string, width int) {
	c.rule("=", width)
	c.line("  " + title)
	c.rule("=", width)
}

// each writes the tables of every host that shown selects, under its name where
// the report has several hosts.
func (c console) each(r *report.Report, shown func(*hostCases) bool, tables func(*hostCases)) error {
	in, first := r.Input(), true
	for i := range in.Hosts {
		of := casesOf(&in, i)
		if !shown(of) {
			continue
		}
		if len(in.Hosts) > 1 {
			if !first {
				c.line("")
			}
			c.line("Host: " + report.Clip(of.Run.Host.Label, maxName))
		}
		first = false
		tables(of)
	}
	return c.w.Flush()
}

// maxName is the length of a host's label in characters.
const maxName = 160

// grouped reports a case whose group is judged in its place.
func grouped(c *compat.Check) bool { return c.Group != "" }

// milliseconds writes a time as the original does, whose unit is the second.
// Other amounts than times keep their unit.
func milliseconds(x float64, unit string) string {
	n, isTime := bench.TimeExponent(cmp.Or(unit, "s"))
	var b [32]byte
	switch {
	case !isTime:
		return string(append(strconv.AppendFloat(b[:0], x, 'f', 3, 64), unit...))
	case n >= 9:
		x *= math.Pow10(n - 9)
	default:
		x /= math.Pow10(9 - n)
	}
	return string(append(strconv.AppendFloat(b[:0], x, 'f', 3, 64), "ms"...))
}

// difference is Python's "{:+.2f}%", a negative zero included.
func difference(diff float64) string {
	var b [32]byte
	if !math.Signbit(diff) {
		return string(append(strconv.AppendFloat(append(b[:0], '+'), bench.FiniteOrZero(diff*100), 'f', 2, 64), '%'))
	}
	return string(append(strconv.AppendFloat(b[:0], bench.FiniteOrZero(diff*100), 'f', 2, 64), '%'))
}

// compared writes the value of a reference and the distance from it.
func compared(c *compat.Check, name string) (value, diff string) {
	if r := c.Reference(name); r != nil {
		return milliseconds(r.Value, c.Unit), difference(r.Diff)
	}
	return "N/A", "N/A"
}

// operatorCells writes a row of a breakdown: recorded, now, change, calls.
func operatorCells(c *compat.Check, row *compat.OperatorRow) (old, now, diff, calls string) {
	old, now, diff = milliseconds(row.Old, c.Unit), milliseconds(row.New, c.Unit), difference(row.Diff)
	switch row.Change {
	case compat.OperatorMissing:
		return old, "MISSING", "N/A", "-"
	case compat.OperatorNew:
		return "N/A", now, "NEW", called(c, row.NewCalls)
	}
	calls = called(c, row.OldCalls) + "/" + called(c, row.NewCalls)
	if row.CallsDiffer() {
		calls += "!"
	}
	return old, now, diff, calls
}

// called writes a number of calls, of which 0 is an unknown one: except in
// msmodeling's own comparison, which has them all and alone has violations.
func called(c *compat.Check, calls int64) string {
	if calls == 0 && len(c.Operators.Violations) == 0 {
		return "?"
	}
	return strconv.FormatInt(calls, 10)
}

// violations are the lines that say how operators differ: the gate's own, or
// the same made of the rows.
func violations(c *compat.Check) []string {
	lines := make([]string, 0, len(c.Operators.Violations))
	for _, v := range c.Operators.Violations {
		lines = append(lines, strings.TrimLeft(v, " "))
	}
	if len(lines) > 0 {
		return lines
	}
	for row := range c.Operators.Differing() {
		old, now, diff, _ := operatorCells(c, row)
		name := cmp.Or(row.Name, "other")
		switch row.Change {
		case compat.OperatorMissing:
			lines = append(lines, fmt.Sprintf("MISSING OPERATOR: %s (baseline=%s, #calls=%s) - Not found in current results", name, old,
				called(c, row.OldCalls)))
			continue
		case compat.OperatorNew:
			lines = append(lines,
				fmt.Sprintf("NEW OPERATOR: %s (actual=%s, #calls=%s) - Not in baseline", name, now, called(c, row.NewCalls)))
			continue
		}
		lines = append(lines, name+": "+diff+" (baseline="+old+", actual="+now+")")
		if row.CallsDiffer() {
			lines = append(lines,
				fmt.Sprintf("%s: #CALLS MISMATCH baseline=%s, actual=%s", name, called(c, row.OldCalls), called(c, row.NewCalls)))
		}
	}
	return lines
}

// Anomalies writes what msmodeling's checker says of each case that fails, and
// the operators it warns of in a case that does not, in the order of the run.
// Like there, a case whose total fails says nothing of its operators: its
// table does. Then it names the cases that could not be judged, each with its
// reason, for which the original has a traceback and no row in any table.
func Anomalies(w io.Writer, r report.Report) error {
	out := newConsole(w)
	return out.each(&r, (*hostCases).anomalous, out.anomaliesOf)
}

func (of *hostCases) anomalous() bool {
	return of.failed+of.differ+of.errors+len(of.Comparison.Groups) > 0
}

func (c console) anomaliesOf(of *hostCases) {
	first := true
	block := func(write func()) {
		if !first {
			c.line("")
		}
		first = false
		write()
	}
	names := map[string]string{} // of the cases of groups
	for _, g := range of.Comparison.Groups {
		for _, one := range g.Cases {
			names[one.Cell] = one.Name
		}
	}
	for i := range of.Comparison.Checks {
		check := &of.Comparison.Checks[i]
		switch name := cmp.Or(names[check.Cell], check.Cell); {
		case check.Status.Fails():
			block(func() { c.failure(check) })
		case check.Operators.Status.Differs():
			block(func() { c.warning(name, check) })
		}
	}
	for i := range of.Comparison.Groups {
		if g := &of.Comparison.Groups[i]; g.Status != compat.GroupPass || g.Implied {
			block(func() { c.group(of, g) })
		}
	}
	of = of.withoutGroups()
	const longest = 1000 // runes; a reason names files
	for _, v := range of.unchecked {
		block(func() { c.format("[%s] %s", v.Cell, why(v, longest)) })
	}
}

func (c console) failure(check *compat.Check) {
	c.format("[%s] Total time regression anomaly detected!", check.Cell)
	c.format("  Description: %s", check.Description)
	c.format("  Actual:   %s", milliseconds(check.Actual, check.Unit))
	for _, of := range []struct{ name, title string }{{bench.InitialReference, "Initial"}, {bench.BaselineReference, "Baseline"}} {
		r := check.Reference(of.name)
		if r == nil {
			continue
		}
		word := "FAIL"
		if r.Passed {
			word = "PASS"
		}
		c.format("  vs %s: %s (%s, tolerance: ±%.0f%%) %s", of.title, milliseconds(r.Value, check.Unit), difference(r.Diff),
			r.Tolerance*100, word)
	}
}

// group says why a group fails, and that its tolerance is its cases' own.
func (c console) group(h *hostCases, g *compat.CaseGroup) {
	const longest = 1000 // runes; a reason names files
	if g.Implied {
		c.format("[group=%s] \"group_tolerance\" not set; falling back to the minimum of sub-case baseline_tolerance: %.2f%%",
			g.Group, g.Tolerance*100)
	}
	var failed, without, all []string
	for _, one := range g.Cases {
		base := (*compat.ReferenceCheck)(nil)
		if check := h.checks[one.Cell]; check != nil {
			base = check.Reference(bench.BaselineReference)
		}
		diff := "N/A"
		if base != nil {
			diff = difference(base.Diff)
		}
		all = append(all, one.Name+"("+diff+")")
		switch {
		case one.Error != "":
			failed = append(failed, "  "+one.Name+": "+report.Clip(one.Error, longest))
		case base == nil:
			without = append(without, one.Name)
		}
	}
	switch g.Status {
	case compat.GroupEmpty:
		c.format("Group case \"%s\" declares no sub_cases. This is an invalid configuration: "+
			"remove the JSON file or declare its members.", g.Group)
	case compat.GroupError:
		c.format("[group=%s] %d sub-case(s) errored; group judgment fails:", g.Group, len(failed))
		for _, line := range failed {
			c.line(line)
		}
		c.format("  Completed sub-cases baseline diff: %s", strings.Join(all, ", "))
	case compat.GroupNoBaseline:
		c.format("[group=%s] Cannot judge the group average: %d sub-case(s) have no baseline and contribute no diff: %s",
			g.Group, len(without), strings.Join(without, ", "))
	case compat.GroupFail:
		c.format("[group=%s] Group average precision judgment failed: avg |baseline diff| = %.2f%% > tolerance %.2f%%",
			g.Group, g.Percent, g.Tolerance*100)
		for _, one := range g.Cases {
			if base := h.checks[one.Cell].Reference(bench.BaselineReference); base != nil {
				c.format("    %s: |diff| = %.2f%%", one.Name, math.Abs(base.Diff)*100)
			}
		}
	}
}

func (c console) warning(name string, check *compat.Check) {
	kind := " (WARNING - not treated as test failure)"
	if check.Operators.Status == compat.OperatorsFail {
		kind = ""
	}
	c.format("[%s] Operator-level differences detected%s:", name, kind)
	c.format("  Description: %s", check.Description)
	c.format("  Top-%d Operator Comparison (...)", check.Operators.TopN)
	for _, v := range violations(check) {
		c.line("  " + v)
	}
}
