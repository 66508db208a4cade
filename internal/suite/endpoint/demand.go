package endpoint

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
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
		demands = append(demands, bench.Demand{
			Metrics: []string{name},
			At:      "gate",
			Remedy:  "remove it from gate, or make the load and the server such that it can be computed",
		})
	}
	return func(bench.Cell) []bench.Demand { return demands }, nil
}

// shown returns the metrics that the key gate leaves out, and without it those that are
// not gated by default. A search reports none of them.
func shown(c *config.Suite) (names []string, err error) {
	b, err := read(c)
	if err != nil || b.searches() {
		return nil, err
	}
	metrics, err := latency.Metrics(b.Gate...)
	if err != nil {
		return nil, c.Errorf("gate", "%v", err)
	}
	return bench.Shown(metrics), nil
}
