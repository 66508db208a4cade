package formats

import (
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// floats returns the numbers of the list o[name], which messages call label;
// ok is false, with a warning, if one of them is no number above minSpeed.
func (c *cell) floats(label string, o object, name string) (values []float64, ok bool) {
	if !o.has(name) {
		return nil, false
	}
	items, err := o.list(name)
	if err != nil {
		c.warn("%s was left out: %v", label, err)
		return nil, false
	}
	for _, item := range items {
		v, ok, err := number(item)
		if err != nil || !ok || !bench.Finite(v) || v < minSpeed {
			c.warn("%s holds %.40q, which no measurement yields, and was left out: measure again", label, item)
			return nil, false
		}
		values = append(values, v)
	}
	return values, len(values) > 0
}

// minSpeed keeps the reciprocal of a speed finite. No unit here makes a
// measured number smaller.
const minSpeed = 1e-9

func isBenchy(o object) bool {
	items, err := o.list("benchmarks")
	return err == nil && o.has("latency_mode") && len(items) > 0
}

// benchyRuns are measured once in each run, over all requests.
var benchyRuns = []source{
	{"tg_throughput", "decode_tok_per_s", 1, false},
	{"pp_throughput", "prefill_tok_per_s", 1, false},
	{"peak_throughput", "peak_tok_per_s", 1, false},
}

// benchyRequests are measured in each request.
var benchyRequests = []source{
	{"ttfr", "ttfc_p50_ms", 1, false},
	{"e2e_ttft", "ttft_p50_ms", 1, false},
	{"est_ppt", "prefill_est_ms", 1, false},
}

func readBenchy(b *builder, o object) error {
	return o.benchmarks(func(one object) { readBenchyCell(b, o, one) })
}

func readBenchyCell(b *builder, o, one object) {
	test := "pp" + one.text("prompt_size") + "+tg" + one.text("response_size")
	if depth := one.text("context_size"); depth != "" && depth != "0" {
		test += "@d" + depth
	}
	conditions := map[string]string{"model": o.text("model"), "test": test, "concurrency": one.text("concurrency"),
		"client": client("llama-benchy", o.text("version")), "latency_mode": o.text("latency_mode"),
		"prefix_caching": strings.Trim(string(o["prefix_caching_enabled"]), " \n"), "token_source": "usage, else the client's tokenizer"}
	if string(one["is_context_prefill_phase"]) == "true" {
		conditions["phase"] = "context-prefill"
	}
	if prefix := conditions["prefix_caching"]; prefix != "true" && prefix != "false" {
		delete(conditions, "prefix_caching")
	}
	c := b.cell(conditions)
	c.ok = enoughForP99 // there is no p99
	runs := 0
	for _, s := range benchyRuns {
		if values, ok := c.floats(s.key, one.child(s.key), "values"); ok {
			c.put(s.metric, values...)
			runs = max(runs, len(values))
		}
	}
	for _, s := range benchyRequests {
		if values, ok := c.floats(s.key, one.child(s.key), "values"); ok {
			c.put(s.metric, perRun(c, s.key, values, runs)...)
		}
	}
	if values, ok := c.floats("tg_req_throughput", one.child("tg_req_throughput"), "values"); ok {
		for i, v := range values {
			values[i] = 1000 / v // (last - first) / (n - 1)
		}
		c.put("tpot_p50_ms", perRun(c, "tg_req_throughput", values, runs)...)
	}
}

// perRun returns the median over the requests of each run, which stand one run
// after another: the requests of a run are not independent, so a run is one
// value.
func perRun(c *cell, key string, values []float64, runs int) []float64 {
	if runs == 0 || len(values)%runs != 0 {
		c.warn("%s has %s in %s, so only their median is one value: see whether requests failed",
			key, text.Plural(len(values), "value"), text.Plural(runs, "run"))
		return []float64{stats.Median(values)}
	}
	size := len(values) / runs
	medians := make([]float64, 0, runs)
	for run := range slices.Chunk(values, size) {
		medians = append(medians, stats.Median(run))
	}
	return medians
}
