package formats

import "errors"

// lifecycleTimes are the latencies of inference-perf, in seconds, by
// definition. Its ITL is between tokens that its own tokenizer cuts out of the
// chunks, of which those of one chunk are 0 apart.
var lifecycleTimes = []source{
	{"time_to_first_token", "ttft", 1000, false},
	{"time_per_output_token", "tpot", 1000, false},
	{"inter_token_latency", "itl_retokenized", 1000, false},
	{"normalized_time_per_output_token", "e2e_per_token", 1000, false},
	{"request_latency", "e2e", 1000, false},
}

// readInferencePerf reads the lifecycle metrics of a stage or of all.
func readInferencePerf(b *builder, o object) error {
	load, successes := o.child("load_summary"), o.child("successes")
	if !successes.has("throughput") && successes.has("rate") {
		return errors.New("these are Prometheus's metrics of the server, not the client's measurements: " +
			"give the file whose name ends in lifecycle_metrics.json")
	}
	c := b.cell(map[string]string{"client": "inference-perf", "token_source": "client's tokenizer",
		"rate": load.text("requested_rate"), "concurrency": load.text("concurrency")})
	c.requests(count(successes["count"]), count(o.child("failures")["count"]))
	if c.failed != "" {
		return nil
	}
	c.rates(successes.child("throughput"), source{"output_tokens_per_sec", "throughput_tok_per_s", 1, false},
		source{"input_tokens_per_sec", "input_tok_per_s", 1, false}, source{"requests_per_sec", "req_per_s_all", 1, false})
	for _, s := range lifecycleTimes {
		d := successes.child("latency", s.key)
		c.latency(s, func(key string) []byte { return d[key] })
	}
	delay := load.child("schedule_delay")
	c.latency(source{"schedule_delay", "schedule_delay", 1000, true}, func(key string) []byte { return delay[key] })
	return nil
}
