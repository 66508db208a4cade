package measure

import (
	"context"
	"runtime"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/device"
	"github.com/accelgate/accelgate/internal/engine"
)

// calibrate times the calibration workload before the cells are measured. It does
// nothing where the host is not watched, nothing is to be measured, or the workload shows
// the neighbours of a virtual machine rather than the host.
func (s *measuring) calibrate(ctx context.Context, run *bench.Run) error {
	if s.watcher == nil || s.Plan.size() == 0 || !device.Physical(s.Root) {
		return nil
	}
	s.calibrator = engine.NewCalibrator(runtime.GOMAXPROCS(0))
	if before := s.calibrator.Times(ctx, s.Now); len(before) > 0 {
		run.Calibration = &bench.Calibration{Before: before}
	}
	return context.Cause(ctx)
}

// recalibrate does the same after the last cell.
func (s *measuring) recalibrate(ctx context.Context, run *bench.Run) error {
	if run.Calibration != nil {
		run.Calibration.After = s.calibrator.Times(ctx, s.Now)
	}
	return context.Cause(ctx)
}
