package load

import (
	"fmt"
	"math"
	"time"
)

// Mode describes what decides when a request is sent.
type Mode string

// The modes. All but Closed are open loops: requests are due whether earlier
// ones have ended or not.
const (
	Closed   Mode = "closed"   // a slot sends its next request when its last one has ended
	Constant Mode = "constant" // equal gaps
	Gamma    Mode = "gamma"    // gamma distributed gaps; a Poisson process at burstiness 1
	Burst    Mode = "burst"    // groups at equal distances
	Trace    Mode = "trace"    // given times
)

// Limits of a plan. They are far above what one client can do, and keep what a
// configuration can ask for within memory.
const (
	maxRequests    = 10_000_000 // of one schedule, all phases
	maxConcurrency = 65_536     // slots; a TCP client has about as many ports
	maxRate        = 1e6        // requests per second
	maxSpan        = 7 * 24 * time.Hour
)

// Bounds of the gaps: at shape 0.01 their deviation is ten means, and from 1e9
// on, 3e-5 of one, they are taken as equal.
const (
	minBurstiness  = 0.01
	evenBurstiness = 1e9
)

// WarmupRule describes when the system is warm: when both are met. The zero value
// is no warm-up.
type WarmupRule struct {
	Requests int
	Duration time.Duration
}

// Plan describes how load is made. Fields that its mode does not use must be zero,
// so that equal traffic has equal plans.
type Plan struct {
	Mode Mode
	// Concurrency is the number of slots of a closed loop. In an open loop it
	// is how many requests may be in flight, 0 for any number: further ones
	// wait in order, and their wait counts from when they were due.
	Concurrency int
	Rate        float64 // requests per second, of the modes constant, gamma and burst
	// RateEnd is the rate at the end of Duration, which Rate approaches along
	// Curve from the end of the warm-up on; 0 keeps Rate.
	RateEnd float64
	Curve   Curve
	// Burstiness is the shape of Gamma's gaps: 1 is a Poisson process, less
	// comes in clusters, more is more even, and from 1e9 on (+Inf too) constant.
	Burstiness float64
	Burst      int // Burst: requests of one group
	// Ramp is over how long the slots of a closed loop start, against all of
	// them going in step. What is due in it is warm-up.
	Ramp time.Duration
	// AutoRamp spreads the slots over one service time instead: each pauses
	// once, after its second request, for its share of the mean duration of
	// second requests (first ones may be cold). Warm-up lasts until all have.
	AutoRamp bool
	// Requests and Duration say how much is measured: one of them, or whichever
	// is reached first. A trace may leave both out and is then measured whole.
	Requests int
	Duration time.Duration
	// Warmup takes requests from the front of the schedule: of a trace, its
	// first rows. In a closed loop they have ended when it is over; in an open
	// one the schedule alone decides, so that it always measures the same ones.
	Warmup WarmupRule
	// Drain is how long measured requests may go on after the window, under
	// unchanged load. Then they are cancelled.
	Drain time.Duration
	Seed  uint64          // of Gamma's gaps; part of every digest, as callers draw from it too
	Trace []time.Duration // arrival times in order; the first one is moved to 0
}

// validate returns what is wrong with a plan and what to write instead.
func (p Plan) validate() error {
	for _, check := range []func() error{p.checkMode, p.checkBounds, p.checkRate, p.checkRamp, p.checkAmount, p.checkForeign} {
		if err := check(); err != nil {
			return err
		}
	}
	if p.Mode == Trace {
		return p.checkTrace()
	}
	return p.checkSize()
}

func (p Plan) checkMode() error {
	switch p.Mode {
	case Closed, Constant, Gamma, Burst, Trace:
		return nil
	}
	return fmt.Errorf("unknown load mode %q: use closed, constant, gamma, burst or trace", p.Mode)
}

func (p Plan) checkBounds() error {
	for _, n := range []struct {
		name     string
		got, max int
	}{
		{"concurrency", p.Concurrency, maxConcurrency}, {"requests", p.Requests, maxRequests},
		{"warm-up requests", p.Warmup.Requests, maxRequests}, {"burst", p.Burst, maxRequests},
	} {
		if n.got < 0 || n.got > n.max {
			return fmt.Errorf("%s is %d: give a number from 0 to %d", n.name, n.got, n.max)
		}
	}
	for _, d := range []struct {
		name string
		got  time.Duration
	}{{"duration", p.Duration}, {"warm-up duration", p.Warmup.Duration}, {"ramp", p.Ramp}, {"drain", p.Drain}} {
		if d.got < 0 || d.got > maxSpan {
			return fmt.Errorf("%s is %v: give a time from 0 to %v", d.name, d.got, maxSpan)
		}
	}
	return nil
}

// rated reports whether the mode is made from a rate.
func (p Plan) rated() bool { return p.Mode == Constant || p.Mode == Gamma || p.Mode == Burst }

func (p Plan) checkRate() error {
	switch {
	case p.rated() && !(p.Rate > 0 && p.Rate <= maxRate): // NaN too
		return fmt.Errorf("rate is %v: give requests per second, above 0 and up to %g", p.Rate, float64(maxRate))
	case p.Mode == Gamma && !(p.Burstiness >= minBurstiness):
		return fmt.Errorf("burstiness is %v: give %v or more; 1 is a Poisson process", p.Burstiness, minBurstiness)
	case p.Mode == Burst && p.Burst == 0:
		return fmt.Errorf("burst is 0: give the number of requests of one group")
	case p.Mode == Closed && p.Concurrency == 0:
		return fmt.Errorf("concurrency is 0: give the number of slots of the closed loop, from 1 on")
	}
	return nil
}

func (p Plan) checkAmount() error {
	if p.Requests == 0 && p.Duration == 0 && p.Mode != Trace {
		return fmt.Errorf("nothing is to be measured: give a number of requests or a duration")
	}
	if p.Mode == Burst && p.Requests%p.Burst != 0 {
		fit := max(p.Requests/p.Burst, 1) * p.Burst
		return fmt.Errorf("%d requests do not fill bursts of %d, which would miss the rate: measure %d", p.Requests, p.Burst, fit)
	}
	return nil
}

func (p Plan) checkForeign() error {
	for _, f := range []struct {
		name    string
		foreign bool
	}{
		{"rate", !p.rated() && p.Rate != 0},
		{"burstiness", p.Mode != Gamma && p.Burstiness != 0},
		{"burst", p.Mode != Burst && p.Burst != 0},
		{"ramp", p.Mode != Closed && (p.Ramp != 0 || p.AutoRamp)},
		{"trace", p.Mode != Trace && p.Trace != nil},
	} {
		if f.foreign {
			return fmt.Errorf("a load of mode %s has no %s: leave it out or choose another mode", p.Mode, f.name)
		}
	}
	if p.Ramp != 0 && p.AutoRamp {
		return fmt.Errorf("a ramp of %v is given and an automatic one too: leave one out", p.Ramp)
	}
	return nil
}

func (p Plan) checkTrace() error {
	n := len(p.Trace)
	if n == 0 || n > maxRequests {
		return fmt.Errorf("the trace has %d arrivals: give from 1 to %d", n, maxRequests)
	}
	for i, at := range p.Trace {
		if at < 0 || i > 0 && at < p.Trace[i-1] {
			return fmt.Errorf("arrival %d of the trace is at %v, before 0 or before the one it follows: sort the trace by time", i+1, at)
		}
	}
	if span := p.Trace[n-1] - p.Trace[0]; span > maxSpan {
		return fmt.Errorf("the trace lasts %v: cut it to %v", span, maxSpan)
	}
	return nil
}

// checkSize refuses what cannot be laid out, by its expected size.
func (p Plan) checkSize() error {
	requests := float64(p.Warmup.Requests) + float64(p.Requests)
	span := (p.Warmup.Duration + p.Duration + p.Drain).Seconds()
	if p.rated() {
		bound, maximum := requests, max(p.Rate, p.RateEnd)
		if p.Duration > 0 && p.Requests > 0 { // whichever first
			bound = float64(p.Warmup.Requests) + min(float64(p.Requests), maximum*p.Duration.Seconds())
		}
		span = max(p.Warmup.Duration.Seconds(), float64(p.Warmup.Requests)/p.Rate) + p.measuredSeconds() + p.Drain.Seconds()
		requests = max(bound, maximum*span)
	}
	if requests > maxRequests {
		return fmt.Errorf("the schedule would have about %.3g requests, more than %d: lower the rate, the requests or the duration",
			requests, maxRequests)
	}
	if span > maxSpan.Seconds() {
		return fmt.Errorf("the schedule would last about %.3g s, more than %v: raise the rate or ask for less", span, maxSpan)
	}
	return nil
}

// measuredSeconds is how long the window of an open loop is expected to be.
func (p Plan) measuredSeconds() float64 {
	seconds := math.Inf(1)
	if p.Requests > 0 {
		seconds = float64(p.Requests) / p.Rate
	}
	if p.Duration > 0 {
		seconds = min(seconds, p.Duration.Seconds())
	}
	return seconds
}
