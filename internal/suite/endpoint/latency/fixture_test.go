package latency_test

import (
	"math"
	"math/rand/v2"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

const ms = time.Millisecond

// answer is a request that was due at due and sent 1 ms later; its first token
// came after first, and each of the others after gap.
func answer(index int, due, first, gap time.Duration, tokens int) latency.Observation {
	send := due + ms
	r := openai.Reply{
		Outcome: openai.OK, Status: 200, Send: send, Conn: send + 10, Headers: send + 20, FirstChunk: send + first, First: send + first,
		FirstContent: send + first, PromptTokens: 50, OutputTokens: tokens, StreamedTokens: tokens, CachedTokens: -1, Source: openai.FromUsage, FinishReason: "length",
		Chunks: tokens + 1, ServerPromptMS: math.NaN(), ServerDecodeMS: math.NaN(),
	}
	for i := range tokens {
		r.Tokens = append(r.Tokens, r.First+time.Duration(i)*gap)
		r.Reads = append(r.Reads, int32(i))
	}
	r.Last = r.Tokens[tokens-1]
	r.Finish, r.Usage, r.Done, r.EOF = r.Last+1, r.Last+2, r.Last+3, r.Last+ms
	return latency.Observation{Index: index, Phase: load.Measure, Due: due, Reply: r}
}

// failure is a request that ended without an answer.
func failure(index int, due time.Duration, outcome openai.Outcome) latency.Observation {
	return latency.Observation{Index: index, Phase: load.Measure, Due: due, Reply: openai.Reply{
		Outcome: outcome, Reason: "it broke", Send: due + ms, EOF: due + 2*ms, PromptTokens: -1, OutputTokens: -1, StreamedTokens: -1, CachedTokens: -1,
		ServerPromptMS: math.NaN(), ServerDecodeMS: math.NaN()}}
}

// random returns n requests, all kinds among them, one due every 20 ms.
func random(seed uint64, n int) []latency.Observation {
	rng := rand.New(rand.NewPCG(seed, 1))
	observations := make([]latency.Observation, 0, n)
	for i := range n {
		due := time.Duration(i) * 20 * ms
		o := answer(i, due, time.Duration(1+rng.IntN(1e8)), time.Duration(rng.IntN(1e7)), 1+rng.IntN(20))
		switch rng.IntN(8) {
		case 0:
			o = failure(i, due, outcomes[1+rng.IntN(len(outcomes)-1)])
		case 1:
			o.Reply.Outcome, o.Reply.Source, o.Reply.FinishReason = openai.Cancelled, openai.FromChunks, ""
		case 2:
			o.Phase = load.Warmup
		case 3:
			o.Reply.Retried, o.Reply.ServerPromptMS, o.Reply.CachedTokens = true, rng.Float64()*100, rng.IntN(50)
		}
		observations = append(observations, o)
	}
	return observations
}

// values are the metrics of out by name.
func values(out latency.Output) map[string]float64 {
	byName := map[string]float64{}
	for _, s := range out.Samples {
		byName[s.Metric] = s.Values[0]
	}
	return byName
}

func measure(observations []latency.Observation) latency.Input {
	end := time.Duration(1)
	for _, o := range observations {
		end = max(end, o.Reply.EOF+1)
	}
	return latency.Input{Observations: observations, Window: load.Window{End: end, Drained: end}}
}

// outcomes lists every outcome, OK first.
var outcomes = []openai.Outcome{openai.OK, openai.HTTP4xx, openai.HTTP5xx, openai.RateLimited, openai.Connect, openai.ResetReused, openai.ResetMidstream,
	openai.TimeoutFirst, openai.TimeoutIdle, openai.TimeoutTotal, openai.BadJSON, openai.ErrorInStream, openai.Empty, openai.Truncated, openai.Short,
	openai.PromptTruncated, openai.Cancelled}
