package formats_test

import (
	"errors"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
)

// A key that occurs twice is two results: +397 % beside the second of these was
// once an improvement.
func TestDocumentWithAKeyThatOccursTwice(t *testing.T) {
	t.Parallel()
	for _, stdout := range []string{`{"tps":5,"tps":500}`, "log\n{\"tps\":5,\"timing\":{\"ms\":1,\"m\\u0073\":2}}\n", `[{"a":1,"a":1}]`} {
		doc := formats.NewDocument([]byte(stdout))
		x, err := formats.Compile([]formats.Spec{{Metric: "tps", JSON: "tps"}, {Metric: "log", Regexp: "(log|tps)"}})
		if err != nil {
			t.Fatal(err)
		}
		if values, _, err := x.Extract(doc); !errors.Is(err, bench.ErrContradiction) || len(values) > 0 {
			t.Errorf("%s: values %v, error %v", stdout, values, err)
		}
		_, _, err1 := doc.Text(path(t, "answer"))
		_, _, err2 := doc.Ints(path(t, "tokens"))
		_, _, err3 := doc.Entries(path(t, "operators"))
		for _, err := range []error{err1, err2, err3} {
			if !errors.Is(err, bench.ErrContradiction) {
				t.Errorf("%s: %v", stdout, err)
			}
		}
	}
	x, _ := formats.Compile([]formats.Spec{{Metric: "tps", Regexp: "speed ([0-9]+)"}})
	doc := formats.NewDocument([]byte("speed 12\n{\"level\":\"info\",\"level\":\"debug\"}\n"))
	if values, _, err := x.Extract(doc); err != nil || len(values) != 1 {
		t.Errorf("a log line that no path reads: %v, %v", values, err)
	}
}

func TestFormatsThatContradictThemselves(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct{ parser, stdout string }{
		"llama-bench, a key twice":           {"llama-bench", `[{"n_prompt":0,"n_gen":8,"avg_ts":5,"avg_ts":500}]`},
		"llama-bench, another mean":          {"llama-bench", `[{"n_prompt":0,"n_gen":8,"avg_ts":500,"samples_ts":[5,5]}]`},
		"llama-bench, a column twice":        {"llama-bench", "n_prompt,n_gen,avg_ts,avg_ts\n\"0\",\"8\",\"5\",\"500\"\n"},
		"vllm, a key twice":                  {"vllm", `{"request_throughput":1,"completed":1,"output_throughput":5,"output_throughput":500}`},
		"vllm, a key of an inner list twice": {"vllm", `{"avg_latency":1,"percentiles":{"50":1,"50":2}}`},
		"vllm, a row twice": {"vllm", "== Serving Benchmark Result ==\nSuccessful requests: 4\nRequest throughput (req/s): 1\n" +
			"Output token throughput (tok/s): 5\nOutput token throughput (tok/s): 500\n=======\n"},
		"sglang, a key twice": {"sglang", `{"prefill_throughput":5,"prefill_throughput":500}`},
	} {
		reading, err := formats.Outputs[c.parser](formats.Output{Stdout: []byte(c.stdout)})
		if !errors.Is(err, bench.ErrContradiction) || len(reading.Values) > 0 {
			t.Errorf("%s: %v, %v", name, reading, err)
		}
	}
}
