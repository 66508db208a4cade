package load

import (
	"fmt"
	"math"
	"time"
)

// Schedule is a plan with all its arrivals laid out. The zero value is not
// usable; Plan.Schedule makes one. It is never modified and may be run more
// than once.
type Schedule struct {
	plan Plan
	// Of an open loop, since the start of the run.
	arrivals   []time.Duration // all phases
	first, end int             // arrivals[first:end] are measured
	from, to   time.Duration   // the window
	// Of a share: client k, of how many, and the slots of all.
	k, of, slots int

	rest func(slot int) time.Duration // nil: none
}

// Resting returns the schedule of a closed loop whose slots rest: each slot
// calls rest after each of its requests has returned, and sends its next one
// that much later. Rests are no part of the digest.
func (s Schedule) Resting(rest func(slot int) time.Duration) Schedule {
	s.rest = rest
	return s
}

// Plan returns the plan that the schedule was made from.
func (s Schedule) Plan() Plan { return s.plan }

// measured returns how many requests an open loop will measure. A closed loop
// measures as many as fit, and at most Plan.Requests: it returns -1.
func (s Schedule) measured() int {
	if s.plan.Mode == Closed {
		return -1
	}
	n := 0
	for i := s.first; i < s.end; i++ {
		if s.has(i) {
			n++
		}
	}
	return n
}

// Schedule lays out a plan: absolute times that depend on nothing but the plan.
// The first request of an open loop is due at 0, the k-th of a constant rate at
// k/rate rounded to the nanosecond, without drift. Gamma's gaps are not
// stretched to meet the rate exactly.
func (p Plan) Schedule() (Schedule, error) {
	if err := p.validate(); err != nil {
		return Schedule{}, fmt.Errorf("load plan: %w", err)
	}
	s := Schedule{plan: p, first: -1, end: -1}
	if p.Mode == Closed {
		return s, nil
	}
	if err := s.lay(p.arrivals()); err != nil {
		return Schedule{}, fmt.Errorf("load plan: %w", err)
	}
	return s, nil
}

// lay takes arrivals until the drain is over or there are no more.
func (s *Schedule) lay(next func() (time.Duration, bool)) error {
	for {
		at, more := next()
		if !more {
			return s.exhausted()
		}
		s.settle(at)
		if s.end >= 0 && at > s.to+s.plan.Drain {
			return nil
		}
		if len(s.arrivals) >= maxRequests || at > 2*maxSpan {
			return fmt.Errorf("the schedule exceeds %d requests or %v: lower the rate, the requests or the duration", maxRequests,
				2*maxSpan)
		}
		s.arrivals = append(s.arrivals, at)
	}
}

// settle finds the ends of the window as the arrival at comes in. Requests of
// one moment are not divided between warm-up and window.
func (s *Schedule) settle(at time.Duration) {
	i, p := len(s.arrivals), s.plan
	if s.first < 0 && i >= p.Warmup.Requests && at >= p.Warmup.Duration && (i == 0 || at > s.arrivals[i-1]) {
		s.first, s.from = i, at
	}
	if s.first < 0 || s.end >= 0 {
		return
	}
	full, late := p.Requests > 0 && i == s.first+p.Requests, p.Duration > 0 && at >= s.from+p.Duration
	if full || late {
		s.end, s.to = i, at
	}
	if (full || late) && p.Duration > 0 {
		s.to = min(at, s.from+p.Duration)
	}
}

// exhausted ends the window of a trace that has no request after it: by one
// mean gap after the last one. If all came at once it is still open, and Run
// ends it with the last request.
func (s *Schedule) exhausted() error {
	p, n := s.plan, len(s.arrivals)
	if s.end >= 0 {
		return nil
	}
	if s.first < 0 {
		return fmt.Errorf("all %d arrivals of the trace are warm-up: shorten the warm-up or give a longer trace", n)
	}
	if measured := n - s.first; p.Requests > measured {
		return fmt.Errorf("the trace has %d arrivals, %d of them warm-up: measure at most %d or give a longer trace", n, s.first, measured)
	}
	s.end, s.to = n, s.arrivals[n-1]
	if gaps := time.Duration(n - s.first - 1); gaps > 0 {
		s.to += (s.to - s.from) / gaps
	}
	if p.Duration > 0 {
		s.to = min(s.to, s.from+p.Duration)
	}
	return nil
}

// arrivals returns the next time at each call, and false after the last.
func (p Plan) arrivals() func() (time.Duration, bool) {
	i := -1
	if p.Mode == Trace {
		return func() (time.Duration, bool) {
			if i++; i == len(p.Trace) {
				return 0, false
			}
			return p.Trace[i] - p.Trace[0], true
		}
	}
	if p.Mode == Gamma && p.Burstiness < evenBurstiness {
		return p.gammaArrivals()
	}
	group, last := max(p.Burst, 1), time.Duration(0) // rounding must not change the order
	return func() (time.Duration, bool) {
		i++
		if p.ramps() {
			last = max(last, p.rampMoment(float64(i/group*group)))
			return last, true
		}
		return moment(float64(i/group*group) * 1e9 / p.Rate), true
	}
}

func (p Plan) gammaArrivals() func() (time.Duration, bool) {
	r, sum, last := newRandom(p.Seed), 0.0, time.Duration(0) // in gaps of mean Burstiness: up to 1e7 of them lose no nanosecond
	scale := 1e9 / (p.Rate * p.Burstiness)
	return func() (time.Duration, bool) {
		at := moment(sum * scale)
		if p.ramps() {
			last = max(last, p.rampMoment(sum/p.Burstiness))
			at = last
		}
		sum += gamma(r, p.Burstiness)
		return at, true
	}
}

// moment rounds nanoseconds. Later than any schedule may be is all one.
func moment(ns float64) time.Duration {
	return time.Duration(math.Round(min(ns, float64(3*maxSpan))))
}
