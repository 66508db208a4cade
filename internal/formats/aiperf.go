package formats

// isAIPerf reports whether the file is profile_export_aiperf.json or, of the same form,
// profile_export_genai_perf.json.
func isAIPerf(o object) bool {
	return aiperfMetrics(o).child("request_latency").has("unit") || aiperfMetrics(o).child("time_to_first_token").has("unit")
}

// aiperfMetrics stand at the top, in some versions in records.
func aiperfMetrics(o object) object {
	if records := o.child("records"); records != nil {
		return records
	}
	return o
}

// aiperfTimes are the latencies by definition. The first token is the first
// response that could be parsed, with text or without; ITL is the rest of an
// answer per token after the first.
var aiperfTimes = []source{
	{"time_to_first_token", "ttfc", 1, false},
	{"time_to_first_output_token", "ttft_content", 1, false},
	{"inter_token_latency", "tpot", 1, false},
	{"inter_chunk_latency", "icl", 1, false},
	{"request_latency", "e2e", 1, false},
}

var aiperfRates = []source{
	{"request_throughput", "req_per_s_all", 1, false},
	{"output_token_throughput", "throughput_tok_per_s", 1, false},
}

// milliseconds and perSecond are the units that are known.
var milliseconds = map[string]float64{"s": 1000, "sec": 1000, "ms": 1, "us": 1e-3, "ns": 1e-6}

var perSecond = map[string]float64{"requests/sec": 1, "tokens/sec": 1}

func readAIPerf(b *builder, o object) error {
	metrics := aiperfMetrics(o)
	tool, times := client("aiperf", o.text("aiperf_version")), aiperfTimes
	config := o.child("input_config")
	if !o.has("aiperf_version") && (config.has("perf_analyzer") || config.has("subcommand")) {
		// Its ITL divides each gap by the tokens of the response after it.
		tool, times = "genai-perf", append([]source{{"inter_token_latency", "itl_per_response", 1, false}}, aiperfTimes...)
	}
	c := b.cell(map[string]string{
		"model": aiperfModel(o), "client": tool, "token_source": "client's tokenizer",
		"engine":   o.first("input_config.backend", "input_config.endpoint.backend"),
		"endpoint": o.first("input_config.endpoint.type"),
		"concurrency": o.first("input_config.loadgen.concurrency", "input_config.concurrency",
			"input_config.perf_analyzer.stimulus.concurrency"),
		"rate": o.first("input_config.loadgen.request_rate", "input_config.request_rate",
			"input_config.perf_analyzer.stimulus.request_rate"),
		"dataset": o.first("input_config.input.public_dataset", "input_config.input.file"),
	})
	c.aiperfRequests(metrics)
	if c.failed != "" {
		return nil
	}
	for _, s := range aiperfRates {
		c.addUnit(s, metrics.child(s.key), perSecond)
	}
	seen := map[string]bool{}
	for _, s := range times {
		m := metrics.child(s.key)
		if m == nil || seen[s.key] {
			continue
		}
		seen[s.key] = true
		if s.scale = milliseconds[m.text("unit")]; s.scale == 0 {
			c.warn("%s is in %.40q, which is not known, and was left out: see the tool's documentation", s.key, m.text("unit"))
			continue
		}
		c.latency(s, func(key string) []byte { return m[key] })
	}
	return nil
}

func (c *cell) addUnit(s source, m object, units map[string]float64) {
	if m == nil {
		return
	}
	if s.scale = units[m.text("unit")]; s.scale == 0 {
		c.warn("%s is in %.40q, which is not known, and was left out: see the tool's documentation", s.key, m.text("unit"))
		return
	}
	raw, ok := m["avg"]
	if !ok {
		raw = m["value"]
	}
	c.add(s, raw)
}

// aiperfRequests: no count of errors beside a count of requests is none.
func (c *cell) aiperfRequests(metrics object) {
	ok := count(metrics.child("request_count")["avg"])
	failed := 0.0
	if metrics.has("error_request_count") {
		failed = count(metrics.child("error_request_count")["avg"])
	}
	c.requests(ok, failed)
}

func aiperfModel(o object) string {
	for _, path := range [][]string{{"input_config", "endpoint"}, {"input_config"}} {
		in := o.child(path...)
		for _, name := range []string{"model_names", "models", "model"} {
			if items, err := in.list(name); err == nil && len(items) == 1 {
				return object{"m": items[0]}.text("m")
			}
			if s := in.text(name); s != "" {
				return s
			}
		}
	}
	return ""
}
