package harness

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
)

// Observe asks a worker what its device itself needed for calls, one after
// another. It is evidence only: latencies come from our own clock.
type Observe struct {
	ID         string `json:"id"`
	Slots      []Slot `json:"slots"` // used in turn
	Iterations int    `json:"iters"`
	ColdCache  bool   `json:"cold_cache,omitempty"`
	// Graph asks for times of a CUDA graph of each call as well.
	Graph bool `json:"graph,omitempty"`
}

// ObserveReply has the times of calls on the device.
type ObserveReply struct {
	// Method is "delay" (events behind a delay, so that no gap between launches counts) or "event".
	Method  string   `json:"method"`
	NS      []int64  `json:"ns"`
	GraphNS []int64  `json:"graph_ns,omitempty"`
	Reasons []string `json:"reasons,omitempty"` // why better methods did not work
	Clock   *Clock   `json:"clock,omitempty"`
	// Span is when the trial was timed and these calls were made, by our own clock.
	Span Span `json:"-"`
}

// Span is from one moment to another.
type Span struct{ From, To time.Time }

func (r ObserveReply) check(iterations int) error {
	negative := func(ns int64) bool { return ns < 0 }
	switch {
	case len(r.NS) != iterations || len(r.GraphNS) != 0 && len(r.GraphNS) != iterations:
		return fmt.Errorf("it has %d times, and %d of graphs, for %d calls", len(r.NS), len(r.GraphNS), iterations)
	case slices.ContainsFunc(r.NS, negative) || slices.ContainsFunc(r.GraphNS, negative):
		return errors.New("it has a negative time")
	case !slices.Contains([]string{"delay", "event"}, r.Method):
		return fmt.Errorf("it names an unknown method %.40q", r.Method)
	case len(r.Reasons) > maxNames || slices.ContainsFunc(r.Reasons, func(s string) bool { return len(s) > maxMessage }):
		return errors.New("it has reasons of great length")
	}
	return nil
}

// Observe has the device's own times of calls told. Its failure is of kind
// [Unsupported] where the worker has none.
func (s *Session) Observe(ctx context.Context, o Observe) (reply ObserveReply, err error) {
	if _, err = s.call(ctx, "observe", s.limits.Time, o, &reply); err == nil {
		err = s.blame("observe", reply.check(o.Iterations))
	}
	return reply, err
}

// observed is how many calls of a trial are observed.
const observed = 10

// observe has the device's own times of a few calls of the solution kept, after
// all outputs of the trial were judged: a call here could make good what one that
// was timed left out.
func (p *trialProtocol) observe(ctx context.Context) error {
	s := p.solution
	if devices := s.Hello().Devices; len(devices) == 0 || devices[0].Kind != "cuda" {
		return nil
	}
	o := Observe{ID: s.build.ID, Iterations: observed, ColdCache: p.ColdCache, Graph: p.Graph}
	for set := range p.Sets {
		o.Slots = append(o.Slots, p.slot(set))
	}
	reply, err := s.Observe(ctx, o)
	var f *Failure
	switch {
	case err == nil:
		reply.Span = Span{p.began, s.now()}
		s.timing.Device = append(s.timing.Device, reply)
	case errors.As(err, &f) && !f.Dead: // such as a capture that the function does not allow
		if f.Kind != Unsupported {
			p.warn(fmt.Sprintf("the device's own times are absent (%.300s): see the log", f.Message))
		}
		return s.by(s.recover(ctx, f.Kind))
	}
	return s.by(err)
}
