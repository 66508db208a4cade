package detect

import (
	"math"

	"github.com/accelgate/accelgate/internal/stats"
)

// Noise of one sample, in units of the logarithm.
const (
	ownFloor          = 0.002
	crossFloor        = 0.003
	priorHistory      = 0.02 // where nothing is known
	priorInterleaved  = 0.01
	minCross          = 10     // cells without which Cross has no noise
	normalConsistency = 1.4826 // median absolute deviation to standard deviation
)

// Own estimates the noise of one sample from the steps between successive runs
// of one cell, the newest last, which a change of level or a slow drift hardly
// moves. It is in units of the logarithm, at least 0.002, and looks at the last
// 30 usable values; with fewer than 12, ok is false.
func Own(values []float64) (noise float64, ok bool) {
	y, _ := levels(values, false)
	return ownNoise(y)
}

// minWide is the number of runs from which [Wide] has a noise.
const minWide = 3

// Wide estimates the noise of one sample as [Own] does, from 3 usable values on: it
// only widens what else is expected, so a rough estimate does no harm. It is 0
// with fewer.
func Wide(values []float64) float64 {
	y, _ := levels(values, false)
	y = y[len(y)-min(len(y), ownSpan):]
	if len(y) < minWide {
		return 0
	}
	return max(ownFloor, stats.StepNoise(y))
}

func ownNoise(y []float64) (noise float64, ok bool) {
	y = y[len(y)-min(len(y), ownSpan):]
	if len(y) < minOwn {
		return 0, false
	}
	return max(ownFloor, stats.StepNoise(y)), true
}

// Cross estimates the noise of one sample from one step of many cells: each is
// the logarithm of the new value over the one before it. What moves
// all of them does not count. It is in units of the logarithm, at least 0.003;
// with fewer than 10 finite steps, ok is false.
func Cross(steps []float64) (noise float64, ok bool) {
	finite := make([]float64, 0, len(steps))
	for _, s := range steps {
		if !math.IsNaN(s) && !math.IsInf(s, 0) {
			finite = append(finite, s)
		}
	}
	if len(finite) < minCross {
		return 0, false
	}
	return max(crossFloor, normalConsistency*stats.MAD(finite)/math.Sqrt2), true
}

// prior is the noise that the cell is expected to have before its samples are
// looked at. Pairs are expected to have no more than 1 %, whatever history says.
func prior(own, cross float64, m Mode) float64 {
	switch {
	case m == Interleaved:
		return min(priorInterleaved, prior(own, cross, History))
	case own > 0 && cross > 0:
		return math.Exp((2*math.Log(own) + math.Log(cross)) / 3)
	case own > 0:
		return own
	case cross > 0:
		return cross
	}
	return priorHistory
}
