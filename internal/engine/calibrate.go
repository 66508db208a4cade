package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"
)

// A pass of a [Calibrator], for each processor: products of 64 rows with a
// matrix of 512 x 512, whose weights fit the caches next to a core, as those of a
// small layer do. It takes about ten milliseconds on the processors of today.
// The work must never change: its times are compared over months.
const (
	calibrateSide   = 512
	calibrateRows   = 64
	calibratePasses = 2
)

// Calibration is what [Command.Calibrate] prints.
type Calibration struct {
	MS float64 `json:"ms"`
}

// Calibrator is the calibration workload: a fixed piece of work on all processors,
// which only the host can make slower from one time to the next. It is for one
// goroutine at a time.
type Calibrator struct {
	pass func()
}

// NewCalibrator prepares the work.
func NewCalibrator(processors int) *Calibrator { return &Calibrator{newCalibration(processors)} }

// Time returns how long one pass takes, in ms. The first one meets cold caches and clocks.
func (c *Calibrator) Time(now func() time.Time) float64 {
	start := now()
	c.pass()
	return float64(now().Sub(start)) / float64(time.Millisecond)
}

// Calibrate prints the [Calibration] of one pass and returns the exit code.
func (c Command) Calibrate(ctx context.Context, args []string) int {
	if len(args) > 0 {
		return c.uncalibrated(ExitUsage, fmt.Errorf("unexpected argument %q: it takes none", args[0]))
	}
	work := NewCalibrator(runtime.GOMAXPROCS(0))
	work.Time(c.Now)
	ms := work.Time(c.Now)
	if ctx.Err() != nil {
		return c.uncalibrated(ExitFailure, context.Cause(ctx))
	}
	if ms <= 0 {
		return c.uncalibrated(ExitFailure, errors.New("the clock stands still: look at the host's clock"))
	}
	if err := json.NewEncoder(c.Stdout).Encode(Calibration{ms}); err != nil {
		return c.uncalibrated(ExitFailure, fmt.Errorf("write the time: %w: check where standard output goes", err))
	}
	return ExitOK
}

func (c Command) uncalibrated(code int, err error) int {
	fmt.Fprintf(c.Stderr, "accelgate engine calibrate: %v\n", err)
	return code
}

// newCalibration returns the work: each goroutine multiplies by itself, so that
// nothing but the processors is waited for.
func newCalibration(processors int) func() {
	g := newGenerator("calibration", "weights", 1, calibrateSide)
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = g.at(i)
		}
		return x
	}
	m := newBlocked(draw(calibrateSide*calibrateSide), calibrateSide, calibrateSide, 1)
	x := draw(calibrateRows * calibrateSide)
	outputs := make([][]float32, processors)
	for i := range outputs {
		outputs[i] = make([]float32, calibrateRows*calibrateSide)
	}
	return func() {
		var all sync.WaitGroup
		for _, y := range outputs {
			all.Go(func() {
				for range calibratePasses {
					m.mul(y, x)
				}
			})
		}
		all.Wait()
	}
}
