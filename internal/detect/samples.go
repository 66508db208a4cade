package detect

import (
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/stats"
)

// Spans of history, in runs.
const (
	longBase  = 10 // base of a single head sample, and of at least 10
	shortBase = 5  // base of all others
	ownSpan   = 30 // runs that Own looks at
	minOwn    = 12 // runs without which Own has no noise
	manyHeads = 10
)

// samples are the usable values of one cell, as logarithms, larger is worse.
type samples struct {
	history  []float64 // the base, of History the last rowSpan
	base     []float64 // the end of it that the score takes
	head     []float64
	lostBase int
	lostHead int
}

func newSamples(base, head []float64, o Options) samples {
	var s samples
	if o.mode() == History { // no more than this is looked at, unless some are unusable
		base = base[len(base)-min(len(base), rowSpan):]
	}
	s.history, s.lostBase = levels(base, o.HigherIsBetter)
	s.head, s.lostHead = levels(head, o.HigherIsBetter)
	s.base = s.history[len(s.history)-min(len(s.history), s.span(o)):]
	return s
}

func (s *samples) span(o Options) int {
	n := len(s.head)
	switch {
	case o.mode() != History:
		return len(s.history)
	case n <= 1 || n >= manyHeads:
		return longBase
	}
	return shortBase
}

// levels returns the logarithms of the usable values, larger is worse, and how
// many are unusable.
func levels(values []float64, higherIsBetter bool) (usable []float64, lost int) {
	usable = make([]float64, 0, len(values))
	for _, v := range values {
		y, ok := level(v, higherIsBetter)
		if !ok {
			lost++
			continue
		}
		usable = append(usable, y)
	}
	return usable, lost
}

func level(v float64, higherIsBetter bool) (y float64, ok bool) {
	if !(v > 0) || math.IsInf(v, 1) {
		return 0, false
	}
	if higherIsBetter {
		return -math.Log(v), true
	}
	return math.Log(v), true
}

// keep is how many of m samples, the fastest, enter a mean: all up to 3, then 70 %.
func keep(m int) int {
	return min(m, max(3, (7*m+9)/10))
}

// fastest returns the lowest keep(m) levels, sorted.
func fastest(y []float64) []float64 {
	sorted := slices.Clone(y)
	slices.Sort(sorted)
	return sorted[:keep(len(y))]
}

func mean(y []float64) float64 {
	var sum float64
	for _, v := range y {
		sum += v
	}
	return sum / float64(len(y))
}

// squares returns the sum of the squared distances from the mean.
func squares(y []float64) float64 {
	var sum float64
	m := mean(y)
	for _, v := range y {
		sum += (v - m) * (v - m)
	}
	return sum
}

// a12 is the share of pairs in which the head is strictly worse.
func a12(base, head []float64) float64 {
	var above int
	for _, h := range head {
		for _, b := range base {
			if h > b {
				above++
			}
		}
	}
	return float64(above) / float64(len(base)*len(head))
}

// center is the median of at most the last span levels.
func center(y []float64, span int) float64 {
	return stats.Median(y[len(y)-min(len(y), span):])
}
