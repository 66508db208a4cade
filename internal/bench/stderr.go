package bench

import "github.com/accelgate/accelgate/internal/stats"

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
