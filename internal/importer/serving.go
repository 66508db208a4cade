package importer

import "strings"

// The load generators of vLLM (vllm bench serve --save-result) and SGLang
// (sglang.bench_serving --output-file) have the same members, and a first
// token that is another event: vLLM stamps the first chunk with choices, which
// may hold a role and no text, SGLang the first text.

func isVLLM(o object) bool {
	return o.has("request_throughput", "completed") && (o.has("endpoint_type") || o.has("backend"))
}

func isSGLang(o object) bool {
	return o.has("request_throughput") && o.has("total_output_tokens_retokenized")
}

func readVLLM(b *builder, o object) error {
	c := b.serving(o, "vllm bench serve", "usage", "model_id", "dataset_name")
	if !c.answers(o) {
		return nil
	}
	c.family(o, "ttft", "ttfc")
	c.family(o, "tpot", "tpot")
	c.family(o, "itl", "icl")
	c.family(o, "e2el", "e2e")
	c.family(o, "e2el_including_client_queue", "e2e_sched")
	c.family(o, "client_queue_time", "schedule_delay")
	return nil
}

// readSGLang takes a mean of 0 for a time that was not measured. Without
// streaming there is no first text, so the times after it are not what their
// names say either.
func readSGLang(b *builder, o object) error {
	c := b.serving(o, "sglang.bench_serving", "usage, else as many as were asked for", "model", "dataset_name")
	if !c.answers(o) {
		return nil
	}
	c.rates(o, source{"input_throughput", "input_tok_per_s", 1, false})
	c.family(o, "e2e_latency", "e2e")
	if v, ok, err := number(o["mean_ttft_ms"]); err == nil && ok && v == 0 {
		c.warn("ttft, tpot and itl were left out, because mean_ttft_ms is 0, which is no time: stream the answers")
		return nil
	}
	c.family(o, "ttft", "ttft")
	c.family(o, "tpot", "tpot")
	c.family(o, "itl", "icl")
	return nil
}

func (b *builder) serving(o object, tool, tokens, model, dataset string) *cell {
	concurrency := o.text("max_concurrency")
	rate := o.text("request_rate")
	if rate == "+Inf" || rate == "Infinity" {
		rate = "inf"
	}
	return b.cell(map[string]string{
		"model": o.first(model, "model_id"), "engine": o.text("backend"), "concurrency": concurrency, "rate": rate, "label": o.text("label"),
		"dataset": o.text(dataset), "burstiness": o.text("burstiness"), "num_prompts": o.text("num_prompts"),
		"random_input_len": o.text("random_input_len"), "random_output_len": o.text("random_output_len"),
		"random_range_ratio": o.text("random_range_ratio"), "client": tool, "token_source": tokens,
	})
}

// answers adds ok_rate and the rates and reports whether there was any answer.
// Files of before 2025 have num_prompts in place of failed, SGLang's neither.
func (c *cell) answers(o object) bool {
	ok, failed := count(o["completed"]), count(o["failed"])
	if prompts := count(o["num_prompts"]); failed < 0 && prompts >= 0 && ok >= 0 {
		failed = max(prompts-ok, 0)
	}
	c.requests(ok, failed)
	if ok == 0 && c.failed == "" {
		c.failed = "no request was answered: see in the server's log why"
	}
	if c.failed == "" {
		c.rates(o, source{"request_throughput", "req_per_s_all", 1, false}, source{"output_throughput", "throughput_tok_per_s", 1, false})
	}
	return c.failed == ""
}

// family adds the percentiles of median_NAME_ms, p99_NAME_ms and so on, unless
// its mean is 0: numpy's mean of nothing is written as 0.
func (c *cell) family(o object, name, metric string) {
	signed := metric == "schedule_delay"
	if v, ok, err := number(o["mean_"+name+"_ms"]); err == nil && ok && v == 0 && !signed {
		c.warn("mean_%s_ms is 0, so %s was left out: stream the answers, and ask for more than one token", name, strings.ToUpper(name))
		return
	}
	c.latency(source{name, metric, 1, signed}, func(key string) []byte { return o[key+"_"+name+"_ms"] })
}
