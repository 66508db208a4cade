package measure

import (
	"context"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
)

// impossible fails a cell of any kind that measured a number which its metric
// cannot have, such as a negative rate.
type impossible struct {
	runner.Measurer
	metrics []bench.Metric
}

// Measure measures the cell and looks at its numbers.
func (m impossible) Measure(ctx context.Context, cell bench.Cell, d bench.Device) (bench.Result, error) {
	r, err := m.Measurer.Measure(ctx, cell, d)
	if err != nil || r.Outcome != bench.Passed {
		return r, err
	}
	run := bench.Run{Metrics: m.metrics}
	if why := run.Impossible(&r); why != "" {
		suite.Fail(&r, bench.CauseOutput, why+": correct what the program prints, or the metric's kind in the configuration")
	}
	return r, nil
}
