package measure

import (
	"context"
	"runtime"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/engine"
)

const calibrations = 5 // passes of the calibration workload, each time

// calibrate times the calibration workload before the cells are measured. It does
// nothing where the host is not watched or nothing is to be measured.
func (s *session) calibrate(ctx context.Context, run *bench.Run) error {
	if s.watcher == nil || s.plan.size() == 0 {
		return nil
	}
	s.calibrator = engine.NewCalibrator(runtime.GOMAXPROCS(0))
	before, err := s.fixedWork(ctx)
	if len(before) > 0 {
		run.Calibration = &bench.Calibration{Before: before}
	}
	return err
}

// recalibrate does the same after the last cell.
func (s *session) recalibrate(ctx context.Context, run *bench.Run) (err error) {
	if run.Calibration != nil {
		run.Calibration.After, err = s.fixedWork(ctx)
	}
	return err
}

// fixedWork returns how long the work took, in ms. It runs in this process, which
// does nothing else meanwhile: the start of a process would take longer than the work.
func (s *session) fixedWork(ctx context.Context) (times []float64, err error) {
	s.calibrator.Time(s.Now) // caches and clocks are cold
	for range calibrations {
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if ms := s.calibrator.Time(s.Now); ms > 0 { // 0 if the clock stands still
			times = append(times, ms)
		}
	}
	return times, nil
}
