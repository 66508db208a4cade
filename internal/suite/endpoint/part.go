package endpoint

import (
	"cmp"
	"fmt"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
)

// part is what one of several clients did of a load. Its times are since its own
// epoch.
type part struct {
	Epoch  time.Time     `json:"epoch"` // by its own clock
	Began  time.Duration `json:"began_ns"`
	Window load.Window   `json:"window_ns"`
	Gone   bool          `json:"gone,omitempty"` // the server went away
	Health load.Health   `json:"health"`
	// Clock is what was measured of the server's clock.
	Clock clock `json:"clock,omitzero"`

	observations []latency.Observation
}

// together is how much of a load all clients applied at once.
type together struct {
	window       load.Window
	observations []latency.Observation
	share        float64       // of the time that any of them was in its window
	began        time.Duration // when the first began
	skew         time.Duration // until the last began
	counted      bool          // requests of a closed loop, of which a client may be through first
}

// merge puts what the clients did together on the clock of epoch. No number is
// averaged: the metrics are computed from all requests, as those of one client
// are.
//
// Where a schedule or a number of requests says what is measured, all of it
// counts. The window is as long as the schedule's, or that of any client. Where
// the time alone does, in a closed loop, it is the time in which all clients were
// in their windows, and the requests that were due in it count.
func merge(parts []part, epoch time.Time, p load.Plan) together {
	t := together{counted: p.Mode == load.Closed && p.Requests > 0}
	var both load.Window // in which all were
	var began []time.Duration
	var start, end time.Duration // summed up
	for i := range parts {
		one := &parts[i]
		shift := one.Epoch.Sub(epoch) + one.Clock.correction()
		w := load.Window{Start: one.Window.Start + shift, End: one.Window.End + shift, Drained: one.Window.Drained + shift}
		if i == 0 {
			t.window, both = w, w
		}
		t.window = load.Window{
			Start:   min(t.window.Start, w.Start),
			End:     max(t.window.End, w.End),
			Drained: max(t.window.Drained, w.Drained),
		}
		both = load.Window{Start: max(both.Start, w.Start), End: min(both.End, w.End), Drained: t.window.Drained}
		began, start, end = append(began, one.Began+shift), start+w.Start, end+w.End
		for _, o := range one.observations {
			o.Reply.Tokens = slices.Clone(o.Reply.Tokens)
			o.Shift(shift)
			t.observations = append(t.observations, o)
		}
	}
	t.began = slices.Min(began)
	t.skew = slices.Max(began) - t.began
	if length := t.window.End - t.window.Start; length > 0 {
		t.share = max(0, (both.End-both.Start).Seconds()/length.Seconds())
	}
	switch {
	case p.Mode != load.Closed:
		t.window.Start, t.window.End = start/time.Duration(len(parts)), end/time.Duration(len(parts))
	case !t.counted && t.share > 0:
		t.window = both
		t.narrow()
	}
	t.outstanding()
	slices.SortFunc(t.observations, func(a, b latency.Observation) int {
		return cmp.Or(cmp.Compare(a.Due, b.Due), cmp.Compare(a.Index, b.Index))
	})
	return t
}

// narrow makes the phase of each request what it is in the common window.
func (t *together) narrow() {
	kept := t.observations[:0]
	for _, o := range t.observations {
		switch {
		case o.Due < t.window.Start:
			o.Phase = load.Warmup
		case o.Due >= t.window.End:
			continue // as of one client
		default:
			o.Phase = load.Measure
		}
		kept = append(kept, o)
	}
	t.observations = kept
}

// outstanding counts anew how many requests were due and had not ended when
// each became due: a client counts its own alone.
func (t *together) outstanding() {
	due, ended := make([]time.Duration, 0, len(t.observations)), make([]time.Duration, 0, len(t.observations))
	for i := range t.observations {
		due = append(due, t.observations[i].Due)
		if at := t.observations[i].Reply.EOF; at > 0 {
			ended = append(ended, at)
		}
	}
	slices.Sort(due)
	slices.Sort(ended)
	for i := range t.observations {
		at := t.observations[i].Due
		dues, _ := slices.BinarySearch(due, at+1)
		ends, _ := slices.BinarySearch(ended, at)
		t.observations[i].Outstanding = dues - ends
	}
}

// minTogether is the least share of the time that all clients must load the
// server at once.
const minTogether = 0.9

// caveat returns why numbers of several clients are not those of one load, or "".
func (t *together) caveat() string {
	if t.share >= minTogether {
		return ""
	}
	return fmt.Sprintf(
		"all clients loaded the server at once for %.0f %% of the time, and %.0f %% are needed: measure for longer (load.duration), "+
			"or start the clients with one --start-at", 100*t.share, 100*minTogether)
}

// healthOf sums up the clients of one host: the processors that all used, and the worst
// of the delays.
func healthOf(parts []part) load.Health {
	h, used := parts[0].Health, 0.0
	for _, one := range parts {
		used += one.Health.CPUShare
		h = worse(h, one.Health)
	}
	h.CPUShare = used
	return h
}

// worse takes the worst of each number of two clients.
func worse(a, b load.Health) load.Health {
	return load.Health{CPUShare: max(a.CPUShare, b.CPUShare), GCPauseMax: max(a.GCPauseMax, b.GCPauseMax),
		WakeDelayP99: max(a.WakeDelayP99, b.WakeDelayP99), WakeDelayP50: max(a.WakeDelayP50, b.WakeDelayP50)}
}
