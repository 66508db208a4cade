package gauge

import (
	"context"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/lazyregexp"
	"github.com/accelgate/accelgate/internal/worker"
)

// fields of nvidia-smi --query-gpu behind timestamp, index and uuid, with our names.
var fields = []struct{ field, name string }{
	{"clocks.sm", SMClock}, {"clocks.mem", MemoryClock}, {"power.draw", Power}, {"memory.used", Memory}, {"temperature.gpu", Temperature}, {"utilization.gpu", Busy},
}

const maxLine = 1 << 12 // bytes of one line

// arguments are those of an nvidia-smi that prints a line for each GPU in each period.
func arguments() []string {
	query := "timestamp,index,uuid"
	for _, f := range fields {
		query += "," + f.field
	}
	return []string{"nvidia-smi", "--query-gpu=" + query, "--format=csv,noheader,nounits", fmt.Sprintf("--loop-ms=%d", period.Milliseconds())}
}

// readNVIDIA lets one nvidia-smi run until ctx is done.
func (g *Gauge) readNVIDIA(ctx context.Context, o *Options) {
	began := o.Now()
	wall := o.Wall().Round(0)
	w := &worker.Isolated{Environ: o.Environ, MaxStdout: maxLine}
	p, err := w.Start(worker.Request{Args: arguments(), Env: []string{"TZ=UTC0"}})
	if err != nil { // as where it is not installed
		return
	}
	defer func() { _, _ = p.Stop(worker.Cancelled) }()
	s := stamps{began: began, wall: wall}
	for {
		select {
		case <-ctx.Done():
			return
		case line, more := <-p.Lines():
			if !more {
				return
			}
			if row, ok := parseRow(string(line.Text)); ok && !line.Cut && row.among(o.Devices) {
				g.take(row, s.at(row.stamp), o.Now())
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
	for i, v := range r.values {
		if v.known {
			g.add(r.uuid, fields[i].name, at, v.v)
		}
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

// row is one line: the state of one GPU at one moment.
type row struct {
	stamp       time.Time
	index, uuid string
	values      []known // by fields
}

type known struct {
	v     float64
	known bool
}

// stampLayout is how nvidia-smi prints a timestamp.
const stampLayout = "2006/01/02 15:04:05.000"

var uuidShape = lazyregexp.New(`^GPU-[0-9A-Za-z-]{4,96}$`)

// parseRow reads a line like "2026/03/04 05:06:07.089, 0, GPU-8932f937, 1980, 2619, 312.51,
// 61234, 46, 98", with whole UUIDs. What a device does not report is "[N/A]". Complaints, which are no such lines, are not ok.
func parseRow(line string) (r row, ok bool) {
	cells := strings.Split(strings.TrimSpace(line), ",")
	if len(cells) != 3+len(fields) {
		return r, false
	}
	for i := range cells {
		cells[i] = strings.TrimSpace(cells[i])
	}
	stamp, err := time.Parse(stampLayout, cells[0])
	if _, noIndex := strconv.ParseUint(cells[1], 10, 16); err != nil || noIndex != nil || !uuidShape.MatchString(cells[2]) {
		return r, false
	}
	r = row{stamp: stamp, index: cells[1], uuid: cells[2], values: make([]known, len(fields))}
	for i, cell := range cells[3:] {
		r.values[i].v, r.values[i].known = quantity(cell)
	}
	return r, true
}

// maxQuantity is beyond what any field can mean.
const maxQuantity = 1e9

func quantity(cell string) (float64, bool) {
	v, err := strconv.ParseFloat(cell, 64)
	return v, err == nil && v >= 0 && v <= maxQuantity
}

// among reports whether the row is of one of the devices, or there are none.
func (r *row) among(devices []bench.Device) bool {
	return len(devices) == 0 || slices.ContainsFunc(devices, func(d bench.Device) bool {
		return d.Vendor == "nvidia" && (d.ID == r.index || strings.HasPrefix(d.ID, "GPU-") && strings.HasPrefix(r.uuid, d.ID))
	})
}
