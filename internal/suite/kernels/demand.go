package kernels

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// demand returns which metrics each cell must report: the time of the solution. The
// ratio to the reference is there only where the evaluation settings time that.
func demand(*config.Suite) (func(bench.Cell) []bench.Demand, error) {
	demands := []bench.Demand{{Metrics: []string{"latency_ms"}, Remedy: measureAgain}}
	return func(bench.Cell) []bench.Demand { return demands }, nil
}

const measureAgain = "every measurement that passes reports it, so measure the cell again with this version of accelgate"
