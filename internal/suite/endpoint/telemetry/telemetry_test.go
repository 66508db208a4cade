package telemetry

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const page = `# HELP vllm:num_requests_running Number of requests in model execution batches.
# TYPE vllm:num_requests_running gauge
vllm:num_requests_running{engine="0",model_name="a{b} c"} 3.0
vllm:num_requests_running{engine="1",model_name="a"} 4
vllm:num_requests_waiting{engine="0"} 2 1700000000000
vllm:kv_cache_usage_perc{engine="0"} 0.25
vllm:kv_cache_usage_perc{engine="1"} 0.5
vllm:num_preemptions_total 7
vllm:prefix_cache_queries_total 1000
vllm:prefix_cache_hits_total 250
vllm:num_requests_waiting NaN
vllm:num_requests_waiting -5
vllm:num_requests_waiting
other 5
`

func TestParse(t *testing.T) {
	t.Parallel()
	s, known := Parse([]byte(page))
	if want := (Snapshot{7, 2, 0.5, 7, 1000, 250}); s != want || !known {
		t.Errorf("%+v, %t, want %+v", s, known, want)
	}
	for text, want := range map[string]string{
		"":                                "{NaN NaN NaN NaN NaN NaN} false",
		"other 1\n":                       "{NaN NaN NaN NaN NaN NaN} false",
		"sglang:num_queue_reqs 3\n":       "{NaN 3 NaN NaN NaN NaN} true",
		"sglang:token_usage 0.125":        "{NaN NaN 0.125 NaN NaN NaN} true",
		"tgi_queue_size 4\r\n":            "{NaN 4 NaN NaN NaN NaN} true",
		"llamacpp:requests_deferred +Inf": "{NaN NaN NaN NaN NaN NaN} false",
	} {
		s, known := Parse([]byte(text))
		if got := fmt.Sprint(s, known); got != want {
			t.Errorf("%q: %s, want %s", text, got, want)
		}
	}
}

// TestRecordedPage reads what a real llama-server reported.
func TestRecordedPage(t *testing.T) {
	t.Parallel()
	dir := testtier.Data(t, "recorded metrics were NOT read", "llm/*.prom")
	data, err := os.ReadFile(filepath.Join(dir, "llm", "llama-server-metrics.prom"))
	if err != nil {
		t.Fatal(err)
	}
	if s, known := Parse(data); !known || s.KVUse != 0.00360107 || s.Running != 0 || s.Waiting != 0 {
		t.Errorf("%+v, %t", s, known)
	}
}

func TestSummarize(t *testing.T) {
	t.Parallel()
	nan := math.NaN()
	got := Summarize([]Snapshot{{1, 0, 0.25, 5, 100, 50}, {4, 6, 0.75, 5, 150, 60}, {2, 0, 0.5, 8, 200, 75}})
	if want := (Summary{2, 6, 4, 0.75, 3, 0.25}); got != want {
		t.Errorf("%+v, want %+v", got, want)
	}
	for name, list := range map[string][]Snapshot{"nothing": nil, "unknown": {{nan, nan, nan, nan, nan, nan}}} {
		if got := fmt.Sprint(Summarize(list)); got != "{NaN NaN NaN NaN NaN NaN}" {
			t.Errorf("%s: %s", name, got)
		}
	}
	if got := Summarize([]Snapshot{{0, 0, 0, 9, 9, 9}, {0, 0, 0, 1, 1, 1}}); !math.IsNaN(got.Preemptions) || !math.IsNaN(got.HitRate) {
		t.Errorf("a server that was started again: %+v", got)
	}
}

// FuzzParse holds that no page panics or yields an impossible number.
func FuzzParse(f *testing.F) {
	f.Add([]byte(page))
	f.Add([]byte("vllm:num_requests_running}{ 1\nx{"))
	f.Fuzz(func(t *testing.T, text []byte) {
		s, _ := Parse(text)
		for _, v := range []float64{s.Running, s.Waiting, s.KVUse, s.Preemptions, s.Queries, s.Hits} {
			if v < 0 {
				t.Errorf("%q: %+v", text, s)
			}
		}
		Summarize([]Snapshot{s, s})
	})
}
