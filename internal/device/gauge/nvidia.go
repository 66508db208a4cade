package gauge

import (
	"context"
	"fmt"
	"time"

	"github.com/accelgate/accelgate/internal/worker"
)

// fields of nvidia-smi --query-gpu behind timestamp, index and uuid, with our names.
var fields = []struct{ field, name string }{
	{
		"clocks.sm",
		SMClock,
	}, {"clocks.mem", MemoryClock}, {"power.draw", Power}, {"memory.used", Memory}, {"temperature.gpu", Temperature}, {"utilization.gpu", Busy},
}

const maxLine = 1 << 12 // bytes of one line

// reasons are the names of the field for why clocks are lowered: that of drivers since 535, that of older ones, and "" for none.
var reasons = []string{"clocks_event_reasons.active", "clocks_throttle_reasons.active", ""}

// arguments are those of an nvidia-smi that prints a line for each GPU in each period, with reasons under this name last.
func arguments(reasons string) []string {
	query := "timestamp,index,uuid"
	for _, f := range fields {
		query += "," + f.field
	}
	if reasons != "" {
		query += "," + reasons
	}
	return []string{
		"nvidia-smi",
		"--query-gpu=" + query,
		"--format=csv,noheader,nounits",
		fmt.Sprintf("--loop-ms=%d", period.Milliseconds()),
	}
}

// readNVIDIA lets one nvidia-smi run until ctx is done. One that prints no row and ends, as one does that has no field of a
// name, is started again with the next name.
func (g *Gauge) readNVIDIA(ctx context.Context, o *Options) {
	names := reasons
	if !o.Reasons {
		names = []string{""}
	}
	for _, name := range names {
		if again := g.readRows(ctx, o, name); !again || ctx.Err() != nil {
			return
		}
	}
}

// readRows takes the rows of one nvidia-smi, and reports whether it ended without any.
func (g *Gauge) readRows(ctx context.Context, o *Options, reasons string) (again bool) {
	began := o.Now()
	wall := o.Wall().Round(0)
	w := &worker.Isolated{Environ: o.Environ, MaxStdout: maxLine}
	p, err := w.Start(worker.Request{Args: arguments(reasons), Env: []string{"TZ=UTC0"}})
	if err != nil { // as where it is not installed
		return false
	}
	defer func() { _, _ = p.Stop(worker.Cancelled) }()
	s := stamps{began: began, wall: wall}
	for again = true; ; {
		select {
		case <-ctx.Done():
			return false
		case line, more := <-p.Lines():
			if !more {
				return again
			}
			row, ok := parseRow(string(line.Text), reasons != "")
			if again = again && !ok; ok && !line.Cut {
				g.take(row, s.at(row.stamp), o.Now())
				g.begun()
			}
		}
	}
}

// take adds a row. One that is stamped before the start or after now cannot be: the
// system's clock was set meanwhile.
func (g *Gauge) take(r row, at, now time.Duration) {
	if at < 0 || at > now+time.Second {
		return
	}
	g.list(r.gpu)
	for i, v := range r.values {
		if v.known {
			g.add(r.gpu.UUID, fields[i].name, at, v.v)
		}
	}
	if r.held.known {
		g.add(r.gpu.UUID, HeldBack, at, r.held.v)
	}
}

// stamps maps nvidia-smi's times of day to the caller's clock. A driver that does not heed
// TZ is off by quarters of an hour, which the first stamp shows.
type stamps struct {
	began time.Duration
	wall  time.Time
	zone  time.Duration
	known bool
}

func (s *stamps) at(stamp time.Time) time.Duration {
	passed := stamp.Sub(s.wall)
	if !s.known {
		s.zone, s.known = passed.Round(15*time.Minute), true
	}
	return s.began + passed - s.zone
}
