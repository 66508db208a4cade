package exec

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// Kind is the kind "exec": benchmarks of a harness.
var Kind = suite.Kind{Body: defaults(), Keys: keys, Open: open, Demand: demand, Ungated: ungated, Watched: true}

// demand returns that each cell must report its time.
func demand(c *config.Suite) (func(bench.Cell) []bench.Demand, error) {
	if _, err := load(c); err != nil {
		return nil, err
	}
	demands := []bench.Demand{{Metrics: []string{"time_ns"}}}
	return func(bench.Cell) []bench.Demand { return demands }, nil
}
