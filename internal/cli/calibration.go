package cli

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/engine"
	"github.com/accelgate/accelgate/internal/worker"
)

const (
	calibrations       = 5 // processes, each time
	calibrationTimeout = time.Minute
)

// calibrate lets the machine do the embedded engine's fixed piece of work before
// the cells are measured. It is nil where nobody is to watch or nothing is to be
// measured, and where the work cannot be done, which is a warning: cells can be
// measured all the same.
func (s *session) calibrate(ctx context.Context, run *bench.Run) error {
	if s.watcher == nil || s.plan.size() == 0 {
		return nil
	}
	before, err := s.fixedWork(ctx, run)
	if len(before) > 0 {
		run.Calibration = &bench.Calibration{Before: before}
	}
	return err
}

// recalibrate does the same after the last cell.
func (s *session) recalibrate(ctx context.Context, run *bench.Run) (err error) {
	if run.Calibration != nil {
		run.Calibration.After, err = s.fixedWork(ctx, run)
	}
	return err
}

// fixedWork returns how long the work took, in ms, in several fresh processes.
func (s *session) fixedWork(ctx context.Context, run *bench.Run) (times []float64, err error) {
	executable, err := os.Executable()
	for range calibrations {
		var ms float64
		if err == nil {
			ms, err = s.oneWork(ctx, executable)
		}
		if ctx.Err() != nil {
			return nil, context.Cause(ctx)
		}
		if err != nil {
			warning := fmt.Sprintf("the machine could not be calibrated (%s), so a change of the machine itself goes unseen: try 'accelgate engine calibrate'", oneLine(err.Error()))
			run.Warnings = append(run.Warnings, warning)
			s.warnAll([]string{warning})
			return nil, nil
		}
		times = append(times, ms)
	}
	return times, nil
}

func (s *session) oneWork(ctx context.Context, executable string) (ms float64, err error) {
	resp, err := s.plan.worker.Do(ctx, worker.Request{Args: []string{executable, "engine", "calibrate"}, Timeout: calibrationTimeout})
	if err != nil {
		return 0, err
	}
	if !resp.OK() {
		return 0, fmt.Errorf("%s: %s", resp.Reason(), resp.Log)
	}
	var c engine.Calibration
	if err := json.Unmarshal(resp.Stdout, &c); err != nil || !bench.Finite(c.MS) || c.MS <= 0 {
		return 0, errors.New("it printed no time")
	}
	return c.MS, nil
}
