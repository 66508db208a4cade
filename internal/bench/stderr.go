package bench

import (
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/stats"
)

// methodStdErr is the method of an estimate whose interval a program's own standard
// error gives: 1.96 of it to either side.
const methodStdErr = "standard error"

const normal95 = 1.959963984540054 // quantile of the normal distribution for 95 %

// StdErrEstimate is the estimate of a value with a standard error.
func StdErrEstimate(value, stderr float64) Estimate {
	return Estimate{Low: value - normal95*stderr, High: value + normal95*stderr, Method: methodStdErr}
}

// StdErr returns the standard error of the median of a sample, in the metric's unit: the
// median of the standard errors of its values, because repeats that answer the same questions err
// alike. ok is false where the program reported no standard error.
func (s *Sample) StdErr() (stderr float64, ok bool) {
	if s.Summary != nil {
		return s.Summary.StdErr, s.Summary.StdErr > 0
	}
	var all []float64
	for _, e := range s.Estimates {
		if e.Method == methodStdErr {
			all = append(all, (e.High-e.Low)/2/normal95)
		}
	}
	if len(all) == 0 || len(all) != len(s.Values) {
		return 0, false
	}
	return stats.Median(all), true
}

// methodWilson is the method of an estimate whose interval is Wilson's of a share of N trials.
const methodWilson = "Wilson"

// ShareEstimate is the estimate of a share, from 0 to 1, of n trials.
func ShareEstimate(share float64, n int) Estimate {
	low, high := stats.Wilson(share, float64(n), normal95)
	return Estimate{N: n, Low: low, High: high, Method: methodWilson}
}

// Interval returns the interval of the median of a sample at a two-sided confidence, and how it was computed: Wilson's of a share
// of which the number of trials is known, else the normal one by the standard error. ok is false where there is neither.
func (s *Sample) Interval(confidence float64) (low, high float64, how string, ok bool) {
	z := math.Sqrt2 * math.Erfinv(confidence)
	if n := s.trials(); n > 0 {
		low, high = stats.Wilson(s.Median(), n, z)
		return low, high, fmt.Sprintf("Wilson, n %v", n), true
	}
	stderr, ok := s.StdErr()
	return s.Median() - z*stderr, s.Median() + z*stderr, fmt.Sprintf("standard error %.3g", stderr), ok
}

// ScoreErr returns the standard error of the median: the reported one, or that of a share of which the number of
// trials is known. ok is false where there is neither.
func (s *Sample) ScoreErr() (stderr float64, ok bool) {
	if n := s.trials(); n > 0 {
		p := min(max(s.Median(), 0), 1)
		return math.Sqrt(p * (1 - p) / n), true
	}
	return s.StdErr()
}

// trials is the median number of trials of the shares in a sample; 0 where the values are none.
func (s *Sample) trials() float64 {
	var n []float64
	for _, e := range s.Estimates {
		if e.Method == methodWilson {
			n = append(n, float64(e.N))
		}
	}
	if len(n) == 0 || len(n) != len(s.Values) {
		return 0
	}
	return stats.Median(n)
}
