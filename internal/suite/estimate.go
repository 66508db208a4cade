package suite

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
)

// MedianOfCalls returns what the median of single calls rests on.
func MedianOfCalls(values []float64) bench.Estimate {
	low, high, ok := stats.MedianInterval(values)
	e := bench.Estimate{N: len(values), Low: low, High: high, Method: "order statistics of single calls"}
	if !ok {
		e.Method = "none: too few calls"
	}
	return e
}
