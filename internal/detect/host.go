package detect

import (
	"math"

	"github.com/accelgate/accelgate/internal/stats"
)

// HostChange is how far a machine has moved between two series of a fixed piece
// of work.
type HostChange struct {
	// Change is that of the median time, as a share: 0.03 is 3 % slower.
	Change float64
	// Limit is how far it may move by noise, as a share of at least minShift.
	Limit float64
}

// Moved reports whether the machine changed.
func (c HostChange) Moved() bool { return math.Abs(c.Change) > c.Limit }

const (
	minShift   = 0.05 // smaller changes are of no interest
	shiftError = 3    // standard errors
)

// CompareHost compares times, which are positive, of the same work on one machine.
// The machine moved if the medians differ by more than 5 % and by more than 3
// standard errors of their difference. The noise of one time is the larger of those that
// both series' distances from their medians and their steps give. Without a time
// on either side nothing moved, whatever the limit.
func CompareHost(before, after []float64) HostChange {
	a, _ := levels(before, false)
	b, _ := levels(after, false)
	if len(a) == 0 || len(b) == 0 {
		return HostChange{Limit: minShift}
	}
	const median = 1.2533 // standard errors of the mean in one of the median, sqrt(pi/2)
	spread := median * hostNoise(a, b) * math.Sqrt(1/float64(len(a))+1/float64(len(b)))
	return HostChange{
		Change: math.Expm1(stats.Median(b) - stats.Median(a)),
		Limit:  max(minShift, math.Expm1(shiftError*spread)),
	}
}

// hostNoise is the standard deviation of one level. The distances of both series
// are taken together, because five values alone tell too little of their spread.
func hostNoise(a, b []float64) float64 {
	var distances []float64
	for _, series := range [][]float64{a, b} {
		center := stats.Median(series)
		for _, y := range series {
			distances = append(distances, math.Abs(y-center))
		}
	}
	const consistency = 1.4826 // of the median absolute deviation with the standard deviation
	n := float64(len(distances))
	mad := consistency * stats.Median(distances) * math.Sqrt(n/max(n-2, 1)) // two centers were fitted
	return max(mad, (stats.StepNoise(a)+stats.StepNoise(b))/2)
}
