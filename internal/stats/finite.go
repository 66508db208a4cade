package stats

import "math"

// Finite keeps a number in the range that documents can hold, and makes no
// change of it that people would read as a loss: there is no minus zero. It is 0 for NaN.
func Finite(x float64) float64 {
	if math.IsNaN(x) || x == 0 {
		return 0
	}
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}
