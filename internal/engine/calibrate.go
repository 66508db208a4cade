package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"sync"
	"time"
)

// A pass of a [Calibrator], on each processor: products of 64 rows with a
// matrix of 512 x 512, whose weights fit the caches next to a core, as those of a
// small layer do. It takes about eight milliseconds on the processors of today, which is
// several turns of a scheduler, so that a process that shares the processor is seen.
// The work must never change: its times are compared over months.
const (
	calibrateSide   = 512
	calibrateRows   = 64
	calibratePasses = 2
)

const (
	// warmPasses end idle states and raise clocks: about a tenth of a second.
	warmPasses  = 12
	timedPasses = 15
)

// Calibration is what [Command.Calibrate] prints.
type Calibration struct {
	MS    float64   `json:"ms"`    // median
	Times []float64 `json:"times"` // ms
}

// Calibrator is the calibration workload: a fixed piece of work on each of some
// processors, which only the host can make slower from one time to the next. It is for one
// goroutine at a time.
type Calibrator struct {
	processors []int // that threads are moved to, or -1 where threads cannot be moved
	matrix     *blocked
	rows       []float32
	outputs    [][]float32
}

// NewCalibrator prepares the work for the first of the processors that this process may
// use, at most so many.
func NewCalibrator(maximum int) *Calibrator {
	g := newGenerator("calibration", "weights", 1, calibrateSide)
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = g.at(i)
		}
		return x
	}
	matrix := newBlocked(draw(calibrateSide*calibrateSide), calibrateSide, calibrateSide, 1)
	c := &Calibrator{processors: processors(maximum), matrix: matrix}
	c.rows = draw(calibrateRows * calibrateSide)
	for range c.processors {
		c.outputs = append(c.outputs, make([]float32, calibrateRows*calibrateSide))
	}
	return c
}

// Times warms the processors up and returns how long passes took, in ms: of each pass the
// median over the processors. It is empty where the clock stands still, or ctx is done.
func (c *Calibrator) Times(ctx context.Context, now func() time.Time) []float64 {
	var clock sync.Mutex
	read := func() time.Time {
		clock.Lock()
		defer clock.Unlock()
		return now()
	}
	times := make([][]float64, len(c.processors))
	var all sync.WaitGroup
	for i := range c.processors {
		all.Go(func() { times[i] = c.timesOn(ctx, i, read) })
	}
	all.Wait()
	var medians []float64
	for pass := range timedPasses {
		var of []float64
		for i := range times {
			if pass < len(times[i]) {
				of = append(of, times[i][pass])
			}
		}
		if m := median(of); m > 0 {
			medians = append(medians, m)
		}
	}
	if ctx.Err() != nil {
		return nil
	}
	return medians
}

// timesOn times passes on one processor.
func (c *Calibrator) timesOn(ctx context.Context, i int, now func() time.Time) (times []float64) {
	runtime.LockOSThread() // and never unlock: the thread ends with this goroutine, and its binding with it
	bindThread(c.processors[i])
	for pass := range warmPasses + timedPasses {
		if ctx.Err() != nil {
			return nil
		}
		start := now()
		for range calibratePasses {
			c.matrix.mul(c.outputs[i], c.rows)
		}
		if took := now().Sub(start); pass >= warmPasses {
			times = append(times, float64(took)/float64(time.Millisecond))
		}
	}
	return times
}

// median is the middle of values, which it sorts; 0 without any.
func median(values []float64) float64 {
	slices.Sort(values)
	switch n := len(values); {
	case n == 0:
		return 0
	case n%2 == 1:
		return values[n/2]
	default:
		return (values[n/2-1] + values[n/2]) / 2
	}
}

// Calibrate prints the [Calibration] of this host and returns the exit code.
func (c Command) Calibrate(ctx context.Context, args []string) int {
	if len(args) > 0 {
		return c.Fail("calibrate", ExitUsage, fmt.Errorf("unexpected argument %q: it takes none", args[0]))
	}
	times := NewCalibrator(runtime.GOMAXPROCS(0)).Times(ctx, c.Now)
	if ctx.Err() != nil {
		return c.Fail("calibrate", ExitFailure, context.Cause(ctx))
	}
	if len(times) == 0 {
		return c.Fail("calibrate", ExitFailure, errors.New("the clock stands still: look at the host's clock"))
	}
	if err := json.NewEncoder(c.Stdout).Encode(Calibration{median(slices.Clone(times)), times}); err != nil {
		return c.Fail("calibrate", ExitFailure, fmt.Errorf("write the time: %w: check where standard output goes", err))
	}
	return ExitOK
}
