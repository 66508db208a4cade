package diff

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// suspicious returns why one of two numbers of a diff cannot be, or why their
// change cannot, or "". A side that does not name the unit has the other's.
func (m metricPair) suspicious(old, new float64) string {
	metric := m.old.Metric
	if metric.Kind = m.old.Quantity(); metric.Kind == 0 {
		metric.Kind = m.new.Quantity()
	}
	for _, v := range []float64{old, new} {
		if why := metric.Impossible(v); why != "" {
			return why
		}
	}
	if metric.Kind == bench.Score || old == 0 || new == 0 {
		return ""
	}
	return gate.Farther(old, new, gate.DefaultImplausible)
}
