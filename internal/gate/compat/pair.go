package compat

import (
	"math"

	"github.com/accelgate/accelgate/internal/stats"
)

// Pair compares two workloads, or one with itself: what msmodeling's
// auto_baseline.py does. It is two-sided: an auto-baseline checks that two
// things are as fast as each other, and not that one is not slower.
type Pair struct {
	Baseline  Spread  `json:"baseline"`
	Compare   Spread  `json:"compare"`
	Diff      float64 `json:"diff"`      // (compare - baseline) / baseline, of the medians
	Tolerance float64 `json:"tolerance"` // fraction; a difference of exactly this passes
	Passed    bool    `json:"passed"`
}

// Spread is what repeated measurements of one workload show of the noise.
type Spread struct {
	N      int     `json:"n"`
	Median float64 `json:"median"`
	MAD    float64 `json:"mad"` // median absolute deviation, unscaled
	// Floor is the largest difference between two of the measurements as a
	// fraction of the median: a smaller tolerance would judge noise. 0 where
	// there is one measurement, which shows no noise.
	Floor float64 `json:"floor"`
}

// ComparePair compares measurements of a baseline, whose median is above 0,
// with others. Both have at least one value.
func ComparePair(baseline, compare []float64, tolerance float64) Pair {
	p := Pair{Baseline: SpreadOf(baseline), Compare: SpreadOf(compare), Tolerance: tolerance}
	p.Diff = (p.Compare.Median - p.Baseline.Median) / p.Baseline.Median
	p.Passed = math.Abs(p.Diff) <= tolerance // false for NaN
	return p
}

// SpreadOf sums up repeated measurements.
func SpreadOf(values []float64) Spread {
	s := Spread{N: len(values), Median: stats.Median(values), MAD: stats.MAD(values)}
	lo, hi := s.Median, s.Median
	for _, x := range values {
		lo, hi = min(lo, x), max(hi, x)
	}
	if s.Median > 0 {
		s.Floor = (hi - lo) / s.Median
	}
	return s
}
