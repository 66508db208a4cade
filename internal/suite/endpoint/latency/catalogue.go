package latency

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
)

// row is a metric as it is gated by default. never means that no gate may rest
// on it: it describes the measurement and is no quality of the server.
type row struct {
	bench.Metric
	never bool
}

var catalogue = slices.Concat(latencyRows(), plainRows)

const answered = ", of measured requests that were answered"

// plainRows are the metrics that are no percentiles of a latency.
var plainRows = []row{
	rate("throughput_tok_per_s", "tok/s", true, "output tokens inside the window / its length; a request's n_out are spread evenly "+
		"over its content chunks; warm-up and cancelled requests count, failed ones do not"),
	rate("input_tok_per_s", "tok/s", false, "prompt tokens of answers whose t_eof is inside the window / its length"),
	rate("inputs_per_s", "input/s", true,
		"texts, documents or recordings of answers that come as a whole and whose t_eof is inside the window / its length"),
	rate("audio_s_per_s", "s/s", false, "length of the recordings of such answers, where it is known / length of the window"),
	rate("req_per_s_all", "req/s", false, "answers whose t_eof is inside the window / its length"),
	rate("req_per_s_passing", "req/s", false, "answers that meet every SLO and whose t_eof is inside the window / its length"),
	rate("goodput_at_slo", "req/s", false, "the same as req_per_s_passing, by the name that suites declare"),
	rate("ok_rate", "", true, "n_ok / n_total"),
	rate("compliance_rate", "", false, "measured answers that meet every SLO / n_total"),
	cost("joules_per_token", "J/token", true, "energy_joules_total / output_tokens_total"),
	cost("joules_per_token_net", "J/token", false, "energy in the window less that of idle devices / output_tokens_total"),
	cost("cost_usd_per_million_tokens", "USD/1M tokens", false,
		"the declared price, or that of an hour / output tokens an hour at throughput_tok_per_s"),
	fact("power_avg_w", "W", bench.Lower, "mean power of the declared devices in the window"),
	fact("power_peak_w", "W", bench.Lower, "highest power that was read in the window"),
	fact("energy_joules_total", "J", bench.Lower, "energy of the declared devices in the window"),
	fact("cached_token_rate", "", bench.Higher, "cached prompt tokens / prompt tokens"+answered+" with both counts"),
	fact("output_tokens_total", "", bench.Higher, "output tokens inside the window, counted as for throughput_tok_per_s"),
	fact("n_ok", "", bench.Higher, "measured requests that were answered"),
	fact("n_total", "", bench.Higher, "measured requests that were not cancelled"),
	fact("n_cancelled", "", bench.Higher, "measured requests that the end of the measurement cut"),
	fact("n_in_flight_max", "", bench.Higher, "most requests between t_send and t_eof at once, warm-up included"),
	fact("n_input_tokens_p50", "", bench.Higher, "p50 of prompt tokens"+answered),
	fact("n_output_tokens_p50", "", bench.Higher, "p50 of n_out"+answered),
	cost("retries_conn", "", false, "measured requests that a reused connection failed before any byte and that were sent again"),
	fact("duration_s", "s", bench.Higher, "length of the window"),
}

func rate(name, unit string, gated bool, definition string) row {
	return row{Metric: bench.Metric{Name: name, Unit: unit, Better: bench.Higher, Informational: !gated, Definition: definition}}
}

func cost(name, unit string, gated bool, definition string) row {
	return row{Metric: bench.Metric{Name: name, Unit: unit, Better: bench.Lower, Informational: !gated, Definition: definition}}
}

func fact(name, unit string, better bench.Direction, definition string) row {
	return row{bench.Metric{Name: name, Unit: unit, Better: better, Informational: true, Definition: definition}, true}
}

// gatedLatencies are gated by default, the percentiles above the median only
// where enough requests were answered.
var gatedLatencies = []string{"ttft_p50_ms", "ttft_p99_ms", "tpot_p50_ms", "tpot_p99_ms", "answer_p50_ms", "total_p99_ms"}

func latencyRows() []row {
	var rows []row
	add := func(l latency, name, statistic string, n int) {
		r := row{bench.Metric{Name: name, Unit: "ms", Better: bench.Lower, Informational: !slices.Contains(gatedLatencies, name),
			Definition: statistic + " of " + l.definition}, l.never}
		if n > 0 {
			r.CountedBy, r.MinCount = "n_ok", int32(n)
		}
		rows = append(rows, r)
	}
	for _, l := range append(slices.Clone(latencies), gapLatency, delayLatency) {
		if l.mean {
			add(l, l.name+"_mean_ms", "mean", 0)
		}
		for _, p := range l.percentiles {
			n := 0
			if p > 50 {
				n = minCount(float64(p) / 100)
			}
			add(l, percentileName(l.name, p), fmt.Sprintf("p%d", p), n)
		}
	}
	return rows
}

func percentileName(latency string, p int) string { return fmt.Sprintf("%s_p%d_ms", latency, p) }

// Metrics returns the full catalogue: every metric that Compute can yield, in
// its order. gated names those that a gate rests on; all others are
// informational. Without names, the default holds. A 95th percentile needs 72
// answers to be gated and a 99th 368, the least of which a two-sided interval
// of 95 % exists. It is an error to gate what does not exist or what describes
// the measurement only.
func Metrics(gated ...string) ([]bench.Metric, error) {
	for _, name := range gated {
		if err := mayGate(name); err != nil {
			return nil, err
		}
	}
	metrics := make([]bench.Metric, len(catalogue))
	for i, r := range catalogue {
		metrics[i] = r.Metric
		if len(gated) > 0 {
			metrics[i].Informational = !slices.Contains(gated, r.Name)
		}
	}
	return metrics, nil
}

func mayGate(name string) error {
	i := slices.IndexFunc(catalogue, func(r row) bool { return r.Name == name })
	switch {
	case i < 0:
		return fmt.Errorf("no metric of a serving benchmark is called %.80q: name one that a report lists, such as tpot_p50_ms", name)
	case catalogue[i].never:
		return fmt.Errorf("%s describes the measurement and cannot be gated: take it out of the gated metrics", name)
	}
	return nil
}
