package latency_test

import (
	"bytes"
	"encoding/json"
	"math"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestRecordedRuns computes what is known of requests to a real llama-server,
// recorded by another client, rounded as they were published.
func TestRecordedRuns(t *testing.T) {
	t.Parallel()
	dir := testtier.Data(t, "recorded requests were NOT read", "llm/raw-llama-server-*.jsonl")
	for _, test := range []struct {
		run, metric string
		want        float64
	}{
		{"c1-sameprompt", "ttft_p50_ms", 8.5}, {"c1-sameprompt", "throughput_tok_per_s", 121},
		{"c1-distinct", "ttft_p50_ms", 351}, {"c1-distinct", "throughput_tok_per_s", 44},
		{"c4-run1", "throughput_tok_per_s", 54.6}, {"c4-run1", "ttft_p50_ms", 922}, {"c4-run1", "ttft_p99_ms", 2609}, {"c4-run1", "tpot_p50_ms", 35},
		{"c4-run2", "throughput_tok_per_s", 66.2}, {"c4-run2", "ttft_p50_ms", 1119}, {"c4-run2", "ttft_p99_ms", 1618}, {"c4-run2", "tpot_p50_ms", 30},
		{"c4-run3", "throughput_tok_per_s", 91.2}, {"c4-run3", "ttft_p50_ms", 497}, {"c4-run3", "ttft_p99_ms", 1011}, {"c4-run3", "tpot_p50_ms", 30},
		{"c4-run4", "throughput_tok_per_s", 81.0}, {"c4-run4", "ttft_p50_ms", 981}, {"c4-run4", "ttft_p99_ms", 1260}, {"c4-run4", "tpot_p50_ms", 18},
		{"c4-run5", "throughput_tok_per_s", 68.6}, {"c4-run5", "ttft_p50_ms", 888}, {"c4-run5", "ttft_p99_ms", 1640}, {"c4-run5", "tpot_p50_ms", 30},
		{"poisson-cap1", "ttft_p50_ms", 275}, {"poisson-cap1", "ttft_sched_p50_ms", 1120},
		{"poisson-nocap", "ttft_p50_ms", 145}, {"poisson-nocap", "ttft_sched_p50_ms", 146},
		{"c4-keepalive-eof", "n_ok", 29}, {"c4-keepalive-eof", "ok_rate", .725},
	} {
		out := latency.Compute(recorded(t, filepath.Join(dir, "llm", "raw-llama-server-"+test.run+".jsonl")))
		half := .5 // of the last digit that was published
		if test.want != math.Trunc(test.want) || test.want == 81 {
			half = .05
		}
		if got := values(out)[test.metric]; !(math.Abs(got-test.want) <= half) {
			t.Errorf("%s: %s = %v, want %v", test.run, test.metric, got, test.want)
		}
	}
}

// recorded reads requests as another client wrote them, in milliseconds.
func recorded(t *testing.T, file string) latency.Input {
	t.Helper()
	data, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	var observations []latency.Observation
	for i, line := range bytes.Split(bytes.TrimSpace(data), []byte("\n")) {
		var r struct {
			Sched, Send, Hdr, FirstChunk, First, Last, End float64
			Chunks, PT, CT                                 int
			OK                                             bool
			Fin                                            string
			Gaps                                           []float64
			PromptMS                                       float64
		}
		if err := json.Unmarshal(line, &r); err != nil {
			t.Fatalf("%s:%d: %v", file, i+1, err)
		}
		at := func(v float64) time.Duration { return time.Duration(v * 1e6) }
		o := latency.Observation{Index: i, Phase: load.Measure, Due: at(r.Sched), Reply: openai.Reply{
			Outcome: openai.ResetReused, Send: at(r.Send), Headers: at(r.Hdr), FirstChunk: at(r.FirstChunk), First: at(r.First),
			FirstContent: at(r.First), Last: at(r.Last), EOF: at(r.End), Chunks: r.Chunks, PromptTokens: r.PT, OutputTokens: r.CT, StreamedTokens: r.CT, CachedTokens: -1,
			Source: openai.FromUsage, FinishReason: r.Fin, ServerPromptMS: r.PromptMS, ServerDecodeMS: math.NaN()}}
		if r.OK {
			o.Reply.Outcome, o.Reply.Tokens = openai.OK, []time.Duration{at(r.First)}
		}
		moment := r.First
		for _, gap := range r.Gaps {
			moment += gap
			o.Reply.Tokens = append(o.Reply.Tokens, at(moment))
		}
		observations = append(observations, o)
	}
	return measure(observations)
}
