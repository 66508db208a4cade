package judge

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/gate/diff"
	"github.com/accelgate/accelgate/internal/report"
)

// InferenceBenchTable renders a difference found by the rules of InferenceBench
// as its "bench diff" does: two lines of warning where the conditions differ,
// then all metrics in the order and with the figures of the original. That draws
// lines around them, and has "≈" and "?" for no_change and unknown, and an arrow
// before the other verdicts that points the way the number moved.
func InferenceBenchTable(w io.Writer, d diff.Difference) error {
	out := bufio.NewWriter(w)
	if differ := contextWarning(d.Context); differ != "" {
		fmt.Fprintln(out, report.LogLine("warning: baseline and candidate differ on: "+differ))
		fmt.Fprintln(out, "warning: such numbers may not be comparable: measure both sides under the same conditions")
	}
	grid := [][]string{{"METRIC", "BASELINE", "CANDIDATE", "Δ ABS", "Δ REL", "VERDICT"}}
	ranked := d.Ranked()
	for i := range ranked {
		cells := inferenceBenchCells(&ranked[i])
		for k := range cells {
			cells[k] = report.LogLine(cells[k])
		}
		cells[0] = report.Clip(ranked[i].Metric, maxName)
		grid = append(grid, cells)
	}
	for _, line := range aligned(grid) {
		fmt.Fprintln(out, report.LogLine(line))
	}
	return out.Flush()
}

// maxName is the length of a name in a table in characters.
const maxName = 160

// aligned pads the cells of a table: all but the first column and the last end on the right.
func aligned(grid [][]string) (lines []string) {
	widths := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, cell := range row {
			widths[i] = max(widths[i], utf8.RuneCountInString(cell))
		}
	}
	for _, row := range grid {
		var b strings.Builder
		for i, cell := range row {
			pad := strings.Repeat(" ", widths[i]-utf8.RuneCountInString(cell))
			if i == 0 || i == len(row)-1 {
				b.WriteString(cell + pad + "  ")
			} else {
				b.WriteString(pad + cell + "  ")
			}
		}
		lines = append(lines, strings.TrimRight(b.String(), " "))
	}
	return lines
}

// contextWarning lists what differs as "name (baseline -> candidate)".
func contextWarning(context []diff.ContextMatch) string {
	var differ []string
	for i := range context {
		if c := &context[i]; !c.Match {
			differ = append(differ,
				fmt.Sprintf("%s (%s -> %s)", report.Clip(c.Name, maxName), report.Clip(pythonText(c, c.Baseline), maxName),
					report.Clip(pythonText(c, c.Candidate), maxName)))
		}
	}
	return strings.Join(differ, ", ")
}

// inferenceBenchCells formats a row as the original does.
func inferenceBenchCells(r *diff.Row) []string {
	delta, relative := "-", "n/a"
	if r.DeltaAbs != nil {
		delta = plus(*r.DeltaAbs) + pythonAmount(*r.DeltaAbs)
	}
	if r.DeltaRel != nil {
		relative = plus(*r.DeltaRel) + pythonFixed(*r.DeltaRel*100, 2) + "%"
	}
	cells := []string{r.Metric, "-", "-", delta, relative, string(r.Verdict)}
	for i, x := range []*float64{r.Baseline, r.Candidate} {
		if x != nil {
			cells[1+i] = pythonAmount(*x)
		}
	}
	return cells
}

func plus(x float64) string {
	if x > 0 {
		return "+"
	}
	return ""
}

// pythonAmount has fewer decimals the larger the number, and separates
// thousands by commas.
func pythonAmount(x float64) string {
	switch a := math.Abs(x); {
	case math.IsInf(x, 0):
		return pythonFixed(x, 1)
	case a >= 100:
		return thousands(pythonFixed(x, 1))
	case a >= 1:
		return pythonFixed(x, 2)
	default:
		return pythonFixed(x, 4)
	}
}

// pythonFixed is Python's format "f".
func pythonFixed(x float64, decimals int) string {
	switch {
	case math.IsNaN(x):
		return "nan"
	case math.IsInf(x, 0):
		return map[bool]string{false: "inf", true: "-inf"}[x < 0]
	}
	return strconv.FormatFloat(x, 'f', decimals, 64)
}

// thousands puts commas into the whole part of a decimal number.
func thousands(s string) string {
	whole, decimals, _ := strings.Cut(s, ".")
	digits := []byte(whole)
	for at := len(digits) - 3; at > 0 && digits[at-1] != '-'; at -= 3 {
		digits = slices.Insert(digits, at, ',')
	}
	return string(digits) + "." + decimals
}

// InferenceBenchJSON renders a difference found by the rules of InferenceBench
// in the shape of its "bench diff --report json", numbers and text as Python's
// json.dumps writes them with an indent of 2: NaN and Infinity bare, which is
// not JSON, and nothing but ASCII.
func InferenceBenchJSON(w io.Writer, d diff.Difference) error {
	b := bufio.NewWriter(w)
	fmt.Fprintf(b, "{\n  \"baseline_path\": %s,\n  \"candidate_path\": %s,\n", pythonString(d.Baseline), pythonString(d.Candidate))
	b.WriteString("  \"context_match\": {\n")
	all := true
	for i := range d.Context {
		c := &d.Context[i]
		all = all && c.Match
		fmt.Fprintf(b, "    %s: {\n      \"baseline\": %s,\n      \"candidate\": %s,\n      \"match\": %t\n    },\n",
			pythonString(c.Name), contextValue(c, c.Baseline), contextValue(c, c.Candidate), c.Match)
	}
	fmt.Fprintf(b, "    \"all_match\": %t\n  },\n  \"metrics\": [", all)
	rows := slices.SortedStableFunc(slices.Values(d.Rows), func(a, b diff.Row) int { return strings.Compare(a.Metric, b.Metric) })
	for i := range rows {
		r := &rows[i]
		fmt.Fprintf(b, "%s\n    {\n      \"name\": %s,\n      \"baseline\": %s,\n      \"candidate\": %s,\n",
			map[bool]string{true: ","}[i > 0], pythonString(r.Metric), pythonNumber(r.Baseline), pythonNumber(r.Candidate))
		fmt.Fprintf(b, "      \"delta_abs\": %s,\n      \"delta_rel\": %s,\n      \"verdict\": %s\n    }",
			pythonNumber(r.DeltaAbs), pythonNumber(r.DeltaRel), pythonString(string(r.Verdict)))
	}
	if len(rows) > 0 {
		b.WriteString("\n  ")
	}
	b.WriteString("]\n}\n")
	return b.Flush()
}

// isNull reports a value that is null in the original: of its conditions only
// the quantisation may lack.
func isNull(c *diff.ContextMatch, value string) bool {
	return value == "" && c.Name == "quantization_format"
}

func contextValue(c *diff.ContextMatch, value string) string {
	if isNull(c, value) {
		return "null"
	}
	return pythonString(value)
}

// pythonText is the value as Python prints it.
func pythonText(c *diff.ContextMatch, value string) string {
	if isNull(c, value) {
		return "None"
	}
	return value
}

// pythonString writes s as JSON in ASCII.
func pythonString(s string) string {
	text, _ := report.PrintableJSON(s, func(r rune) bool { return ' ' <= r && r <= '~' }) // a string always encodes
	return string(text)
}

// pythonNumber writes the shortest text with the same value, always with a
// point or an exponent, the latter below 1e-4 and from 1e16 on.
func pythonNumber(x *float64) string {
	switch {
	case x == nil:
		return "null"
	case math.IsNaN(*x):
		return "NaN"
	case math.IsInf(*x, 0):
		return map[bool]string{false: "Infinity", true: "-Infinity"}[*x < 0]
	}
	short := strconv.FormatFloat(*x, 'e', -1, 64)
	_, exponent, _ := strings.Cut(short, "e")
	if e, _ := strconv.Atoi(exponent); e < -4 || e >= 16 {
		return short
	}
	decimal := strconv.FormatFloat(*x, 'f', -1, 64)
	if strings.Contains(decimal, ".") {
		return decimal
	}
	return decimal + ".0"
}
