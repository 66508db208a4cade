package endpoint

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/suite/endpoint/search"
)

// queued computes what a server with 16 slots does to requests that arrive at a
// rate for 17 s. Each takes 380 to 420 ms, so that it answers 40 a second.
func queued(rate float64, seed uint64) latency.Input {
	const slots, warm, total = 16, time.Second, 17 * time.Second
	random := rand.New(rand.NewPCG(seed, 1))
	free := make([]time.Duration, slots)
	in := latency.Input{Window: load.Window{Start: warm, End: total}, Open: true}
	for i := range int(rate * total.Seconds()) {
		due := time.Duration(float64(i) * float64(time.Second) / rate)
		slot := slices.Index(free, slices.Min(free))
		free[slot] = max(free[slot], due) + 380*time.Millisecond + time.Duration(random.Int64N(int64(40*time.Millisecond)))
		o := latency.Observation{Index: i, Phase: load.Measure, Due: due, Reply: openai.Reply{Outcome: openai.OK, Send: due + 1, First: free[slot], EOF: free[slot],
			PromptTokens: -1, OutputTokens: 1, StreamedTokens: 1, CachedTokens: -1, ServerPromptMS: math.NaN(), ServerDecodeMS: math.NaN()}}
		if due < warm {
			o.Phase = load.Warmup
		}
		in.Observations = append(in.Observations, o)
	}
	return in
}

// TestSearchFindsTheCapacity searches a server that answers 40 requests a second,
// with ten seeds.
func TestSearchFindsTheCapacity(t *testing.T) {
	t.Parallel()
	limits := []limit{{"ttft_p95_ms", "lower", 800}, {okRate, "higher", 0.95}}
	for seed := range uint64(10) {
		n := seed * 1000
		probe := func(rate float64) (bool, error) {
			n++ // every probe draws its own times
			return (&seeking{limits: limits}).violation(figures(latency.Compute(queued(rate, n)))) == "", nil
		}
		found, err := search.Find(search.Options{Min: 5, Max: 400, Precision: 0.02, Repeats: 3}, probe)
		if err != nil || math.Abs(found.Value-40) > 2 || found.Low > found.Value || found.High < found.Value {
			t.Errorf("seed %d: %+v, %v, want 40 within 5 %%", seed, found, err)
		}
	}
}

func TestSearchKeys(t *testing.T) {
	t.Parallel()
	for keys, want := range map[string]string{
		"search: {metric: rate, slo: {ttft_p95_ms: 500, tpot_p95_ms: 30, ok_rate: 99%}}":          "",
		"search: {metric: concurrency, slo: {e2e_p95_ms: 500}, max: 64}":                          "",
		"preset: llm.inference.chatbot-short\nsearch: {metric: rate, slo: {ttft_p95_ms: 500}}":    "",
		"preset: llm.inference.rag-style\nsearch: {metric: concurrency, slo: {ttft_p95_ms: 500}}": "",
		"search: {slo: {ttft_p95_ms: 500}}":                                                       "write rate or concurrency",
		"search: {metric: moon, slo: {ttft_p95_ms: 500}}":                                         "write rate or concurrency",
		"search: {metric: rate}":                                                      "is empty: write limits",
		"search: {metric: rate, slo: {throughput_tok_per_s: 5}}":                      "is not a metric to limit",
		"search: {metric: rate, slo: {ttft_p95_ms: fast}}":                            "is not a limit",
		"search: {metric: rate, slo: {ttft_p95_ms: 99%}}":                             "is not a limit",
		"search: {metric: rate, slo: {ok_rate: 99}}":                                  "more than all requests",
		"search: {metric: rate, slo: {ttft_p95_ms: 500}, min: 9, max: 3}":             "min first",
		"search: {metric: concurrency, slo: {ttft_p95_ms: 500}, min: 1.5}":            "whole numbers",
		"search: {metric: rate, slo: {ttft_p95_ms: 500}, repeats: 2}":                 "an odd number",
		"search: {metric: rate, slo: {ttft_p95_ms: 500}, precision: 0}":               "0.001 to 0.5",
		"search: {metric: rate, slo: {ttft_p95_ms: 500}, budget: 0s}":                 "up to 24h",
		"search: {metric: rate, slo: {ttft_p95_ms: 500}}\nload: {rate: [4]}":          "remove them, or remove search",
		"search: {metric: concurrency, slo: {ttft_p95_ms: 500}}\nload: {mode: gamma}": "of mode closed",
		"search: {metric: rate, slo: {ttft_p95_ms: 500}}\ngate: [ok_rate]":            "remove it",
		"search: {metric: rate, slo: {ttft_p95_ms: 500}, max: 1000000000}":            "load",
	} {
		s, err := openBody(t, "x.yaml", keys, env(t))
		if (err == nil) != (want == "") || err != nil && !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", keys, err, want)
		}
		if err == nil && (len(s.Plan().Cells) != 1 || !strings.Contains(s.Plan().Cells[0].ID(), "max-")) {
			t.Errorf("%s: cells %v", keys, s.Plan().Cells)
		}
	}
}
