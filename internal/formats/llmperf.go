package formats

import "strings"

// isLLMPerf reports the summary file, whose members are joined with "_", and the
// nested form that they are made of.
func isLLMPerf(o object) bool {
	return o.has("results_inter_token_latency_s_quantiles_p50") || o.child("results").has("inter_token_latency_s")
}

// llmperfTimes are in seconds. Its ITL is the time of a whole answer over its
// tokens, the first one's included.
var llmperfTimes = []source{
	{"ttft_s", "ttft", 1000, false},
	{"inter_token_latency_s", "e2e_per_token", 1000, false},
	{"end_to_end_latency_s", "e2e", 1000, false},
}

func readLLMPerf(b *builder, o object) error {
	at := func(path ...string) []byte {
		if raw, ok := o["results_"+strings.Join(path, "_")]; ok {
			return raw
		}
		last := len(path) - 1
		return o.child(append([]string{"results"}, path[:last]...)...)[path[last]]
	}
	c := b.cell(map[string]string{"model": o.text("model"), "client": "llmperf", "concurrency": o.text("num_concurrent_requests"),
		"mean_input_tokens": o.text("mean_input_tokens"), "mean_output_tokens": o.text("mean_output_tokens"),
		"token_source": "one tokenizer for all models"})
	started, failed := count(at("num_requests_started")), count(at("number_errors"))
	ok := started - failed
	if started < 0 || failed < 0 {
		ok = -1
	}
	c.requests(ok, failed)
	if c.failed != "" {
		return nil
	}
	c.add(source{"mean_output_throughput_token_per_s", "throughput_tok_per_s", 1, false}, at("mean_output_throughput_token_per_s"))
	c.add(source{"num_completed_requests_per_min", "req_per_s_all", 1. / 60, false}, at("num_completed_requests_per_min"))
	for _, s := range llmperfTimes {
		c.latency(s, func(key string) []byte { return at(s.key, "quantiles", key) })
	}
	return nil
}
