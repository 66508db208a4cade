package analysis

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

// demand returns which metrics each cell must report: all that the suite's level
// gates.
func demand(c *config.Suite) (func(bench.Cell) []bench.Demand, error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	gated := map[string][]bench.Demand{}
	for tag, metrics := range map[string][]bench.Metric{tagPacking: packingMetrics, tagFidelity: fidelityMetrics} {
		for _, m := range b.apply(metrics) {
			if !m.Informational {
				gated[tag] = append(gated[tag], bench.Demand{Metrics: []string{m.Name},
					Remedy: "every analysis that passes reports it, so measure the cell again with this version of accelgate"})
			}
		}
	}
	return func(cell bench.Cell) []bench.Demand {
		tag, _, _ := strings.Cut(cell.ID(), "/")
		return gated[tag]
	}, nil
}

// shown returns the metrics that level and times do not gate.
func shown(c *config.Suite) (names []string, err error) {
	b, err := read(c)
	if err != nil {
		return nil, err
	}
	return bench.Shown(b.apply(slices.Concat(packingMetrics, fidelityMetrics))), nil
}
