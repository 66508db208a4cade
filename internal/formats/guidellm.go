package formats

// isGuideLLM goes by the metrics of any of the benchmarks: the first may have
// failed.
func isGuideLLM(o object) bool {
	items, err := o.list("benchmarks")
	for _, item := range items {
		if metrics := (object{"b": item}).child("b", "metrics"); err == nil && metrics.has("time_to_first_token_ms") {
			return true
		}
	}
	return false
}

// guideTimes are the latencies by definition: its ITL is the rest of an
// answer per token after the first, which others call TPOT; its TPOT counts
// the first token too.
var guideTimes = []source{
	{"time_to_first_token_ms", "ttft", 1, false},
	{"time_to_first_output_token_ms", "ttft_content", 1, false},
	{"inter_token_latency_ms", "tpot", 1, false},
	{"time_per_output_token_ms", "tpot_incl_first", 1, false},
	{"request_latency", "e2e", 1000, false}, // s
}

// guideRates are means over the time of the measurement.
var guideRates = []source{
	{"requests_per_second", "req_per_s_all", 1, false},
	{"output_tokens_per_second", "throughput_tok_per_s", 1, false},
	{"prompt_tokens_per_second", "input_tok_per_s", 1, false},
}

func readGuideLLM(b *builder, o object) error {
	return o.benchmarks(func(one object) { readGuideBenchmark(b, o, one) })
}

func readGuideBenchmark(b *builder, o, one object) {
	strategy := one.child("config", "strategy")
	if strategy == nil {
		strategy = one.child("args", "strategy") // before 0.4
	}
	c := b.cell(map[string]string{
		"model":  o.first("args.model", "config.spec.backend.model", "args.backend_kwargs.model"),
		"client": client("guidellm", o.text("metadata", "guidellm_version")),
		"engine": o.text("args", "backend"), "strategy": strategy.first("kind", "type_"),
		"concurrency": strategy.first("streams", "max_concurrency"), "rate": strategy.text("rate"), "token_source": "usage, else chunks",
	})
	metrics := one.child("metrics")
	totals := metrics.child("request_totals")
	if totals == nil {
		totals = one.child("run_stats", "requests_made") // before 0.4
	}
	// Requests that the end of the window cut are neither answered nor failed.
	c.requests(count(totals["successful"]), count(totals["errored"]))
	if c.failed != "" {
		return
	}
	for _, s := range guideRates {
		c.add(s, metrics.child(s.key, "successful")["mean"])
	}
	for _, s := range guideTimes {
		d := metrics.child(s.key, "successful")
		p := d.child("percentiles")
		c.latency(s, func(key string) []byte {
			if raw, ok := p[key]; ok {
				return raw
			}
			return d[key]
		})
	}
}
