package cases

import (
	"fmt"
	"math"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
)

// times are the units of time that tables use, the largest first.
var times = []string{"s", "ms", "µs", "ns", "ps"}

// picoseconds converts x of a unit, and keeps what cannot be held out of it.
func picoseconds(x float64, unit string) int64 {
	const maximum = 1 << 60
	n, _ := bench.TimeExponent(unit)
	return int64(math.Round(min(max(bench.FiniteOrZero(x)*math.Pow10(n), -maximum), maximum)))
}

// amount writes a difference with its sign and three digits: "+12 ms".
func amount(ps int64, unit string) report.Line {
	n, isTime := bench.TimeExponent(unit)
	shown := report.Foreign(" " + unit)
	if isTime {
		var name string
		name, n = unitOf(magnitude(ps))
		shown = report.Plain(" " + name)
	}
	s := strconv.FormatFloat(float64(ps)/math.Pow10(n), 'g', 3, 64)
	if ps > 0 {
		s = "+" + s
	}
	return report.Line{report.Plain(s), shown}
}

// unitOf is the largest unit of which ps is at least one.
func unitOf(ps uint64) (unit string, exponent int) {
	for _, unit := range times {
		if n, _ := bench.TimeExponent(unit); float64(ps) >= math.Pow10(n) {
			return unit, n
		}
	}
	return "ps", 0
}

func magnitude(x int64) uint64 {
	if x < 0 {
		return -uint64(x)
	}
	return uint64(x)
}

// whole writes a share as a percentage without decimals.
func whole(share float64) string { return fmt.Sprintf("%.0f %%", share*100) }

// scale writes the numbers of one table in one unit and with the same digits,
// as whole multiples of its step, so that what is shown adds up.
type scale struct {
	unit   report.Span
	step   int64 // picoseconds
	digits int
}

// scaleFor takes the unit from the size of the total and of the largest change,
// and enough digits to tell a thousandth of that change.
func scaleFor(total, change uint64, unit string) scale {
	const maximum = 6
	n, isTime := bench.TimeExponent(unit)
	shown := report.Foreign(" " + unit)
	if isTime {
		var name string
		name, n = unitOf(max(total/10, change))
		shown = report.Plain(" " + name)
	}
	fine := change / 1000
	if change == 0 {
		fine = total / 10_000
	}
	digits := 0
	for digits < min(maximum, n) && math.Pow10(n-digits) > float64(max(fine, 1)) {
		digits++
	}
	return scale{shown, int64(math.Pow10(n - digits)), digits}
}

func (s scale) steps(ps int64) int64 { return int64(math.Round(float64(ps) / float64(s.step))) }

func (s scale) write(steps int64) report.Line {
	return report.Line{report.Plain(s.text(steps)), s.unit}
}

func (s scale) signed(steps int64) report.Line {
	if steps > 0 {
		return report.Line{report.Plain("+" + s.text(steps)), s.unit}
	}
	return s.write(steps)
}

func (s scale) text(steps int64) string {
	return strconv.FormatFloat(float64(steps)/math.Pow10(s.digits), 'f', s.digits, 64)
}
