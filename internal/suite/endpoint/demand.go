package endpoint

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// demand returns which metrics each cell must report: those of the key gate. The
// default ones depend on the server and the host, as energy does.
func demand(c *config.Suite) (func(bench.Cell) []bench.Demand, error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	var demands []bench.Demand
	for _, name := range b.Gate {
		demands = append(demands, bench.Demand{Metrics: []string{name}, At: "gate", Remedy: "remove it from gate, or make the load and the server such that it can be computed"})
	}
	return func(bench.Cell) []bench.Demand { return demands }, nil
}
