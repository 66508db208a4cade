package energy

import (
	"cmp"
	"fmt"
	"slices"
	"sort"
	"time"
)

// track is what was seen of one scope. The spans that its methods take are
// those for which told finds nothing wrong.
type track interface {
	// told is why the energy of a span is not known, "" if it is.
	told(Span) string
	joules(Span) float64
	watts(time.Duration) float64
	// moments are the times at which the power in a span may be at its highest.
	moments(Span) []time.Duration
}

// told returns why the energy of a span is not known, "" if it is.
func told(tracks []track, span Span) string {
	if span.End <= span.Start {
		return "the span is empty: measure for longer"
	}
	if len(tracks) == 0 {
		return "nothing was sampled: declare a device"
	}
	for _, t := range tracks {
		if reason := t.told(span); reason != "" {
			return reason
		}
	}
	return ""
}

func joules(tracks []track, span Span) (sum float64) {
	for _, t := range tracks {
		sum += t.joules(span)
	}
	return sum
}

// peak is the highest power of all tracks together.
func peak(tracks []track, span Span) (highest float64) {
	var moments []time.Duration
	for _, t := range tracks {
		moments = append(moments, t.moments(span)...)
	}
	slices.Sort(moments)
	for _, at := range slices.Compact(moments) {
		var sum float64
		for _, t := range tracks {
			sum += t.watts(at)
		}
		highest = max(highest, sum)
	}
	return highest
}

// point is one sample: watts of a power, joules of a counter.
type point struct {
	at time.Duration
	v  float64
}

// series is what power and counter have in common.
type series struct {
	scope  string
	points []point // times ascend strictly
	fault  string  // why there are no further points, with what to do; "" if unknown
	gap    time.Duration
}

// add appends a sample; one that is not later than the last is dropped, because
// a clock that goes back tells nothing.
func (s *series) add(at time.Duration, v float64) {
	if n := len(s.points); n == 0 || at > s.points[n-1].at {
		s.points = append(s.points, point{at, v})
	}
}

func (s *series) told(span Span) string {
	n := len(s.points)
	switch {
	case n < 2 && s.fault != "":
		return fmt.Sprintf("%s gave no samples: %s", s.scope, s.fault)
	case n < 2:
		return fmt.Sprintf("%s gave no samples: start the meter earlier, and stop it later", s.scope)
	case span.Start < s.points[0].at:
		return fmt.Sprintf("the first sample of %s came %v after the start: start the meter earlier, or warm up for longer",
			s.scope, round(s.points[0].at-span.Start))
	case span.End > s.points[n-1].at:
		fault := cmp.Or(s.fault, "see whether the device was lost, and stop the meter after the end")
		return fmt.Sprintf("the last sample of %s came %v before the end: %s", s.scope, round(span.End-s.points[n-1].at), fault)
	}
	for i := s.after(span.Start); s.points[i-1].at < span.End; i++ {
		if gap := s.points[i].at - s.points[i-1].at; gap > s.gap {
			return fmt.Sprintf(
				"there is no sample of %s for %v: see whether the device was lost or this host is overloaded, and measure again", s.scope,
				round(gap))
		}
		if i == n-1 {
			break
		}
	}
	return ""
}

func round(d time.Duration) time.Duration { return d.Round(time.Millisecond) }

// after returns the index of the end of the interval that at lies in: the
// first point later than it, or the last one. There must be two points.
func (s *series) after(at time.Duration) int {
	i := sort.Search(len(s.points), func(i int) bool { return s.points[i].at > at })
	return max(1, min(i, len(s.points)-1))
}

// value interpolates linearly.
func (s *series) value(at time.Duration) float64 {
	i := s.after(at)
	a, b := s.points[i-1], s.points[i]
	return a.v + (b.v-a.v)*float64(at-a.at)/float64(b.at-a.at)
}

// within returns the points strictly inside of a span.
func (s *series) within(span Span) []point {
	first := sort.Search(len(s.points), func(i int) bool { return s.points[i].at > span.Start })
	last := sort.Search(len(s.points), func(i int) bool { return s.points[i].at >= span.End })
	return s.points[first:max(first, last)]
}

// power is a series of watts.
type power struct{ series }

var _ track = (*power)(nil)

func (p *power) watts(at time.Duration) float64 { return p.value(at) }

func (p *power) joules(span Span) (sum float64) {
	last := point{span.Start, p.value(span.Start)}
	trapezoid := func(next point) {
		sum += (last.v + next.v) / 2 * (next.at - last.at).Seconds()
		last = next
	}
	for _, next := range p.within(span) {
		trapezoid(next)
	}
	trapezoid(point{span.End, p.value(span.End)})
	return sum
}

func (p *power) moments(span Span) []time.Duration {
	moments := []time.Duration{span.Start, span.End}
	for _, inside := range p.within(span) {
		moments = append(moments, inside.at)
	}
	return moments
}

// counter is a series of joules since its first point. Its power is constant
// between two points.
type counter struct{ series }

var _ track = (*counter)(nil)

func (c *counter) joules(span Span) float64 { return c.value(span.End) - c.value(span.Start) }

func (c *counter) watts(at time.Duration) float64 {
	i := c.after(at)
	return (c.points[i].v - c.points[i-1].v) / (c.points[i].at - c.points[i-1].at).Seconds()
}

// moments are the middles of the intervals, at which their power is reported.
func (c *counter) moments(span Span) []time.Duration {
	var moments []time.Duration
	last := span.Start
	for _, inside := range c.within(span) {
		moments = append(moments, last+(inside.at-last)/2)
		last = inside.at
	}
	return append(moments, last+(span.End-last)/2)
}
