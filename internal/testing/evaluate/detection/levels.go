package detection

import (
	"math"

	"github.com/accelgate/accelgate/internal/stats"
)

// What counts as a change of level in hindsight.
const (
	minRuns   = 8    // runs of a level
	minShift  = 0.01 // relative
	minShiftS = 0.75 // in units of the noise
	clip      = 3    // units of the noise around the local median that a run may count for
	localSpan = 9
)

// label finds the levels of a series by optimal partitioning of its clipped
// logarithms, and joins those that hardly differ.
func (s *Series) label() {
	y := make([]float64, len(s.Values))
	for i, v := range s.Values {
		y[i] = math.Log(v)
	}
	noise := stepNoise(y)
	clipped := winsorise(y, noise)
	cuts := partition(clipped, minRuns, penalty(noise, len(y)))
	cuts = join(clipped, cuts, noise)
	s.Level = make([]int, len(y))
	for i := range cuts[:len(cuts)-1] {
		for j := cuts[i]; j < cuts[i+1]; j++ {
			s.Level[j] = i
		}
	}
	s.Noise = residual(y, cuts)
}

func penalty(noise float64, n int) float64 {
	return penaltyFactor * noise * noise * math.Log(float64(max(n, 2)))
}

const penaltyFactor = 3

// stepNoise is the noise of one run by the steps between successive ones.
func stepNoise(y []float64) float64 {
	if len(y) < 2 {
		return 0.002
	}
	return max(0.001, stats.StepNoise(y))
}

// winsorise moves what is far from the local median to a distance that one run
// may have.
func winsorise(y []float64, noise float64) []float64 {
	out := make([]float64, len(y))
	for i, v := range y {
		m := stats.Median(y[max(0, i-localSpan/2):min(len(y), i+localSpan/2+1)])
		out[i] = min(max(v, m-clip*noise), m+clip*noise)
	}
	return out
}

// partition returns the ends of the segments, 0 first and len(y) last, that
// minimise the squared distances from the segments' means plus a penalty each.
func partition(y []float64, minimum int, penalty float64) []int {
	n := len(y)
	sum, square := make([]float64, n+1), make([]float64, n+1)
	for i, v := range y {
		v -= y[0]
		sum[i+1], square[i+1] = sum[i]+v, square[i]+v*v
	}
	best, from := make([]float64, n+1), make([]int, n+1)
	for end := 1; end <= n; end++ {
		best[end] = math.Inf(1)
		for start := 0; start <= max(0, end-minimum); start++ {
			if start > 0 && start < minimum {
				continue
			}
			d := sum[end] - sum[start]
			cost := best[start] + square[end] - square[start] - d*d/float64(end-start) + penalty
			if cost < best[end] {
				best[end], from[end] = cost, start
			}
		}
	}
	cuts := []int{n}
	for end := n; end > 0; end = from[end] {
		cuts = append([]int{from[end]}, cuts...)
	}
	return cuts
}

// join removes the cut with the smallest shift for as long as it is small.
func join(y []float64, cuts []int, noise float64) []int {
	limit := max(math.Log1p(minShift), minShiftS*noise)
	for len(cuts) > 2 {
		at, smallest := 0, math.Inf(1)
		for i := 1; i < len(cuts)-1; i++ {
			shift := math.Abs(average(y[cuts[i]:cuts[i+1]]) - average(y[cuts[i-1]:cuts[i]]))
			if shift < smallest {
				at, smallest = i, shift
			}
		}
		if smallest >= limit {
			break
		}
		cuts = append(cuts[:at:at], cuts[at+1:]...)
	}
	return cuts
}

func average(y []float64) float64 {
	var sum float64
	for _, v := range y {
		sum += v
	}
	return sum / float64(len(y))
}

// residual is the robust noise around the segments' medians.
func residual(y []float64, cuts []int) float64 {
	var distances []float64
	for i := range cuts[:len(cuts)-1] {
		part := y[cuts[i]:cuts[i+1]]
		m := stats.Median(part)
		for _, v := range part {
			distances = append(distances, math.Abs(v-m))
		}
	}
	return 1.4826 * stats.Median(distances)
}
