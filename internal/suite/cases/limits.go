package cases

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
)

// limits returns the limits that the list of metrics has.
func limits(c *config.Suite) ([]config.Limit, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	return suite.LimitsOf(b.metricLimits()), nil
}

// onlyShown returns the metrics that the list leaves out or calls informational.
func onlyShown(c *config.Suite) ([]string, error) {
	b, err := load(c)
	if err != nil {
		return nil, err
	}
	return bench.Shown(b.metrics()), nil
}

func (b *body) metricLimits() []suite.MetricLimit {
	list := make([]suite.MetricLimit, len(b.Metrics))
	for i, m := range b.Metrics {
		list[i] = suite.MetricLimit{Metric: m.Name, Change: m.Limit, Unjudged: m.Exact || m.Informational}
	}
	return list
}
