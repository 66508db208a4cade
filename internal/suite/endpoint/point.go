package endpoint

import (
	"fmt"
	"math"
	"strconv"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// point is one load of a suite: so many requests at once, or a second.
type point struct {
	concurrency int
	rate        float64
	rateEnd     float64 // 0 keeps rate
	scale       float64 // of a trace's rate; 0 of other loads
	search      string  // metric of a search
	label       string  // of a load that other processes sent
}

// String is the cell's parameter, and after InferenceBench the beginning of a
// file's name.
func (p point) String() string {
	switch {
	case p.label != "":
		return p.label
	case p.search != "":
		return "max-" + p.search
	case p.concurrency > 0:
		return "c" + strconv.Itoa(p.concurrency)
	case p.rateEnd > 0:
		return "rps" + seconds(p.rate) + "to" + seconds(p.rateEnd)
	case p.rate > 0:
		return "rps" + seconds(p.rate)
	case p.scale > 0 && p.scale != 1:
		return "trace-x" + seconds(p.scale)
	}
	return "trace"
}

// points returns the loads in the order of the configuration.
func (l *loading) points() []point {
	var points []point
	switch l.Mode {
	case load.Closed:
		for _, c := range l.Concurrency {
			points = append(points, point{concurrency: c})
		}
	case load.Trace:
		for _, scale := range l.Scale {
			points = append(points, point{scale: scale})
		}
	default:
		for _, r := range l.Rate {
			points = append(points, point{rate: r, rateEnd: l.RateEnd})
		}
	}
	return points
}

// points are the loads, or the one search.
func (b *body) points() []point {
	if b.searches() {
		return []point{{search: b.Search.Metric}}
	}
	return b.Load.points()
}

// expand makes a cell of each point.
func (s *Suite) expand() {
	s.points = map[string]point{}
	for _, p := range s.body.points() {
		cell := bench.Cell{Suite: s.name, Params: []bench.Param{{Key: "suite", Value: s.name}}}
		if s.body.Model != "" {
			cell.Params = append(cell.Params, bench.Param{Key: "model", Value: s.body.Model})
		}
		cell.Params = append(cell.Params, bench.Param{Key: "load", Value: p.String()})
		s.cells = append(s.cells, cell)
		s.points[cell.ID()] = p
	}
}

// Prefix is how InferenceBench begins the name of an envelope that is one of
// several points: "c16-", "rps2p5-".
func Prefix(cell bench.Cell) string {
	var b []byte
	for _, r := range []byte(cell.Get("load")) {
		if r == '.' {
			r = 'p'
		}
		b = append(b, r)
	}
	return fmt.Sprintf("%s-", b)
}

// plan is the load of a point. Settings that the mode does not use are not in it,
// so that equal traffic has equal plans.
func (s *inputs) plan(p point) load.Plan {
	l := &s.body.Load
	plan := load.Plan{Mode: l.Mode, Concurrency: l.MaxInFlight, Requests: l.Requests, Duration: l.Duration, Drain: l.Drain,
		Warmup: load.WarmupRule{Requests: l.Warmup.Requests, Duration: l.Warmup.Duration}, Seed: uint64(s.body.Dataset.Seed)}
	switch l.Mode {
	case load.Closed:
		plan.Concurrency, plan.Ramp, plan.AutoRamp = p.concurrency, l.Ramp, l.AutoRamp && l.Ramp == 0
	case load.Trace:
		plan.Trace = scaled(s.dataset.Arrivals(), p.scale)
	default:
		plan.Rate, plan.RateEnd, plan.Curve = p.rate, p.rateEnd, l.Curve
	}
	switch l.Mode {
	case load.Gamma:
		plan.Burstiness = l.Burstiness
	case load.Burst:
		plan.Burst = l.Burst
	}
	if plan.Warmup.Requests == 0 && l.Mode != load.Trace {
		plan.Warmup.Requests = max(minWarmup, 2*p.concurrency)
	}
	return plan
}

// scaled returns the times of a trace that is sent scale times as fast.
func scaled(times []time.Duration, scale float64) []time.Duration {
	if scale != 1 {
		for i, at := range times {
			times[i] = time.Duration(math.Round(min(float64(at)/scale, math.MaxInt64/2)))
		}
	}
	return times
}

// minWarmup is how many requests come before the first that counts.
const minWarmup = 3
