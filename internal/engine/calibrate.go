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

// The work of [Command.Calibrate], for each processor: products of 64 rows with a
// matrix of 512 x 512, whose weights fit the caches next to a core, as those of a
// small layer do. It takes some tens of milliseconds on the processors of today.
// What it is must never change: its times are compared over months.
const (
	calibrateSide   = 512
	calibrateRows   = 64
	calibratePasses = 6
)

// Calibration is what [Command.Calibrate] prints.
type Calibration struct {
	MS float64 `json:"ms"`
}

// Calibrate does a fixed piece of work on all processors, once without and once
// with a watch, prints a [Calibration], and returns the exit code. Nothing but the
// machine can make it take longer from one time to the next.
func (c Command) Calibrate(ctx context.Context, args []string) int {
	if len(args) > 0 {
		return c.uncalibrated(ExitUsage, fmt.Errorf("unexpected argument %q: it takes none", args[0]))
	}
	var took time.Duration
	work := newCalibration(runtime.GOMAXPROCS(0))
	for range 2 { // the first pass meets cold caches and clocks
		start := c.Now()
		work()
		took = c.Now().Sub(start)
	}
	if ctx.Err() != nil {
		return c.uncalibrated(ExitFailure, context.Cause(ctx))
	}
	if took <= 0 {
		return c.uncalibrated(ExitFailure, errors.New("the clock stands still: look at the machine's clock"))
	}
	if err := json.NewEncoder(c.Stdout).Encode(Calibration{float64(took) / float64(time.Millisecond)}); err != nil {
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
