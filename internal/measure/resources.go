package measure

import (
	"context"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/measure/runner"
)

// withResources adds to the metrics of a suite the resources that its limits name, and
// that it has no metric of its own for. The metrics are not modified.
func withResources(s *config.Suite, metrics []bench.Metric) []bench.Metric {
	all := bench.Run{Metrics: metrics[:len(metrics):len(metrics)]}
	for _, l := range s.Limits {
		if r := bench.Resource(l.Metric); r != nil && all.Metric(l.Metric) == nil {
			all.Metrics = append(all.Metrics, *r)
		}
	}
	return all.Metrics
}

// promote makes samples of the resources that limits of the cell name, and drops those
// whose names the suites' own metrics have.
func (p *Plan) promote(c bench.Cell, r *bench.Result) {
	run := bench.Run{Metrics: p.Metrics}
	r.Resources = slices.DeleteFunc(r.Resources, func(s bench.Sample) bool {
		m := run.Metric(s.Metric)
		return m != nil && !m.IsResource()
	})
	if len(r.Resources) == 0 {
		return
	}
	for _, name := range p.Policy.Limited(c, p.Host.Label) {
		r.Promote(name)
	}
}

// promoting promotes what the measurers below it noted.
type promoting struct {
	runner.Measurer
	plan *Plan
}

// Measure implements [runner.Measurer].
func (m promoting) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	r, err := m.Measurer.Measure(ctx, c, d)
	m.plan.promote(c, &r)
	return r, err
}

// memoryUsed ends the names of readings of a device's memory, in MiB.
const memoryUsed = " memory used"

// deviceMemory notes the peak of the readings of memory: the watch polls them anyway.
func deviceMemory(r *bench.Result) {
	sum, found := 0.0, false
	for _, reading := range r.Health.Readings {
		if strings.HasSuffix(reading.Name, memoryUsed) && reading.Unit == "MiB" {
			sum, found = sum+reading.Max, true
		}
	}
	if found {
		r.Use(bench.PeakDeviceMemory, sum, "")
	}
}
