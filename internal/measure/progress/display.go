// Package progress shows how far measuring is: one status line that is written over on a
// terminal, else a line for each finished cell, and a sign of life where nothing
// happens. It gets its data from those who measure, and decides nothing. Names of cells
// and output are hostile: text makes them harmless before they are shown.
package progress

import (
	"fmt"
	"io"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text"
)

// Options say where and how to show. Out, Now are required.
type Options struct {
	Out  io.Writer // for people
	Live bool      // Out is a terminal whose last line may be written over
	Each bool      // a line for each measurement, and not only for each cell
	// Quiet shows nothing but what is written to the Display.
	Quiet bool
	// Groups gets the commands that fold lines in the log of GitHub's runner; nil where
	// there is no such runner.
	Groups  io.Writer
	Columns int // of the terminal; 0 if unknown
	Now     func() time.Time
}

// silence is the longest time without a line in a log.
const silence = 30 * time.Second

// Display shows progress. All methods may be called by several goroutines at once.
type Display struct {
	o Options

	mu       sync.Mutex
	s        state
	lastLine time.Time     // when a line was written
	bars     *mpb.Progress // nil while no status line is shown
	bar      *mpb.Bar
	stop     chan struct{} // ends the signs of life; nil while there are none
	stopped  sync.WaitGroup
}

// New returns a display that shows nothing yet.
func New(o Options) *Display { return &Display{o: o, s: newState()} }

// Write writes lines for people, above the status line.
func (d *Display) Write(p []byte) (int, error) {
	d.mu.Lock()
	bars := d.bars
	d.lastLine = d.o.Now()
	d.mu.Unlock()
	if bars != nil {
		if n, err := bars.Write(p); err == nil {
			return n, nil
		} // the status line has just ended
	}
	return d.o.Out.Write(p)
}

func (d *Display) line(format string, args ...any) {
	fmt.Fprintf(d, format+"\n", args...)
}

// Begin shows an activity, such as building the base, until the function that it returns
// is called.
func (d *Display) Begin(activity string) (end func()) {
	if d.o.Quiet {
		return func() {}
	}
	d.mu.Lock()
	d.s.begin(activity, d.o.Now())
	d.mu.Unlock()
	d.show()
	return sync.OnceFunc(func() {
		d.mu.Lock()
		d.s.end(activity)
		idle := d.s.idle()
		d.mu.Unlock()
		if idle {
			d.hide()
		}
	})
}

// Stage shows measuring until the function that it returns is called.
func (d *Display) Stage(s Stage) (end func()) {
	if d.o.Quiet {
		return func() {}
	}
	d.mu.Lock()
	d.s.stage(s, d.o.Now())
	d.mu.Unlock()
	if d.o.Groups != nil {
		fmt.Fprintf(d.o.Groups, "::group::%s\n", s.title())
	}
	d.show()
	return sync.OnceFunc(func() {
		d.mu.Lock()
		lines := d.s.unfinished()
		d.s.endStage()
		idle := d.s.idle()
		d.mu.Unlock()
		if !d.o.Live && !d.o.Each {
			for _, line := range lines {
				d.line("%s", line)
			}
		}
		if idle {
			d.hide()
		}
		if d.o.Groups != nil {
			fmt.Fprintln(d.o.Groups, "::endgroup::")
		}
	})
}

// Forget begins a run: what was measured before is not in its lines and its table.
func (d *Display) Forget() {
	d.mu.Lock()
	defer d.mu.Unlock()
	s := newState()
	s.activities, s.since, s.begun = d.s.activities, d.s.since, d.s.begun
	d.s = s
}

// Expect says how long one measurement of a cell took in an earlier run, by id.
func (d *Display) Expect(times map[string]time.Duration) {
	d.mu.Lock()
	defer d.mu.Unlock()
	d.s.expected = times
}

// Started says that a cell is being measured.
func (d *Display) Started(cell string) {
	if d.o.Quiet {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.s.started(cell, d.o.Now())
}

// Detail says how far the measurement of a cell is, such as how many requests were
// answered; "" for nothing.
func (d *Display) Detail(cell, detail string) {
	if d.o.Quiet {
		return
	}
	d.mu.Lock()
	defer d.mu.Unlock()
	d.s.detail = ""
	if detail != "" {
		d.s.detail = detail + " · " + text.OneLine(cell)
	}
}

// Finished says that a measurement is finished. shown are the metrics that lines have.
func (d *Display) Finished(m Measurement, shown func(metric string) bool) {
	if d.o.Quiet {
		return
	}
	d.mu.Lock()
	cell, last := d.s.finished(m, d.o.Now())
	line := ""
	switch failed := m.Result.Outcome != bench.Passed; {
	case m.Skipped:
	case d.o.Each:
		line = m.line(shown)
	case !d.o.Live && last, d.o.Live && failed:
		line = d.s.cellLine(cell, shown)
	}
	if last {
		cell.told = true
	}
	d.mu.Unlock()
	if line != "" {
		d.line("%s", line)
	}
	d.advance()
}

// Close ends what is shown.
func (d *Display) Close() { d.hide() }
