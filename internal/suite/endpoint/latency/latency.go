package latency

import (
	"math"
	"slices"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

var absent = math.NaN()

// latency is a time of one request in milliseconds, NaN where it is absent.
type latency struct {
	name, definition string
	of               func(*Observation) float64
	percentiles      []int
	mean, never      bool
}

// latencies of answered requests. t_chunk1 is Reply.FirstChunk, and so on; due
// is Observation.Due, and differs from t_send by the delay of the schedule.
var latencies = []latency{
	{"ttft", "t_first - t_send" + answered + capped, ttft, []int{50, 95, 99}, true, false},
	{
		"ttft_sched",
		"t_first - due" + answered,
		func(o *Observation) float64 { return since(o.Due, o.Reply.First) },
		[]int{50, 95, 99},
		false,
		false,
	},
	{"ttft_send", "t_first - t_send" + answered + ", where load.max_in_flight bounds an open loop", ttftSend, []int{50, 99}, false, false},
	{
		"ttft_turn_1",
		"t_first - t_send of the first question of each conversation" + answered,
		ttftOfTurn(false),
		[]int{50, 99},
		false,
		false,
	},
	{
		"ttft_later_turns",
		"t_first - t_send of all other questions of conversations" + answered,
		ttftOfTurn(true),
		[]int{50, 99},
		false,
		false,
	},
	{"connect", "t_conn - t_send" + answered + " on a connection of their own: name, TCP and TLS", connect, []int{50, 99}, false, false},
	{"ttfc", "t_chunk1 - t_send" + answered + capped, ttfc, []int{50, 99}, false, false},
	{"ttft_content", "t_first_content - t_send" + answered + capped, ttftContent, []int{50, 99}, false, false},
	{
		"tpot",
		"(t_last - t_first) / (n_out - 1)" + answered + " with n_out > 1 in at least 2 chunks; where more than a tenth of n_out was counted and not streamed, " +
			"over the streamed tokens",
		tpot,
		[]int{50, 95, 99},
		true,
		false,
	},
	{"answer", "t_eof - t_send" + answered + " as a whole, such as embeddings" + capped, answerTime, []int{50, 99}, false, false},
	{"total", "t_eof - t_send" + answered + capped + ": e2e by InferenceBench's name", e2e, []int{50, 99}, false, false},
	{"e2e", "t_eof - t_send" + answered + capped, e2e, []int{50, 95, 99}, true, false},
	{
		"e2e_sched",
		"t_eof - due" + answered,
		func(o *Observation) float64 { return since(o.Due, o.Reply.EOF) },
		[]int{50, 95, 99},
		false,
		false,
	},
}

// capped ends a definition.
const capped = "; since due, where load.max_in_flight bounds an open loop"

var (
	gapLatency = latency{name: "icl", definition: "gaps between reads that brought content, all gaps of answered measured requests pooled",
		percentiles: []int{50, 99}}
	delayLatency = latency{name: "schedule_delay", definition: "t_send - due, of measured requests that were sent",
		percentiles: []int{50, 99}, never: true}
)

// connect is absent where a connection was used again.
func connect(o *Observation) float64 {
	if o.Reply.Reused {
		return absent
	}
	return between(o.Reply.Send, o.Reply.Conn)
}

func e2e(o *Observation) float64 { return o.until(o.Reply.EOF) }

// answerTime is absent where an answer was generated token by token.
func answerTime(o *Observation) float64 {
	if o.Inputs == 0 {
		return absent
	}
	return e2e(o)
}

// until is the time to an event since the request was sent, or was due.
func (o *Observation) until(event time.Duration) float64 {
	if o.Capped {
		return since(o.Due, event)
	}
	return between(o.Reply.Send, event)
}

// tpot is undefined for one token, and for an answer that came in one piece.
// Tokens that were counted and not streamed took no part of the time between
// the first and the last.
func tpot(o *Observation) float64 {
	if o.Reply.StreamedTokens < 2 || len(o.Reply.Tokens) < 2 {
		return absent
	}
	return between(o.Reply.First, o.Reply.Last) / float64(o.Reply.StreamedTokens-1)
}

// between is NaN unless both events happened, the second after the first.
func between(from, to time.Duration) float64 {
	if from <= 0 {
		return absent
	}
	return since(from, to)
}

// since is between from a moment that is known, even if it is 0.
func since(from, to time.Duration) float64 {
	if to <= 0 || to <= from {
		return absent
	}
	return milliseconds(to - from)
}

func milliseconds(d time.Duration) float64 { return float64(d) / 1e6 }

func (m *measurement) latencies() {
	for _, l := range latencies {
		values := present(m.ok, l.of)
		slices.Sort(values)
		for _, p := range l.percentiles {
			value, e := estimatePercentile(values, p)
			m.estimated(percentileName(l.name, p), value, m.marked(l.name, e))
		}
		if l.mean {
			value, e := estimateMean(values)
			m.estimated(l.name+"_mean_ms", value, m.marked(l.name, e))
		}
	}
}

func present(observations []*Observation, of func(*Observation) float64) []float64 {
	values := make([]float64, 0, len(observations))
	for _, o := range observations {
		if v := of(o); !math.IsNaN(v) {
			values = append(values, v)
		}
	}
	return values
}

// gaps pools the times between chunks. Chunks that one read brought count as
// one: their distance is the client's, not the server's.
func (m *measurement) gaps() {
	size := 0
	for _, o := range m.ok {
		size += len(o.Reply.Tokens)
	}
	pooled, lines := make([]time.Duration, 0, size), 0
	for _, o := range m.ok {
		pooled = appendGaps(pooled, &o.Reply)
		lines += max(0, len(o.Reply.Tokens)-1)
	}
	if lines > 0 {
		m.coalesced = 1 - float64(len(pooled))/float64(lines)
	}
	for _, p := range gapLatency.percentiles {
		value := selectPercentile(pooled, float64(p)/100) / 1e6
		// Gaps of one answer follow each other's pace, so order statistics
		// would promise too narrow an interval.
		m.estimated(percentileName(gapLatency.name, p), value, noInterval(value, len(pooled), "gaps of an answer are not independent"))
	}
}

func appendGaps(gaps []time.Duration, r *openai.Reply) []time.Duration {
	if len(r.Tokens) == 0 {
		return gaps
	}
	known, last := len(r.Reads) == len(r.Tokens), r.Tokens[0]
	for i := 1; i < len(r.Tokens); i++ {
		if known && r.Reads[i] == r.Reads[i-1] {
			continue
		}
		gaps = append(gaps, r.Tokens[i]-last)
		last = r.Tokens[i]
	}
	return gaps
}

func (m *measurement) scheduleDelays() {
	delays := present(m.measured, scheduleDelay)
	slices.Sort(delays)
	for _, p := range delayLatency.percentiles {
		value, e := estimatePercentile(delays, p)
		m.estimated(percentileName(delayLatency.name, p), value, e)
	}
	m.out.ScheduleDelayP50 = m.duration("schedule_delay_p50_ms")
	m.out.ScheduleDelayP99 = m.duration("schedule_delay_p99_ms")
	m.out.Saturated = m.saturated()
}

// duration is a value in milliseconds, 0 where there is none.
func (m *measurement) duration(metric string) time.Duration {
	ms := m.value(metric)
	if !bench.Finite(ms) {
		return 0
	}
	return time.Duration(math.Round(ms * 1e6))
}

// scheduleDelay may be 0: a request that was sent at once.
func scheduleDelay(o *Observation) float64 {
	if o.Reply.Send <= 0 {
		return absent
	}
	return milliseconds(o.Reply.Send - o.Due)
}

// saturated asks [load.Saturated]. What was never sent waited until the load
// had ended, at least.
func (m *measurement) saturated() bool {
	var delays []load.Delay
	for _, o := range m.measured {
		sent := o.Reply.Send
		if sent <= 0 {
			sent = m.Window.Drained
		}
		delays = append(delays, load.Delay{Due: o.Due, Delay: max(0, sent-o.Due)})
	}
	service := mean(present(m.ok, func(o *Observation) float64 { return between(o.Reply.Send, o.Reply.EOF) }))
	return bench.Finite(service) && load.Saturated(delays, time.Duration(service*1e6))
}
