package formats

import (
	"cmp"
	"fmt"
	"slices"
)

// Output is what one process printed. Where a suite reads a result file,
// Stdout is that file.
type Output struct {
	Stdout, Stderr []byte
	Files          []File // of a folder of results, in place of Stdout
}

// Document decodes the output.
func (o Output) Document() *Document {
	d := newFolder(o.Files)
	if o.Files == nil {
		d = NewDocument(o.Stdout)
	}
	d.Log = o.Stderr
	return d
}

// Reading is what a Format found.
type Reading struct {
	Values []Value // by metric, each at most once
	// StdErrs are the standard errors that the program reports, by the metrics of Values;
	// at least 0.
	StdErrs   map[string]float64
	Answer    string
	HasAnswer bool
}

// Format understands the output of one foreign program as a whole. It returns a Reading without Values
// where the output holds nothing of the format, and an error with the next step where the output holds
// something of it that cannot be used. It may be called by
// several goroutines at once and keeps nothing of the Output.
type Format func(Output) (Reading, error)

// Outputs are the programs whose output is understood, by the name that a
// suite's parser has. The map must not be changed.
//
// A metric has the same name only where it is the same quantity:
//
//	metric                 unit   what                                          llama-bench  vllm                      sglang
//	prefill_tps            tok/s  prompt tokens over the time they took         pp tests     -                         one_batch
//	decode_tps             tok/s  generated tokens over the time they took      tg tests     -                         one_batch (median step)
//	combined_tps           tok/s  both kinds over the time of both              pg tests     -                         -
//	throughput_tps         tok/s  generated tokens over the whole run           -            serve, throughput's text  serving, offline
//	input_throughput_tps   tok/s  prompt tokens over the whole run              -            -                         serving, offline
//	total_throughput_tps   tok/s  both kinds over the whole run                 -            serve, throughput         all three
//	request_rate_achieved  1/s    requests answered over the whole run          -            serve, throughput         serving, offline
//	request_goodput        1/s    of these, the ones within --goodput           -            serve                     -
//	ttfc_*                 ms     sent to first chunk with choices              -            serve ("TTFT")            -
//	ttft_*                 ms     sent to first chunk with text                 -            -                         serving
//	tpot_*                 ms     rest of the answer per token after the first  -            serve                     serving
//	itl_*                  ms     between chunks, all requests pooled           -            serve                     serving
//	e2e_*                  ms     sent to end of answer                         -            serve                     serving
//	e2e_queued_*           ms     the same from the intended arrival            -            serve                     -
//	latency_*              ms     one batch from prompts to last token          -            latency                   one_batch
//	prefill_ms             ms     prefill of one batch                          -            -                         one_batch
//	decode_step_ms         ms     one decoding step of a batch, median          -            -                         one_batch
//	accept_length          tok    tokens per speculative step                   -            serve                     serving
//	retokenized_ratio      -      generated text's tokens over those reported   -            -                         serving
//
// lm-eval, llama-perplexity, mlperf-loadgen, github-action-benchmark, customBiggerIsBetter,
// customSmallerIsBetter and bmf yield NAME.METRIC for each number of the file; NAME alone
// where it has one number, and METRIC alone where the file has one name.
//
// tensorsharp yields prefill_tps and decode_tps of one request, and
// model_load_ms.
//
// X_* are X_ms, the mean, and the percentiles X_p50_ms, X_p99_ms and so on that
// the program reports; its median is X_p50_ms. vLLM stamps its "TTFT" at the
// first chunk with choices, which may hold a role and no text, so it has a
// name of its own: real servers show 15 % between the two. Standard deviations
// inside a run are no metrics.
//
// The facts are those of llama.cpp's tools/llama-bench/llama-bench.cpp, vLLM's
// vllm/benchmarks/{serve,latency,throughput}.py and SGLang's
// bench_{serving,offline_throughput,one_batch}.py, all of 2025 and 2026.
var Outputs = outputs()

// maxMetrics bounds what a hostile program can make a report list.
const maxMetrics = 1024

// newReading orders the values by metric. Of several values of a metric, which
// a program has reported under two names, the first counts.
func newReading(values []Value) (Reading, error) {
	if len(values) > maxMetrics {
		return Reading{}, fmt.Errorf("result holds %d metrics, more than the %d allowed: report fewer percentiles or tests",
			len(values), maxMetrics)
	}
	slices.SortStableFunc(values, func(a, b Value) int { return cmp.Compare(a.Metric, b.Metric) })
	return Reading{Values: slices.CompactFunc(values, func(a, b Value) bool { return a.Metric == b.Metric })}, nil
}

// member describes under which name a member of a result is reported.
type member struct {
	key, metric string
	scale       float64 // 1000 from seconds to milliseconds
	mayBeZero   bool
}

// members returns the members that o has. A speed or a time of zero is an
// error: programs print it where nothing was measured.
func members(o object, table []member) (values []Value, err error) {
	for _, m := range table {
		v, ok, err := o.number(m.key)
		switch {
		case err != nil:
			return nil, fmt.Errorf("%w: see in the program's log why it could not measure", err)
		case !ok:
			continue
		case v < 0 || v == 0 && !m.mayBeZero:
			return nil, fmt.Errorf("%s is %v, so nothing was measured: see the program's log", m.key, v)
		}
		values = append(values, Value{m.metric, v * m.scale})
	}
	return values, nil
}
