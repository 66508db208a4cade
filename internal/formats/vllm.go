package formats

import (
	"encoding/json"
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// vllm reads the result files of vllm bench serve (--save-result), latency and
// throughput (--output-json), and, where there is no JSON, what they print.
// Seconds become milliseconds. The text has fewer digits; of throughput, only
// the text says how many of the tokens were generated.
func vllm(out Output) (Reading, error) {
	return oneResult(out.Stdout, vllmReader, vllmLines, "--append-result mixes runs, so leave it out, and run one benchmark in each cell",
		"Serving Benchmark Result")
}

// vllmReader returns the reader of the tool that wrote o, found by its members; nil if there is none.
func vllmReader(o object) func(object) ([]Value, error) {
	switch {
	case o.has("request_throughput"):
		return vllmServing
	case o.has("elapsed_time", "requests_per_second"), o.has("output_tokens_per_second"):
		return vllmThroughput
	case o.has("avg_latency"):
		return vllmLatency
	}
	return nil
}

// vllmServing returns the metrics of a result of vllm bench serve, by the names
// in [Formats]. A result of which a request failed is an error: its numbers are
// those of the other requests.
func vllmServing(o object) ([]Value, error) {
	if isSGLangServing(o) {
		return nil, errors.New("the result is of sglang.bench_serving, whose first token is another event: write parser: sglang")
	}
	if err := succeeded(o); err != nil {
		return nil, err
	}
	values, err := members(o, []member{
		{key: "request_throughput", metric: "request_rate_achieved", scale: 1},
		{key: "request_goodput", metric: "request_goodput", scale: 1, mayBeZero: true},
		{key: "output_throughput", metric: "throughput_tps", scale: 1},
		{key: "total_token_throughput", metric: "total_throughput_tps", scale: 1},
		{key: "spec_decode_acceptance_length", metric: "accept_length", scale: 1},
	})
	if err != nil {
		return nil, err
	}
	times, err := latencies(o, map[string]string{"ttft": "ttfc", "tpot": "tpot", "itl": "itl",
		"e2el": "e2e", "e2el_including_client_queue": "e2e_queued"})
	return append(values, times...), err
}

func vllmThroughput(o object) ([]Value, error) {
	return members(o, []member{
		{key: "requests_per_second", metric: "request_rate_achieved", scale: 1},
		{key: "tokens_per_second", metric: "total_throughput_tps", scale: 1},
		{key: "output_tokens_per_second", metric: "throughput_tps", scale: 1},
	})
}

// percent is a key of the percentiles of vllm bench latency.
var percent = lazyregexp.New(`^[0-9]{1,3}(\.[0-9]{1,3})?$`)

func vllmLatency(o object) ([]Value, error) {
	values, err := members(o, []member{{key: "avg_latency", metric: "latency_ms", scale: 1000}})
	if err != nil {
		return nil, err
	}
	var percentiles object
	if raw, ok := o["percentiles"]; ok && json.Unmarshal(raw, &percentiles) != nil {
		return nil, fmt.Errorf("percentiles is %q and not an object: see whether the output is this program's", plain(raw))
	}
	var table []member
	for p := range percentiles {
		if percent.MatchString(p) {
			table = append(table, member{key: p, metric: "latency_p" + p + "_ms", scale: 1000})
		}
	}
	more, err := members(percentiles, table)
	if err != nil {
		return nil, fmt.Errorf("percentile %w", err)
	}
	return append(values, more...), nil
}

// The lines that vllm bench throughput and latency print.
var (
	throughputLine = lazyregexp.New(`(?m)^Throughput: (\S+) requests/s, (\S+) total tokens/s, (\S+) output tokens/s\s*$`)
	averageLine    = lazyregexp.New(`(?m)^Avg latency: (\S+) seconds\s*$`)
	percentileLine = lazyregexp.New(`(?m)^([0-9.]+)% percentile latency: (\S+) seconds\s*$`)
)

func vllmLines(text []byte) (found []object) {
	for _, m := range throughputLine.FindAllSubmatch(text, maxMetrics) {
		found = append(found, object{"requests_per_second": scalar(string(m[1])),
			"tokens_per_second": scalar(string(m[2])), "output_tokens_per_second": scalar(string(m[3]))})
	}
	averages := averageLine.FindAllSubmatch(text, maxMetrics)
	for _, m := range averages {
		found = append(found, object{"avg_latency": scalar(string(m[1]))})
	}
	if len(averages) != 1 {
		return found
	}
	percentiles := object{}
	for _, m := range percentileLine.FindAllSubmatch(text, maxMetrics) {
		percentiles[string(m[1])] = scalar(string(m[2]))
	}
	if raw, err := json.Marshal(percentiles); err == nil {
		found[len(found)-1]["percentiles"] = raw
	}
	return found
}

func isVLLM(o object) bool {
	return o.has("request_throughput", "completed") && (o.has("endpoint_type") || o.has("backend"))
}

func readVLLM(b *builder, o object) error {
	c := b.serving(o, "vllm bench serve", "usage", "model_id", "dataset_name")
	values, err := vllmServing(o)
	if c.measured(o, values, err) {
		c.unmeasured(o, "ttft", "tpot", "itl", "e2el", "e2el_including_client_queue")
		c.latency(source{"client_queue_time", "schedule_delay", 1, true}, func(key string) []byte { return o[key+"_client_queue_time_ms"] })
	}
	return nil
}
