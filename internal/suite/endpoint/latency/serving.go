// Package latency turns what became of the requests of a benchmark into
// numbers: each with a definition in the events of [openai.Reply], a count and
// an interval. It is pure: it sends nothing, reads no clock and judges nothing.
//
// Four rules hold for all metrics. A latency is of requests of the measuring
// phase that were answered ([openai.OK]); one whose events are missing or out
// of order is absent, never 0. A rate per second counts the events inside the
// window, whichever phase it belongs to, because that is what the server did in
// that time. What was not measured is absent. One Sample value is one process,
// and its Estimate says how sure that process can be of it.
package latency

import (
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// Observation is one request of a schedule and what became of it. All times
// are since the same epoch.
type Observation struct {
	Index int
	Phase load.Phase
	Due   time.Duration
	Words int // of the prompt; 0 is not known
	// Outstanding is how many requests were due and had not ended when this one
	// became due, itself included; 0 is not known.
	Outstanding int
	Turn        int    // of its conversation, from 1; 0 without one
	Model       string // of a mix; "" without one
	// Inputs are those of a request whose answer comes as a whole, such as texts
	// to embed; 0 of one whose answer is generated. Audio is the length of its
	// recording in seconds; 0 is not known.
	Inputs int
	Audio  float64
	// Capped means that an open loop held requests back: latencies then count
	// from Due, because those from Reply.Send hide the queue.
	Capped bool
	Reply  openai.Reply
}

// SLO is what an answer must keep to; 0 asks nothing. Limits are inclusive. An
// answer without a TPOT, such as one of a single token, keeps every TPOT.
type SLO struct {
	TTFT, TPOT, E2E time.Duration
}

// Energy is what was read in exactly the window, over declared devices. NaN,
// and anything not above 0, means not measured.
type Energy struct {
	Joules    float64
	NetJoules float64 // less what the idle devices would have drawn
	AverageW  float64
	PeakW     float64
}

// Input is one measurement in one process. Compute does not change it.
type Input struct {
	Observations []Observation // warm-up included, in any order
	Window       load.Window
	Open         bool // the load was an open loop
	SLO          SLO
	Energy       *Energy // nil: not measured
	USDPerHour   float64 // that the host costs; 0 means not known
}

// mixed is where the token counts of a whole measurement come from if not all
// answers have theirs from [openai.FromUsage], or all from [openai.FromChunks].
const mixed = "mixed"

// Output is what Input amounts to.
type Output struct {
	// Samples hold one value and its Estimate each, in the order of Metrics.
	Samples []bench.Sample
	// Counts are of the measuring phase: requests by outcome, "retried",
	// "reused", and of those answered "finish_stop", "finish_length" and
	// "finish_other". "warmup" counts the requests of the other phase.
	Counts   map[string]int
	Warnings []string
	// TokenSource is openai.FromUsage, openai.FromChunks, Mixed, or "" where
	// nothing was answered.
	TokenSource string
	// ICLTokenLevel means that the server's own counts confirm that a chunk is
	// about a token, so that ICL is a time between tokens.
	ICLTokenLevel bool
	// StreamedShare is the share of the counted output tokens that were
	// streamed, in all answers together; 1 where they are all, or not known.
	StreamedShare float64
	// Saturated means that requests waited ever longer to be sent: the server
	// takes longer than the schedule allows.
	Saturated bool
	// The delays of the schedule are for ClientLimited; 0 where nothing was sent.
	ScheduleDelayP50, ScheduleDelayP99 time.Duration
}

// Compute returns the metrics of one measurement. It never fails: what cannot
// be computed is absent, and a warning says so where a reader might miss it.
func Compute(in Input) Output {
	m := newMeasurement(in)
	m.streamed()
	m.latencies()
	m.gaps()
	m.scheduleDelays()
	m.rates()
	m.tokens()
	m.energy()
	m.counts()
	m.warn()
	m.out.Samples = m.samples()
	return m.out
}

// measurement is Compute under way.
type measurement struct {
	Input
	length    time.Duration  // of the window; 0 if it is none
	measured  []*Observation // of the measuring phase, cancelled ones included
	ok        []*Observation // of measured
	cancelled int            // of measured
	hidden    int            // of ok, those with tokens that were counted and not streamed
	made      float64        // output tokens inside the window
	coalesced float64        // share of gaps inside one read
	figures   map[string]figure
	out       Output
}

type figure struct {
	value    float64
	estimate *bench.Estimate // nil: the value is exact
}

func newMeasurement(in Input) *measurement {
	m := &measurement{Input: in, figures: map[string]figure{}, length: max(0, in.Window.End-in.Window.Start)}
	for i := range in.Observations {
		o := &in.Observations[i]
		if o.Phase != load.Measure {
			continue
		}
		m.measured = append(m.measured, o)
		switch o.Reply.Outcome {
		case openai.OK:
			m.ok = append(m.ok, o)
		case openai.Cancelled:
			m.cancelled++
		}
	}
	return m
}

// total is the number of requests that could have been answered.
func (m *measurement) total() int { return len(m.measured) - m.cancelled }

// value returns the named metric, NaN if it is absent.
func (m *measurement) value(name string) float64 {
	if f, there := m.figures[name]; there {
		return f.value
	}
	return absent
}

// exact and estimated add a metric, unless it could not be computed.
func (m *measurement) exact(name string, value float64) {
	if bench.Finite(value) {
		m.figures[name] = figure{value: value}
	}
}

func (m *measurement) estimated(name string, value float64, e bench.Estimate) {
	if bench.Finite(value) && bench.Finite(e.Low) && bench.Finite(e.High) {
		m.figures[name] = figure{value, &e}
	}
}

func (m *measurement) samples() []bench.Sample {
	var samples []bench.Sample
	for _, row := range catalogue {
		f, there := m.figures[row.Name]
		if !there {
			continue
		}
		s := bench.Sample{Metric: row.Name, Values: []float64{f.value}}
		if f.estimate != nil {
			s.Estimates = []bench.Estimate{*f.estimate}
		}
		samples = append(samples, s)
	}
	return samples
}
