package cases

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// demand returns which metrics each cell must report: the total, and what the
// configuration gates beside it.
func demand(c *config.Suite) (func(bench.Cell) []bench.Demand, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	demands := []bench.Demand{{Metrics: []string{Total.Name}}}
	for _, m := range b.Metrics {
		if !m.Informational && m.Name != Total.Name {
			demands = append(demands, bench.Demand{Metrics: []string{m.Name}, Optional: m.Optional,
				Remedy: "add a source that reports it to read in the configuration, or declare it with optional: true"})
		}
	}
	return func(bench.Cell) []bench.Demand { return demands }, nil
}
