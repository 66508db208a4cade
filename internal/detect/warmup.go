package detect

import (
	"math"

	"github.com/accelgate/accelgate/internal/stats"
)

// warmShift is the distance, in units of the noise, that values must have from
// the later ones to be warm-up.
const warmShift = 3

// Warmup returns how many of the first values of one session are not like those
// after them: at most half. Values are positive, in the order of measurement;
// which direction is better does not matter, because clocks may fall as well as
// rise. steady is false where even the second half does not stay on one level,
// so that no number of repetitions would have been enough.
//
// The cut is where the rest has the least standard error of its mean (White
// 1997, MSER), and is made only where something stands out before it. The
// values' noise is that of the steps between them, which is blind to trends.
func Warmup(values []float64) (first int, steady bool) {
	y, lost := levels(values, false)
	if lost > 0 || len(y) < 4 {
		return 0, lost == 0
	}
	noise := max(stats.StepNoise(y[len(y)/2:]), 1e-12)
	first = minError(y)
	for first > 0 && !standsOut(y, first, noise) {
		first--
	}
	return first, stays(y[max(first, len(y)/2):], noise)
}

// minError is the cut, up to half, after which the mean is known best.
func minError(y []float64) int {
	best, minimum := 0, math.Inf(1)
	for cut := 0; cut <= len(y)/2; cut++ {
		rest := y[cut:]
		if e := squares(rest) / float64(len(rest)*len(rest)); e < minimum {
			best, minimum = cut, e
		}
	}
	return best
}

// standsOut reports whether the last value before the cut is far from what follows.
func standsOut(y []float64, cut int, noise float64) bool {
	return math.Abs(y[cut-1]-stats.Median(y[cut:])) > warmShift*noise
}

// stays reports whether both halves are on one level.
func stays(y []float64, noise float64) bool {
	half := len(y) / 2
	if half == 0 {
		return true
	}
	shift := math.Abs(stats.Median(y[half:]) - stats.Median(y[:half]))
	return shift <= warmShift*noise*math.Sqrt(2/float64(half))*1.25
}
