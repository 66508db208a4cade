package inferencebench

import (
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// rule describes which way the metrics improve whose whole name the pattern
// matches. The first rule that matches counts.
type rule struct {
	name   *lazyregexp.Regexp
	better bench.Direction
	gated  bool
}

func whole(pattern string) *lazyregexp.Regexp { return lazyregexp.New(`^(?:` + pattern + `)$`) }

// rules begin with what describes a measurement and is no quality of the
// engine. In a window of fixed length a faster engine draws more power and
// yields more tokens; delays of the schedule are the client's.
var rules = []rule{
	{whole(`power_.*_w|energy_joules_total|schedule_delay.*`), bench.Lower, false},
	{whole(`n_.*|.*_tokens_total|cached_token_rate|duration_s`), bench.Higher, false},
	{whole(`.*_tok_per_s|req_per_s.*|inputs_per_s|audio_s_per_s|goodput.*|max_(?:rate|concurrency)_at_slo`), bench.Higher, true},
	{whole(`(?:.*_)?(?:ok|compliance|accept|acceptance|pass|exact_match)_rate`), bench.Higher, true},
	{whole(`(?:accuracy|chrf|bleu|recall|mrr|ndcg|pass_at).*`), bench.Higher, true},
	{whole(`.*_ms|.*_latency.*|joules_per_.*|cost_.*|(?:.*_)?error_rate|wer.*|cer.*|timeout_rate|retries.*`), bench.Lower, true},
}

// Direction returns which way the named metric improves and whether a gate
// may rest on it, by the patterns of this package. Unknown names have known
// == false, and then d is [bench.Higher] and means nothing: no gate may pass
// or fail by them silently.
func Direction(name string) (d bench.Direction, gated, known bool) {
	name, _, ofModel := strings.Cut(name, "@") // a model's part of a mix
	for _, r := range rules {
		if r.name.MatchString(name) {
			return r.better, r.gated && !ofModel, true
		}
	}
	return bench.Higher, false, false
}

// OriginalDirection returns the direction that InferenceBench 0.1.0 gives the
// metric of exactly this name in its diff; ok is false for all others, of
// which it says nothing. It gates on power and energy, and has no
// percentiles other than its own.
func OriginalDirection(name string) (d bench.Direction, ok bool) {
	d, ok = original[name]
	return d, ok
}

var original = func() map[string]bench.Direction {
	table := map[string]bench.Direction{}
	add := func(d bench.Direction, names string) {
		for name := range strings.FieldsSeq(names) {
			table[name] = d
		}
	}
	add(bench.Lower, `ttft_p50_ms ttft_p99_ms tpot_p50_ms tpot_p99_ms total_p50_ms total_p99_ms
		joules_per_token cost_usd_per_million_tokens power_avg_w power_peak_w energy_joules_total
		wer_mean wer_p50 wer_p95 cer_mean cer_p50 cer_p95 timeout_rate`)
	add(bench.Higher, `throughput_tok_per_s req_per_s_passing req_per_s_all compliance_rate ok_rate goodput_at_slo
		accuracy accuracy_p05 accuracy_p50 accuracy_p95 recall_at_5_mean recall_at_5_p50 mrr_at_10_mean mrr_at_10_p50
		ndcg_at_10_mean ndcg_at_10_p50 chrf_mean chrf_p50 chrf_p95 bleu_mean bleu_p50 bleu_p95 exact_match_rate
		pass_at_1 pass_at_1_p05 pass_at_1_p50 pass_at_1_p95 pass_at_k pass_at_k_mean`)
	return table
}()

// units by the end of a metric's name; the first that fits counts.
var units = []struct{ suffix, unit string }{
	{"_ms", "ms"},
	{"_tok_per_s", "tok/s"},
	{"inputs_per_s", "input/s"},
	{"audio_s_per_s", "s/s"},
	{"_req_per_s", "req/s"},
	{"_w", "W"},
	{"_joules_total", "J"},
	{"joules_per_token", "J/token"},
	{"joules_per_token_net", "J/token"},
	{"_usd_per_million_tokens", "USD/1M tokens"},
	{"_s", "s"},
}

// Unit returns the unit that the name of a metric implies, or "".
func Unit(name string) string {
	name, _, _ = strings.Cut(name, "@")
	if strings.HasPrefix(name, "req_per_s") || name == "max_rate_at_slo" {
		return "req/s"
	}
	for _, u := range units {
		if strings.HasSuffix(name, u.suffix) {
			return u.unit
		}
	}
	return ""
}
