package formats

import (
	"cmp"
	"errors"
	"maps"
	"slices"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// sglang reads the line that sglang.bench_serving (--output-file),
// bench_offline_throughput and bench_one_batch (--result-filename) append to
// their result file, and, where there is no JSON, what they print. Seconds
// become milliseconds. A request_rate of Infinity, which SGLang writes bare, is
// not looked at.
//
// The tokens of throughput_tps are those that the server reported, or, where
// it reported none, those that were asked for; retokenized_ratio is far from 1
// where they are not what was generated.
func sglang(out Output) (Reading, error) {
	return oneResult(out.Stdout, sglangReader, sglangLines, "result files are appended to, so give each run a file of its own, "+
		"and run one batch size, input and output length in each cell", "Serving Benchmark Result", "Offline Throughput Benchmark Result")
}

func sglangReader(o object) func(object) ([]Value, error) {
	switch {
	case o.has("prefill_throughput"):
		return sglangBatch
	case o.has("request_throughput"):
		return sglangServing
	}
	return nil
}

// isSGLangServing goes by what no other load generator counts.
func isSGLangServing(o object) bool {
	return o.has("total_output_tokens_retokenized") || o.has("total_output_retokenized")
}

// sglangServing returns the metrics of a result of bench_serving or of
// bench_offline_throughput, which has a subset of its members, by the names in
// [Formats]. A result of which a request failed is an error, as in
// [vllmServing]. A mean TTFT of 0 means that the answers were not streamed, so
// that TTFT, TPOT and ITL were not measured.
func sglangServing(result object) ([]Value, error) {
	o := maps.Clone(result)
	if n, offline := o["successful_requests"]; offline {
		o["completed"] = n
	}
	if !isSGLangServing(o) && !o.has("input_throughput") || o.has("endpoint_type") {
		return nil, errors.New("the result is of vllm bench serve, whose first token is another event: write parser: vllm")
	}
	if err := succeeded(o); err != nil {
		return nil, err
	}
	values, err := members(o, []member{
		{key: "request_throughput", metric: "request_rate_achieved", scale: 1},
		{key: "input_throughput", metric: "input_throughput_tps", scale: 1},
		{key: "output_throughput", metric: "throughput_tps", scale: 1},
		{key: "total_throughput", metric: "total_throughput_tps", scale: 1},
		{key: "total_token_throughput", metric: "total_throughput_tps", scale: 1}, // in the table
		{key: "accept_length", metric: "accept_length", scale: 1, mayBeZero: true},
	})
	if err != nil {
		return nil, err
	}
	families := map[string]string{"ttft": "ttft", "tpot": "tpot", "itl": "itl", "e2e_latency": "e2e"}
	if v, ok, err := o.number("mean_ttft_ms"); err == nil && ok && v == 0 {
		families = map[string]string{"e2e_latency": "e2e"}
	}
	times, err := latencies(o, families)
	if err != nil {
		return nil, err
	}
	ratio, err := retokenized(o)
	return slices.Concat(values, times, ratio), err
}

func retokenized(o object) ([]Value, error) {
	counted, _, err1 := o.count("total_output_tokens")
	again, ok, err2 := o.count("total_output_tokens_retokenized")
	if err := cmp.Or(err1, err2); err != nil || !ok || counted == 0 {
		return nil, err
	}
	return []Value{{"retokenized_ratio", float64(again) / float64(counted)}}, nil
}

func sglangBatch(o object) ([]Value, error) {
	return members(o, []member{
		{key: "prefill_throughput", metric: "prefill_tps", scale: 1},
		{key: "median_decode_throughput", metric: "decode_tps", scale: 1},
		{key: "overall_throughput", metric: "total_throughput_tps", scale: 1},
		{key: "prefill_latency", metric: "prefill_ms", scale: 1000},
		{key: "median_decode_latency", metric: "decode_step_ms", scale: 1000},
		{key: "total_latency", metric: "latency_ms", scale: 1000},
	})
}

// The lines that bench_one_batch prints, for its warm-up too, which warmedUp
// ends.
var (
	warmedUp    = lazyregexp.New(`(?m)^Benchmark \.\.\.\s*$`)
	prefillLine = lazyregexp.New(`(?m)^Prefill\. latency: +(\S+) s, throughput: +(\S+) token/s\s*$`)
	decodeLine  = lazyregexp.New(`(?m)^Decode\. +median latency: +(\S+) s, median throughput: +(\S+) token/s\s*$`)
	totalLine   = lazyregexp.New(`(?m)^Total\. latency: +(\S+) s, throughput: +(\S+) token/s\s*$`)
)

func sglangLines(text []byte) (found []object) {
	end := warmedUp.FindIndex(text)
	if end == nil {
		return nil
	}
	measured := text[end[1]:]
	for range prefillLine.FindAllIndex(measured, maxMetrics) {
		found = append(found, object{})
	}
	if len(found) != 1 {
		return found
	}
	add := func(re *lazyregexp.Regexp, latency, throughput string) {
		if m := re.FindSubmatch(measured); m != nil {
			found[0][latency], found[0][throughput] = scalar(string(m[1])), scalar(string(m[2]))
		}
	}
	add(prefillLine, "prefill_latency", "prefill_throughput")
	add(decodeLine, "median_decode_latency", "median_decode_throughput")
	add(totalLine, "total_latency", "overall_throughput")
	return found
}

func isSGLang(o object) bool {
	return o.has("request_throughput") && o.has("total_output_tokens_retokenized")
}

func readSGLang(b *builder, o object) error {
	c := b.serving(o, "sglang.bench_serving", "usage, else as many as were asked for", "model", "dataset_name")
	values, err := sglangServing(o)
	if c.measured(o, values, err) {
		c.unmeasured(o, "ttft", "tpot", "itl", "e2e_latency")
	}
	return nil
}
