package latency

import (
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// tally adds up what happened inside a window, from its start to before its
// end, and in each of its equal parts.
type tally struct {
	window load.Window
	n      int // requests that contributed
	parts  [batches]float64
}

// add counts amount at a time, and reports whether that is inside.
func (t *tally) add(at time.Duration, amount float64) bool {
	if at < t.window.Start || at >= t.window.End {
		return false
	}
	share := float64(at-t.window.Start) / float64(t.window.End-t.window.Start)
	t.parts[min(int(share*batches), batches-1)] += amount
	return true
}

func (t *tally) total() float64 { return mean(t.parts[:]) * batches }

// rate adds the metric of t's count per second. There is no interval
// where a sub-window is shorter than the median answer: its neighbours share
// the same answers and vary too little.
func (m *measurement) rate(name string, t *tally) {
	seconds := m.length.Seconds() / batches
	rate := mean(t.parts[:]) / seconds
	if answer := m.value("e2e_p50_ms"); !(seconds*1e3 >= answer) {
		m.estimated(name, rate, noInterval(rate, t.n, "a tenth of the window is shorter than the median answer"))
		return
	}
	half := t9 * deviation(t.parts[:], rate*seconds) / seconds / sqrtBatches
	m.estimated(name, rate, bench.Estimate{N: t.n, Low: max(0, rate-half), High: rate + half, Method: batchMeans})
}

const sqrtBatches = 3.1622776601683795

func (m *measurement) rates() {
	kept := 0
	for _, o := range m.ok {
		if m.keeps(o) {
			kept++
		}
	}
	value, e := estimateShare(len(m.ok), m.total())
	m.estimated("ok_rate", value, e)
	if m.SLO != (SLO{}) {
		value, e = estimateShare(kept, m.total())
		m.estimated("compliance_rate", value, e)
	}
	if m.length > 0 && len(m.Observations) > 0 {
		m.perSecond()
	}
}

func (m *measurement) perSecond() {
	output, input := tally{window: m.Window}, tally{window: m.Window}
	inputs, audio, whole := tally{window: m.Window}, tally{window: m.Window}, false
	all, passing := tally{window: m.Window}, tally{window: m.Window}
	for i := range m.Observations {
		o := &m.Observations[i]
		whole = whole || o.Inputs > 0
		output.addTokens(&o.Reply)
		if o.Reply.Outcome != openai.OK || !all.add(o.Reply.EOF, 1) {
			continue
		}
		all.n++
		if o.Inputs > 0 && inputs.add(o.Reply.EOF, float64(o.Inputs)) {
			inputs.n++
		}
		if o.Audio > 0 && audio.add(o.Reply.EOF, o.Audio) {
			audio.n++
		}
		if o.Reply.PromptTokens > 0 && input.add(o.Reply.EOF, float64(o.Reply.PromptTokens)) {
			input.n++
		}
		if m.keeps(o) && passing.add(o.Reply.EOF, 1) {
			passing.n++
		}
	}
	m.made = output.total()
	if whole {
		m.rate("inputs_per_s", &inputs)
	} else {
		m.exact("output_tokens_total", m.made)
		m.rate("throughput_tok_per_s", &output)
	}
	if audio.n > 0 {
		m.rate("audio_s_per_s", &audio)
	}
	m.rate("req_per_s_all", &all)
	if input.n > 0 {
		m.rate("input_tok_per_s", &input)
	}
	if m.SLO != (SLO{}) {
		m.rate("req_per_s_passing", &passing)
		m.rate("goodput_at_slo", &passing)
	}
}

// addTokens spreads the tokens of a request over its chunks. An answer that
// failed midway is of no use to anybody and must not make a server look fast.
func (t *tally) addTokens(r *openai.Reply) {
	if r.Outcome != openai.OK && r.Outcome != openai.Cancelled || len(r.Tokens) == 0 {
		return
	}
	each := 1.0
	if r.OutputTokens >= 0 {
		each = float64(r.OutputTokens) / float64(len(r.Tokens))
	}
	inside := false
	for _, at := range r.Tokens {
		inside = t.add(at, each) || inside
	}
	if inside {
		t.n++
	}
}

// keeps reports whether an answer meets every SLO.
func (m *measurement) keeps(o *Observation) bool {
	within := func(limit time.Duration, value float64) bool { return limit == 0 || value <= milliseconds(limit) }
	perToken := tpot(o)
	return (o.Inputs > 0 || within(m.SLO.TTFT, ttft(o))) && within(m.SLO.E2E, e2e(o)) &&
		(perToken != perToken || within(m.SLO.TPOT, perToken))
}

// inFlight returns how many requests were under way at once at most.
func inFlight(observations []Observation) int {
	var starts, ends []time.Duration
	for i := range observations {
		if r := &observations[i].Reply; r.Send > 0 && r.EOF > r.Send {
			starts, ends = append(starts, r.Send), append(ends, r.EOF)
		}
	}
	slices.Sort(starts)
	slices.Sort(ends)
	maximum, ended := 0, 0
	for i, at := range starts {
		for ends[ended] <= at {
			ended++
		}
		maximum = max(maximum, i+1-ended)
	}
	return maximum
}
