package report

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/bench"
)

// dots are one row of a strip: values on the common scale.
type dots struct {
	name   string
	values []float64
}

// strip draws rows of values on one scale, so that a reader sees what overlaps: ".",
// ":" and "#" stand for one, two and more values at a place. Rows without finite values
// are left out; the result is nil if all are.
func strip(rows []dots, unit string, width int) []string {
	var all []float64
	for i := range rows {
		rows[i].values = slices.DeleteFunc(slices.Clone(rows[i].values), func(x float64) bool { return !bench.Finite(x) })
		all = append(all, rows[i].values...)
	}
	if len(all) == 0 {
		return nil
	}
	lo, hi := slices.Min(all), slices.Max(all)
	left, right := number(lo), strings.TrimSpace(number(hi)+" "+unit)
	space := max(1, width+2-utf8.RuneCountInString(left)-utf8.RuneCountInString(right))
	lines := []string{fmt.Sprintf("%-8s %s%s%s", "", left, strings.Repeat(" ", space), right)}
	for _, row := range rows {
		if len(row.values) > 0 {
			lines = append(lines, fmt.Sprintf("%-8s |%s|", row.name, scatter(row.values, lo, hi, width)))
		}
	}
	return lines
}

func scatter(values []float64, lo, hi float64, width int) string {
	counts := make([]int, width)
	for _, x := range values {
		at := 0.5
		if hi > lo {
			at = (x - lo) / (hi - lo)
		}
		if math.IsNaN(at) { // the span is beyond what a float64 holds
			at = 0.5
		}
		counts[min(width-1, max(0, int(at*float64(width))))]++
	}
	var b strings.Builder
	for _, n := range counts {
		b.WriteByte(" .:#"[min(n, 3)])
	}
	return b.String()
}
