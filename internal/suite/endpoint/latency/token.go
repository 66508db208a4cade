package latency

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

// maxChunkDistance is how far the server's count of tokens and the number of
// content chunks may be apart for a chunk to count as a token.
const maxChunkDistance = 0.2

// streamed sums up how many of the counted tokens were streamed.
func (m *measurement) streamed() {
	counted, streamed := 0, 0
	for _, o := range m.ok {
		if r := &o.Reply; r.OutputTokens > 0 {
			counted, streamed = counted+r.OutputTokens, streamed+r.StreamedTokens
			m.hidden += stats.Indicator(r.StreamedTokens < r.OutputTokens)
		}
	}
	m.out.StreamedShare = 1
	if m.hidden > 0 {
		m.out.StreamedShare = float64(streamed) / float64(counted)
	}
}

// marked adds to the method of a TPOT that it is over streamed tokens.
func (m *measurement) marked(latency string, e bench.Estimate) bench.Estimate {
	if latency == "tpot" && m.hidden > 0 {
		e.Method += "; over streamed tokens"
	}
	return e
}

func (m *measurement) tokens() {
	m.median("n_input_tokens_p50", func(o *Observation) float64 { return count(o.Reply.PromptTokens) })
	m.median("n_output_tokens_p50", func(o *Observation) float64 { return count(o.Reply.OutputTokens) })
	m.cached()
	m.out.TokenSource = m.source()
	distance, known := m.chunkDistance()
	m.out.ICLTokenLevel = known && distance <= maxChunkDistance
}

func (m *measurement) median(name string, of func(*Observation) float64) {
	values := present(m.ok, of)
	slices.Sort(values)
	value, e := estimatePercentile(values, 50)
	m.estimated(name, value, e)
}

func count(tokens int) float64 {
	if tokens < 0 {
		return absent
	}
	return float64(tokens)
}

// maxPrompt bounds the tokens of a prompt that count: more tokens than any model
// takes, and few enough that sums do not overflow.
const maxPrompt = 1 << 31

// cachedKnown reports whether the counts of a prompt say how much of it came
// from the cache: more than all of it cannot.
func cachedKnown(r *openai.Reply) bool {
	return 0 <= r.CachedTokens && r.CachedTokens <= r.PromptTokens && 0 < r.PromptTokens && r.PromptTokens < maxPrompt
}

func (m *measurement) cached() {
	prompt, cached, n := 0, 0, 0
	for _, o := range m.ok {
		if cachedKnown(&o.Reply) {
			prompt, cached, n = prompt+o.Reply.PromptTokens, cached+o.Reply.CachedTokens, n+1
		}
	}
	share := float64(cached) / float64(prompt) // 0/0 is NaN: absent
	m.estimated("cached_token_rate", share, noInterval(share, n, "tokens of a prompt are not independent"))
}

func (m *measurement) source() string {
	source := ""
	for _, o := range m.ok {
		switch s := o.Reply.Source; {
		case s == "" || s == source:
		case source == "":
			source = s
		default:
			return mixed
		}
	}
	return source
}

// chunkDistance compares the server's own counts of the streamed tokens with
// the chunks that brought them. known is false where the server counted nothing.
func (m *measurement) chunkDistance() (distance float64, known bool) {
	tokens, chunks := 0, 0
	for _, o := range m.ok {
		if r := &o.Reply; r.Source == openai.FromUsage && r.OutputTokens > 0 {
			tokens, chunks = tokens+r.StreamedTokens, chunks+len(r.Tokens)
		}
	}
	if tokens == 0 {
		return 0, false
	}
	return float64(max(tokens-chunks, chunks-tokens)) / float64(tokens), true
}

// energy adds what was measured beside the requests. Nothing here has an
// interval of its own: it is one reading.
func (m *measurement) energy() {
	if e := m.Energy; e != nil {
		m.reading("power_avg_w", e.AverageW)
		m.reading("power_peak_w", e.PeakW)
		m.reading("energy_joules_total", e.Joules)
		m.reading("joules_per_token", e.Joules/m.made) // by 0 is infinite: absent
		m.reading("joules_per_token_net", e.NetJoules/m.made)
	}
	m.reading("cost_usd_per_million_tokens", m.USDPerHour/(m.value("throughput_tok_per_s")*3600)*1e6)
}

func (m *measurement) reading(name string, value float64) {
	if value > 0 {
		m.exact(name, value)
	}
}

func (m *measurement) counts() {
	m.out.Counts = map[string]int{"retried": 0}
	for _, o := range m.measured {
		m.out.Counts[string(o.Reply.Outcome)]++
		if o.Reply.Retried {
			m.out.Counts["retried"]++
		}
		if o.Reply.Reused {
			m.out.Counts["reused"]++
		}
		if o.Reply.Outcome == openai.OK {
			m.out.Counts[finish(o.Reply.FinishReason)]++
		}
	}
	if warmup := len(m.Observations) - len(m.measured); warmup > 0 {
		m.out.Counts["warmup"] = warmup
	}
	if m.length > 0 {
		m.exact("duration_s", m.length.Seconds())
	}
	m.exact("n_ok", float64(len(m.ok)))
	m.exact("n_total", float64(m.total()))
	m.exact("n_cancelled", float64(m.cancelled))
	m.exact("n_in_flight_max", float64(inFlight(m.Observations)))
	m.exact("retries_conn", float64(m.out.Counts["retried"]))
}

// finish keeps the server's own words out of the names of counts.
func finish(reason string) string {
	switch reason {
	case "stop":
		return "finish_stop"
	case "length":
		return "finish_length"
	}
	return "finish_other"
}
