package endpoint

import (
	"fmt"
	"strconv"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// point is one load of a suite: so many requests at once, or a second.
type point struct {
	concurrency int
	rate        float64
	search      string // metric of a search
	label       string // of a load that other processes sent
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
	case p.rate > 0:
		return "rps" + strconv.FormatFloat(p.rate, 'f', -1, 64)
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
		points = append(points, point{})
	default:
		for _, r := range l.Rate {
			points = append(points, point{rate: r})
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
func (s *Suite) plan(p point) load.Plan {
	l := &s.body.Load
	plan := load.Plan{Mode: l.Mode, Concurrency: l.MaxInFlight, Requests: l.Requests, Duration: l.Duration, Drain: l.Drain,
		Warmup: load.WarmupRule{Requests: l.Warmup.Requests, Duration: l.Warmup.Duration}, Seed: uint64(s.body.Dataset.Seed)}
	switch l.Mode {
	case load.Closed:
		plan.Concurrency, plan.Ramp, plan.AutoRamp = p.concurrency, l.Ramp, l.AutoRamp && l.Ramp == 0
	case load.Trace:
		plan.Trace = s.dataset.Arrivals()
	default:
		plan.Rate = p.rate
	}
	switch l.Mode {
	case load.Gamma:
		plan.Burstiness = l.Burstiness
	case load.Burst:
		plan.Burst = l.Burst
	}
	if plan.Warmup.Requests == 0 && l.Mode != load.Trace {
		plan.Warmup.Requests = max(leastWarmup, 2*p.concurrency)
	}
	return plan
}

// leastWarmup is how many requests come before the first that counts.
const leastWarmup = 3
