package formats

import (
	"cmp"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// The load generators of vLLM (vllm bench serve --save-result) and SGLang
// (sglang.bench_serving --output-file) have the same members, and a first
// token that is another event: vLLM stamps the first chunk with choices, which
// may hold a role and no text, SGLang the first text.

// Their numbers are those of the other door, so that a file is read alike by a
// suite and by an import: what fails the cell there fails it here.

func (b *builder) serving(o object, tool, tokens, model, dataset string) *cell {
	concurrency := o.text("max_concurrency")
	rate := o.text("request_rate")
	if rate == "+Inf" || rate == "Infinity" {
		rate = "inf"
	}
	return b.cell(map[string]string{
		"model": o.first(model,
			"model_id"), "engine": o.text("backend"), "concurrency": concurrency, "rate": rate, "label": o.text("label"),
		"dataset": o.text(dataset), "burstiness": o.text("burstiness"), "num_prompts": o.text("num_prompts"),
		"random_input_len": o.text("random_input_len"), "random_output_len": o.text("random_output_len"),
		"random_range_ratio": o.text("random_range_ratio"), "client": tool, "token_source": tokens,
	})
}

// imported are the names that the metrics of the other door have here, where
// they differ. Of a latency only the percentiles are imported: its mean has the
// name of the whole family.
var imported = map[string]string{
	"throughput_tps":        "throughput_tok_per_s",
	"input_throughput_tps":  "input_tok_per_s",
	"request_rate_achieved": "req_per_s_all",
	"itl":                   "icl",
	"e2e_queued":            "e2e_sched",
}

// percentile is the name of one: "ttfc_p50_ms".
var percentile = lazyregexp.New(`^([a-z0-9_]+)_(p50|p90|p95|p99)_ms$`)

// measured adds ok_rate and the numbers that parse read, and reports whether
// there are any: err says why not.
func (c *cell) measured(o object, values []Value, err error) bool {
	ok, failed, _ := requests(o) // its error is part of err
	c.requests(float64(ok), float64(failed))
	if err != nil {
		c.refuse(err)
		return false
	}
	for _, v := range values {
		if name := imported[v.Metric]; name != "" {
			c.put(name, v.Value)
		} else if m := percentile.FindStringSubmatch(v.Metric); m != nil {
			c.put(cmp.Or(imported[m[1]], m[1])+"_"+m[2]+"_ms", v.Value)
		}
	}
	return true
}

// unmeasured warns of families that parse leaves out, because numpy's mean of
// nothing is written as 0.
func (c *cell) unmeasured(o object, families ...string) {
	for _, name := range families {
		if v, ok, err := number(o["mean_"+name+"_ms"]); err == nil && ok && v == 0 {
			c.warn("mean_%s_ms is 0, so %s was left out: stream the answers, and ask for more than one token", name, strings.ToUpper(name))
		}
	}
}
