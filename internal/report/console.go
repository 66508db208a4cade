package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// console writes the layouts of msmodeling's checker: byte for byte those of
// the original, except that what a name holds cannot move the cursor or be a
// command to GitHub's runner. As in Python, a width counts code points, and
// what is longer is not cut. Write errors are kept by the buffer.
type console struct{ w *bufio.Writer }

func newConsole(w io.Writer) console { return console{bufio.NewWriterSize(w, 64<<10)} }

func (c console) line(s string) {
	c.w.WriteString(inert(visible(s)))
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

// checks calls do for each check, in the order of the runs.
func (r *Report) checks(do func(*gate.Check)) {
	for i := range r.hosts {
		for k := range r.hosts[i].Comparison.Checks {
			do(&r.hosts[i].Comparison.Checks[k])
		}
	}
}

// counts sum up the checks.
type counts struct {
	total, passed, failed, none int // totals; none has no reference
	compared                    int // whose operators were
	same, differ, unrecorded    int // operators; unrecorded has no reference
	rows                        int
}

func (r *Report) counts() counts {
	var n counts
	r.checks(func(c *gate.Check) {
		n.total++
		switch {
		case failsTotal(c):
			n.failed++
		case c.Status == gate.CheckNoBaseline:
			n.none++
		default:
			n.passed++
		}
		n.rows += len(c.Operators.Rows)
		switch c.Operators.Status {
		case gate.OperatorsPass:
			n.same++
		case gate.OperatorsNoBaseline:
			n.unrecorded++
		case gate.OperatorsWarn, gate.OperatorsFail:
			n.differ++
		}
	})
	n.compared = n.same + n.differ + n.unrecorded
	return n
}

func failsTotal(c *gate.Check) bool {
	return c.Status == gate.CheckFailInit || c.Status == gate.CheckFailBase || c.Status == gate.CheckFailBoth
}

// differs reports operators of which at least one does not pass.
func differs(c *gate.Check) bool {
	return c.Operators.Status == gate.OperatorsWarn || c.Operators.Status == gate.OperatorsFail
}

// milliseconds writes a time as the original does, whose unit is the second.
// What is no time keeps its unit.
func milliseconds(x float64, unit string) string {
	n, isTime := exponent(unit)
	var b [32]byte
	switch {
	case !isTime && unit != "":
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
		return string(append(strconv.AppendFloat(append(b[:0], '+'), finite(diff*100), 'f', 2, 64), '%'))
	}
	return string(append(strconv.AppendFloat(b[:0], finite(diff*100), 'f', 2, 64), '%'))
}

// compared writes the value of a reference and the distance from it.
func compared(c *gate.Check, name string) (value, diff string) {
	if r := reference(c, name); r != nil {
		return milliseconds(r.Value, c.Unit), difference(r.Diff)
	}
	return "N/A", "N/A"
}

// operatorCells writes a row of a breakdown: recorded, now, change, calls.
func operatorCells(c *gate.Check, row *gate.OperatorRow) (old, now, diff, calls string) {
	old, now, diff = milliseconds(row.Old, c.Unit), milliseconds(row.New, c.Unit), difference(row.Diff)
	switch row.Change {
	case gate.OperatorMissing:
		return old, "MISSING", "N/A", "-"
	case gate.OperatorNew:
		return "N/A", now, "NEW", strconv.FormatInt(row.NewCalls, 10)
	}
	calls = strconv.FormatInt(row.OldCalls, 10) + "/" + strconv.FormatInt(row.NewCalls, 10)
	if row.CallsDiffer() {
		calls += "!"
	}
	return old, now, diff, calls
}

// violations are the lines that say how operators differ: the gate's own, or
// the same made of the rows.
func violations(c *gate.Check) []string {
	lines := make([]string, 0, len(c.Operators.Violations))
	for _, v := range c.Operators.Violations {
		lines = append(lines, strings.TrimLeft(v, " "))
	}
	if len(lines) > 0 {
		return lines
	}
	for i := range c.Operators.Rows {
		row := &c.Operators.Rows[i]
		if row.Status != gate.OperatorsWarn && row.Status != gate.OperatorsFail {
			continue
		}
		old, now, diff, _ := operatorCells(c, row)
		name := cmp.Or(row.Name, "other")
		switch row.Change {
		case gate.OperatorMissing:
			lines = append(lines, fmt.Sprintf("MISSING OPERATOR: %s (baseline=%s, #calls=%d) - Not found in current results", name, old, row.OldCalls))
			continue
		case gate.OperatorNew:
			lines = append(lines, fmt.Sprintf("NEW OPERATOR: %s (actual=%s, #calls=%d) - Not in baseline", name, now, row.NewCalls))
			continue
		}
		lines = append(lines, name+": "+diff+" (baseline="+old+", actual="+now+")")
		if row.CallsDiffer() {
			lines = append(lines, fmt.Sprintf("%s: #CALLS MISMATCH baseline=%d, actual=%d", name, row.OldCalls, row.NewCalls))
		}
	}
	return lines
}

// Anomalies writes what msmodeling's checker says of each case that fails, and
// the operators it warns of in a case that does not, in the order of the run.
// Like there, a case whose total fails says nothing of its operators: its
// table does.
func Anomalies(w io.Writer, r Report) error {
	out := newConsole(w)
	first := true
	r.checks(func(c *gate.Check) {
		if !failsTotal(c) && !differs(c) {
			return
		}
		if !first {
			out.line("")
		}
		first = false
		if failsTotal(c) {
			out.failure(c)
			return
		}
		out.warning(c)
	})
	return out.w.Flush()
}

func (c console) failure(check *gate.Check) {
	c.format("[%s] Total time regression anomaly detected!", check.Cell)
	c.format("  Description: %s", check.Description)
	c.format("  Actual:   %s", milliseconds(check.Actual, check.Unit))
	for _, of := range []struct{ name, title string }{{bench.InitialReference, "Initial"}, {bench.BaselineReference, "Baseline"}} {
		r := reference(check, of.name)
		if r == nil {
			continue
		}
		word := "FAIL"
		if r.Passed {
			word = "PASS"
		}
		c.format("  vs %s: %s (%s, tolerance: ±%.0f%%) %s", of.title, milliseconds(r.Value, check.Unit), difference(r.Diff), r.Tolerance*100, word)
	}
}

func (c console) warning(check *gate.Check) {
	kind := " (WARNING - not treated as test failure)"
	if check.Operators.Status == gate.OperatorsFail {
		kind = ""
	}
	c.format("[%s] Operator-level differences detected%s:", check.Cell, kind)
	c.format("  Description: %s", check.Description)
	c.format("  Top-%d Operator Comparison (...)", check.Operators.TopN)
	for _, v := range violations(check) {
		c.line("  " + v)
	}
}
