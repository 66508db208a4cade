package export

import (
	"io"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// measure is a metric of Bencher: the median, and the least and the largest value where
// there are several.
type measure struct {
	Value float64  `json:"value"`
	Lower *float64 `json:"lower_value,omitempty"`
	Upper *float64 `json:"upper_value,omitempty"`
}

// The most characters that Bencher takes; bytes here.
const (
	longestBenchmark = 1024
	longestMeasure   = 64
)

// bmf writes the Bencher Metric Format, https://bencher.dev/docs/reference/bencher-metric-format:
// cells are benchmarks and metrics are measures. Bencher has the units and directions of
// measures itself.
func bmf(w io.Writer, run *bench.Run) error {
	benchmarks := map[string]map[string]measure{}
	for n := range numbers(run) {
		m := measure{Value: n.median}
		if len(n.values) > 1 {
			m.Lower, m.Upper = new(slices.Min(n.values)), new(slices.Max(n.values))
		}
		cell := name(n.result.Cell.ID(), longestBenchmark)
		if benchmarks[cell] == nil {
			benchmarks[cell] = map[string]measure{}
		}
		benchmarks[cell][name(n.metric.Name, longestMeasure)] = m
	}
	if len(benchmarks) == 0 {
		return ErrNothing
	}
	return text.WriteJSON(w, "  ", benchmarks)
}
