// Package stats summarizes repeated measurements by their median and their
// median absolute deviation, which a single slow run cannot move far. It is
// pure arithmetic on float64: it is independent of metrics, no unit and no limit.
package stats

import (
	"math"
	"slices"
)

// Median returns the middle value, or the mean of the two middle values. It is
// NaN if values is empty or holds a NaN, and where opposite infinities are in
// the middle. values is not modified.
func Median(values []float64) float64 {
	if len(values) == 1 { // as most runs have, without a copy
		return values[0]
	}
	var few [8]float64 // most have no more: no room from the heap
	return median(append(few[:0], values...))
}

// MAD returns the median absolute deviation from the median, unscaled: half of
// the values lie within one MAD of the median. Multiply by 1.4826 to estimate a
// standard deviation. It is 0 for a single value, and NaN if values is empty or
// holds a NaN, or if the median is infinite. values is not modified.
func MAD(values []float64) float64 {
	var few [8]float64
	deviations := append(few[:0], values...)
	center := median(deviations)
	for i, v := range deviations {
		deviations[i] = math.Abs(v - center)
	}
	return median(deviations)
}

// StepNoise estimates the standard deviation of one value of a series from the steps
// between successive ones, which a change of level or a slow drift hardly moves. It is 0
// with fewer than two values.
func StepNoise(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	steps := make([]float64, len(values)-1)
	for i := range steps {
		steps[i] = math.Abs(values[i+1] - values[i])
	}
	const consistency = 1.4826 // of the median absolute deviation with the standard deviation
	return consistency * Median(steps) / math.Sqrt2
}

// median sorts values in place. Sorting puts NaN first.
func median(values []float64) float64 {
	slices.Sort(values)
	n := len(values)
	switch {
	case n == 0 || math.IsNaN(values[0]):
		return math.NaN()
	case n%2 == 1 || values[n/2-1] == values[n/2]:
		return values[n/2]
	}
	return values[n/2-1]/2 + values[n/2]/2 // each halved, so that the sum cannot overflow
}

// SD returns the standard deviation of a sample of at least two values; 0 of fewer.
func SD(values []float64) float64 {
	if len(values) < 2 {
		return 0
	}
	var sum, squares float64
	for _, v := range values {
		sum += v
	}
	mean := sum / float64(len(values))
	for _, v := range values {
		squares += (v - mean) * (v - mean)
	}
	return math.Sqrt(squares / float64(len(values)-1))
}

// Indicator is 1 for true and 0 for false, so that sums count.
func Indicator(yes bool) int {
	if yes {
		return 1
	}
	return 0
}
