package operators

import (
	"math"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// scale converts numbers from one unit to another. One of the two factors is 1,
// so that each conversion rounds once.
type scale struct{ times, over float64 }

// between converts between units of time; other units must be equal.
func between(from, to string) (scale, bool) {
	a, ofTime := bench.TimeExponent(from)
	b, toTime := bench.TimeExponent(to)
	switch {
	case from == to:
		return scale{1, 1}, true
	case !ofTime || !toTime:
		return scale{}, false
	case a >= b:
		return scale{math.Pow10(a - b), 1}, true
	}
	return scale{1, math.Pow10(b - a)}, true
}

func (s scale) of(x float64) float64 { return stats.Finite(x * s.times / s.over) }

// picoseconds is how many of them a unit has. What is not time is counted in
// millionths of its unit.
func picoseconds(unit string) float64 {
	n, _ := bench.TimeExponent(unit)
	return math.Pow10(n)
}

// maxPicoseconds bounds what is added up in picoseconds, at thirteen days: sums and
// differences of two such numbers stay far from overflow.
const maxPicoseconds = 1 << 60

// inPS rounds a number of units to picoseconds.
func inPS(x, perUnit float64) int64 { return int64(clamp(math.Round(x * perUnit))) }

func clamp(ps float64) float64 { return max(-maxPicoseconds, min(maxPicoseconds, ps)) }
