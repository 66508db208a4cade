// Package load sends requests by a schedule: how many at once, or when each.
// It is independent of the requests, and keeps its own delays apart from the
// server's. A Plan becomes a Schedule, Run executes it, and Saturated,
// OverSaturated and Watch report whether what was measured may be used.
package load

import "time"

// Phase describes which part of a measurement a request belongs to, by when it was
// due.
type Phase string

// The phases.
const (
	Warmup  Phase = "warmup"
	Measure Phase = "measure"
	// Cooldown requests are due after the window, so that the last measured
	// ones end under the load that the first ones had. They are not measured,
	// and are cancelled once the last measured request has ended.
	Cooldown Phase = "cooldown"
)

// Shot is one request of a schedule.
type Shot struct {
	Index int // from 0 in the order of Due; warm-up requests come first, cool-down requests last
	Phase Phase
	// Due is when it should be sent, since the epoch: its place in the schedule
	// in an open loop, and when its slot became free in a closed one.
	Due time.Duration
	// Slot sends the request in a closed loop, from 0; 0 in an open one.
	Slot int
	// Outstanding is how many requests were due and had not ended when this one
	// became due, itself included: those in flight and those waiting for a slot.
	Outstanding int
}

// Window is what was measured, since the epoch. Requests that were due from
// Start on and before End count; they may end later. It begins when the first
// of them was due and ends when the first request after them was: n requests
// stand for n intervals, so that n/(End-Start) is their rate.
type Window struct {
	Start, End time.Duration
	// Drained is when the last measured request had ended or was cancelled.
	Drained time.Duration
}
