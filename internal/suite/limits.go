package suite

import (
	"fmt"

	"github.com/accelgate/accelgate/internal/config"
)

// MetricLimit is what an entry of a kind's list of metrics says of its limit.
type MetricLimit struct {
	Metric   string
	Change   *config.Percent // nil for none
	Unjudged bool            // no change of the metric is judged: it is exact or informational
}

// LimitsOf returns the limits that a kind's list of metrics has.
func LimitsOf(metrics []MetricLimit) (list []config.Limit) {
	for _, m := range metrics {
		if m.Change != nil {
			list = append(list, config.Limit{Metric: m.Metric, Change: config.PercentChange(*m.Change)})
		}
	}
	return list
}

// CheckLimits refuses limits that no change can be judged by. The metrics are the suite's
// list, in its order.
func CheckLimits(c *config.Suite, metrics []MetricLimit) error {
	for i, m := range metrics {
		path := fmt.Sprintf("metrics[%d].limit", i)
		switch {
		case m.Change == nil:
		case *m.Change == 0:
			return c.Errorf(path, "0%% is not a limit that noise allows: write a percentage above 0%%, or exact: true")
		case m.Unjudged:
			return c.Errorf(path, "no change of %s is judged, because it is exact or informational: remove limit, or the other key",
				m.Metric)
		}
	}
	return nil
}
