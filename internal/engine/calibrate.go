package engine

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"runtime"
	"sync"
	"time"

	"github.com/accelgate/accelgate/internal/stats"
)

// fixedWork is the size of the work of [Command.Calibrate], for each processor:
// products of rows with a square matrix.
type fixedWork struct {
	side   int // of the matrix, a multiple of 16
	rows   int
	passes int // each a product, and timed by itself
}

// calibrationWork takes some milliseconds on the processors of today, which is less
// than a process takes to start. Its weights fit the caches next to a core, as those
// of a small layer do. What it is must not change in a release: its times are
// compared over months.
var calibrationWork = fixedWork{side: 256, rows: 64, passes: 9}

// Calibration is what [Command.Calibrate] prints.
type Calibration struct {
	MS float64 `json:"ms"`
}

// Calibrate does a fixed piece of work on all processors several times, prints the
// median time as a [Calibration], and returns the exit code. Nothing but the machine
// can make it take longer from one time to the next; the median leaves out the first
// times, which meet cold caches and clocks, and short disturbances.
func (c Command) Calibrate(ctx context.Context, args []string) int {
	if len(args) > 0 {
		return c.uncalibrated(ExitUsage, fmt.Errorf("unexpected argument %q: it takes none", args[0]))
	}
	times := make([]float64, calibrationWork.passes)
	work := calibrationWork.on(runtime.GOMAXPROCS(0))
	for i := range times {
		start := c.Now()
		work()
		times[i] = float64(c.Now().Sub(start)) / float64(time.Millisecond)
	}
	took := stats.Median(times)
	if ctx.Err() != nil {
		return c.uncalibrated(ExitFailure, context.Cause(ctx))
	}
	if took <= 0 {
		return c.uncalibrated(ExitFailure, errors.New("the clock stands still: look at the machine's clock"))
	}
	if err := json.NewEncoder(c.Stdout).Encode(Calibration{took}); err != nil {
		return c.uncalibrated(ExitFailure, fmt.Errorf("write the time: %w: check where standard output goes", err))
	}
	return ExitOK
}

func (c Command) uncalibrated(code int, err error) int {
	fmt.Fprintf(c.Stderr, "accelgate engine calibrate: %v\n", err)
	return code
}

// on returns the work: each goroutine multiplies by itself, so that nothing but the
// processors is waited for.
func (w fixedWork) on(processors int) func() {
	g := newGenerator("calibration", "weights", 1, w.side)
	draw := func(n int) []float32 {
		x := make([]float32, n)
		for i := range x {
			x[i] = g.at(i)
		}
		return x
	}
	m := newBlocked(draw(w.side*w.side), w.side, w.side, 1)
	x := draw(w.rows * w.side)
	outputs := make([][]float32, processors)
	for i := range outputs {
		outputs[i] = make([]float32, w.rows*w.side)
	}
	return func() {
		var all sync.WaitGroup
		for _, y := range outputs {
			all.Go(func() { m.mul(y, x) })
		}
		all.Wait()
	}
}
