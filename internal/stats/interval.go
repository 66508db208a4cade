package stats

import (
	"math"
	"slices"
)

// MedianInterval is the interval of 95 %, two-sided, of the median by order
// statistics, with the normal approximation of the binomial, which is good from
// 20 values on. ok is false where there are too few: then both limits are
// the median. values is not modified.
func MedianInterval(values []float64) (low, high float64, ok bool) {
	sorted := slices.Clone(values)
	slices.Sort(sorted)
	n := len(sorted)
	half := 0.98 * math.Sqrt(float64(n)) // 1.96 sqrt(n)/2
	from, to := int(float64(n)/2-half), int(math.Ceil(float64(n)/2+half))
	if from < 0 || to >= n {
		m := median(sorted)
		return m, m, false
	}
	return sorted[from], sorted[to], true
}

// Wilson returns the interval of a share, from 0 to 1, of n trials, n above 0, for a quantile z of the normal distribution. It
// lies within 0 and 1.
func Wilson(share, n, z float64) (low, high float64) {
	middle, width := share+z*z/(2*n), z*math.Sqrt(share*(1-share)/n+z*z/(4*n*n))
	scale := 1 + z*z/n
	return min(share, (middle-width)/scale), max(share, (middle+width)/scale) // rounding at 0 and 1
}
