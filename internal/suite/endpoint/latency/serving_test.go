package latency_test

import (
	"math"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
	"github.com/accelgate/accelgate/internal/suite/endpoint/load"
	"github.com/accelgate/accelgate/internal/suite/endpoint/openai"
)

func near(got, want float64) bool { return math.Abs(got-want) <= 1e-9*max(1, math.Abs(want)) }

// TestDefinitions computes by hand what a handful of requests amounts to.
func TestDefinitions(t *testing.T) {
	t.Parallel()
	warm := answer(0, 0, 50*ms, 10*ms, 6) // tokens at 51, 61 .. 101 ms: one inside the window
	warm.Phase = load.Warmup
	cut := answer(4, 400*ms, 50*ms, 10*ms, 20) // tokens at 451, 461 .. 491 are the 5 inside
	cut.Reply.Outcome, cut.Reply.Source = openai.Cancelled, openai.FromChunks
	slow := answer(2, 200*ms, 100*ms, 20*ms, 6) // tokens at 301 .. 401
	slow.Reply.Retried, slow.Reply.CachedTokens = true, 5
	broken := answer(3, 300*ms, 10*ms, ms, 9) // of no use to anybody
	broken.Reply.Outcome = openai.ResetMidstream
	one := answer(1, 100*ms, 50*ms, 0, 1) // token at 151

	got := values(latency.Compute(latency.Input{
		Observations: []latency.Observation{warm, one, slow, broken, cut},
		Window:       load.Window{Start: 100 * ms, End: 500 * ms},
		SLO:          latency.SLO{TTFT: 100 * ms, TPOT: 15 * ms},
		Energy:       &latency.Energy{Joules: 26, NetJoules: 13, AverageW: 65, PeakW: math.NaN()},
		USDPerHour:   9,
	}))
	for name, want := range map[string]float64{
		"ttft_p50_ms": 75, "ttft_p99_ms": 99.5, "ttft_mean_ms": 75, "ttft_sched_p50_ms": 76, "ttfc_p50_ms": 75, "ttft_content_p50_ms": 75,
		"tpot_p50_ms": 20, "tpot_p99_ms": 20, // one token has none
		"total_p50_ms": 126, "e2e_p50_ms": 126, "e2e_p95_ms": 51 + .95*150, "e2e_sched_p50_ms": 127,
		"icl_p50_ms": 20, "schedule_delay_p50_ms": 1, "schedule_delay_p99_ms": 1,
		"output_tokens_total": 13, "throughput_tok_per_s": 13 / .4, "duration_s": .4,
		// t_eof of warm, one and slow is inside; slow misses the TPOT.
		"req_per_s_all": 3 / .4, "req_per_s_passing": 2 / .4, "goodput_at_slo": 2 / .4, "input_tok_per_s": 150 / .4,
		"ok_rate": 2. / 3, "compliance_rate": 1. / 3, "n_ok": 2, "n_total": 3, "n_cancelled": 1, "retries_conn": 1,
		"n_in_flight_max": 2, "n_input_tokens_p50": 50, "n_output_tokens_p50": 3.5, "cached_token_rate": .1,
		"energy_joules_total": 26, "joules_per_token": 2, "joules_per_token_net": 1, "power_avg_w": 65,
		"cost_usd_per_million_tokens": 9 / (13 / .4 * 3600) * 1e6,
	} {
		if v, there := got[name]; !there || !near(v, want) {
			t.Errorf("%s = %v (present: %t), want %v", name, v, there, want)
		}
	}
	if v, there := got["power_peak_w"]; there {
		t.Errorf("power_peak_w = %v though it was not measured", v)
	}
}

func TestEdges(t *testing.T) {
	t.Parallel()
	window := load.Window{Start: 0, End: time.Second}
	oneToken := []latency.Observation{answer(0, 0, 10*ms, 0, 1)}
	noFirst := []latency.Observation{answer(0, 0, 10*ms, ms, 5)}
	noFirst[0].Reply.First, noFirst[0].Reply.FirstChunk = 0, 0
	backwards := []latency.Observation{answer(0, time.Second, 10*ms, ms, 5)}
	backwards[0].Reply.First, backwards[0].Reply.Last, backwards[0].Reply.EOF = 5*ms, 4*ms, 3*ms
	failed := []latency.Observation{failure(0, 0, openai.Connect), failure(1, 0, openai.HTTP5xx)}
	cutAll := []latency.Observation{failure(0, 0, openai.Cancelled)}
	for name, test := range map[string]struct {
		in              latency.Input
		absent, present string
		warning         string
	}{
		"no requests":   {latency.Input{Window: window}, "ok_rate throughput_tok_per_s ttft_p50_ms", "n_ok n_total duration_s", "0 of 0"},
		"nothing":       {latency.Input{}, "ok_rate throughput_tok_per_s ttft_p50_ms duration_s", "n_ok", "window that was measured is empty"},
		"all failed":    {latency.Input{Observations: failed, Window: window}, "ttft_p50_ms tpot_p50_ms joules_per_token", "ok_rate throughput_tok_per_s", "0 of 2"},
		"all cancelled": {latency.Input{Observations: cutAll, Window: window}, "ok_rate ttft_p50_ms", "n_cancelled", "cut 100 %"},
		"one token":     {latency.Input{Observations: oneToken, Window: window}, "tpot_p50_ms tpot_mean_ms icl_p50_ms", "ttft_p50_ms", "1 of 1"},
		"no window":     {latency.Input{Observations: oneToken}, "throughput_tok_per_s req_per_s_all", "ttft_p50_ms ok_rate", "window"},
		"no first":      {latency.Input{Observations: noFirst, Window: window}, "ttft_p50_ms ttfc_p50_ms tpot_p50_ms", "e2e_p50_ms", ""},
		"backwards":     {latency.Input{Observations: backwards, Window: window}, "ttft_p50_ms tpot_p50_ms e2e_p50_ms ttft_sched_p50_ms", "ok_rate", ""},
		"no energy": {latency.Input{Observations: oneToken, Window: window, Energy: &latency.Energy{Joules: 0, NetJoules: -1, AverageW: math.NaN()}},
			"energy_joules_total joules_per_token joules_per_token_net power_avg_w power_peak_w", "ok_rate", ""},
		"no SLO": {latency.Input{Observations: oneToken, Window: window}, "compliance_rate goodput_at_slo req_per_s_passing cost_usd_per_million_tokens", "ok_rate", ""},
		"inverted window": {latency.Input{Observations: oneToken, Window: load.Window{Start: time.Second}},
			"throughput_tok_per_s duration_s", "ttft_p50_ms", "window"},
	} {
		out := latency.Compute(test.in)
		got := values(out)
		for absent := range strings.FieldsSeq(test.absent) {
			if v, there := got[absent]; there {
				t.Errorf("%s: %s = %v, want none", name, absent, v)
			}
		}
		for present := range strings.FieldsSeq(test.present) {
			if _, there := got[present]; !there {
				t.Errorf("%s: no %s", name, present)
			}
		}
		if !strings.Contains(strings.Join(out.Warnings, "\n"), test.warning) {
			t.Errorf("%s: warnings %q lack %q", name, out.Warnings, test.warning)
		}
		valid(t, out)
	}
}

// valid checks that a run with these samples can be written and read.
func valid(t *testing.T, out latency.Output) {
	t.Helper()
	r := bench.Result{Cell: bench.Cell{Raw: "case"}, Outcome: bench.Passed, Samples: out.Samples, Counts: out.Counts, Warnings: out.Warnings}
	if err := r.Validate(); err != nil {
		t.Error(err)
	}
	metrics, _ := latency.Metrics()
	for _, s := range out.Samples {
		if !slices.ContainsFunc(metrics, func(m bench.Metric) bool { return m.Name == s.Metric }) {
			t.Errorf("%s is not in the catalogue", s.Metric)
		}
		if len(s.Values) != 1 || len(s.Estimates) == 1 && (s.Estimates[0].Low > s.Values[0] || s.Estimates[0].High < s.Values[0]) {
			t.Errorf("%s: values %v, estimates %+v", s.Metric, s.Values, s.Estimates)
		}
	}
}

// TestSLO judges an answer with a TTFT of 10 ms, a TPOT of 2 ms and an end
// after 15 ms. Limits are inclusive.
func TestSLO(t *testing.T) {
	t.Parallel()
	late := answer(0, 0, 10*ms, 2*ms, 3)
	late.Reply.First = 0 // a latency that is unknown keeps no limit
	for _, test := range []struct {
		slo  latency.SLO
		o    latency.Observation
		want float64
	}{
		{latency.SLO{TTFT: 10 * ms, TPOT: 2 * ms, E2E: 15 * ms}, answer(0, 0, 10*ms, 2*ms, 3), 1},
		{latency.SLO{TTFT: 10*ms - 1}, answer(0, 0, 10*ms, 2*ms, 3), 0},
		{latency.SLO{TPOT: 2*ms - 1}, answer(0, 0, 10*ms, 2*ms, 3), 0},
		{latency.SLO{E2E: 15*ms - 1}, answer(0, 0, 10*ms, 2*ms, 3), 0},
		{latency.SLO{TPOT: 1}, answer(0, 0, 10*ms, 0, 1), 1},
		{latency.SLO{TTFT: time.Hour}, late, 0},
		{latency.SLO{TPOT: time.Hour}, failure(0, 0, openai.Connect), 0},
	} {
		in := measure([]latency.Observation{test.o})
		in.SLO = test.slo
		if got, there := values(latency.Compute(in))["compliance_rate"]; !there || got != test.want {
			t.Errorf("%+v: %v of the answers comply, want %v", test.slo, got, test.want)
		}
	}
}

// TestOneAfterAnother sends each request when the one before has ended.
func TestOneAfterAnother(t *testing.T) {
	t.Parallel()
	var observations []latency.Observation
	for i := range 5 {
		observations = append(observations, answer(i, time.Duration(i)*15*ms, 10*ms, 2*ms, 3))
	}
	if got := values(latency.Compute(measure(observations)))["n_in_flight_max"]; got != 1 {
		t.Errorf("%v requests in flight at once, want 1", got)
	}
}

func TestWarnings(t *testing.T) {
	t.Parallel()
	each := func(change func(i int, o *latency.Observation)) []latency.Observation {
		var observations []latency.Observation
		for i := range 60 {
			o := answer(i, time.Duration(i)*100*ms, 50*ms, 5*ms, 10)
			change(i, &o)
			observations = append(observations, o)
		}
		return observations
	}
	for want, observations := range map[string][]latency.Observation{
		"":                   each(func(int, *latency.Observation) {}),
		"by chunks":          each(func(_ int, o *latency.Observation) { o.Reply.Source = openai.FromChunks }),
		"not a time between": each(func(_ int, o *latency.Observation) { o.Reply.OutputTokens, o.Reply.StreamedTokens = 40, 40 }),
		"not streamed":       each(func(_ int, o *latency.Observation) { o.Reply.OutputTokens = 110 }),
		"arrived together":   each(func(_ int, o *latency.Observation) { o.Reply.Reads = []int32{0, 0, 0, 0, 1, 2, 3, 4, 5, 6} }),
		"the first text":     each(func(_ int, o *latency.Observation) { o.Reply.FirstChunk -= 20 * ms }),
		"server's cache":     each(func(_ int, o *latency.Observation) { o.Reply.CachedTokens = 40 }),
		"wait in its queue":  each(func(_ int, o *latency.Observation) { o.Reply.ServerPromptMS = 5 }),
		"ever longer":        each(func(i int, o *latency.Observation) { o.Due -= time.Duration(i) * 50 * ms }),
		"cut 50 % of the req": each(func(i int, o *latency.Observation) {
			o.Reply.Outcome = []openai.Outcome{openai.OK, openai.Cancelled}[i%2]
		}),
	} {
		out := latency.Compute(measure(observations))
		if want == "" && len(out.Warnings) > 0 {
			t.Errorf("warnings of a good run: %q", out.Warnings)
		}
		if want != "" && (len(out.Warnings) != 1 || !strings.Contains(out.Warnings[0], want)) {
			t.Errorf("warnings %q, want one with %q", out.Warnings, want)
		}
		if token := want != "by chunks" && want != "not a time between"; out.ICLTokenLevel != token {
			t.Errorf("%s: ICL at token level: %t", want, out.ICLTokenLevel)
		}
	}
}

func TestClientLimited(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]latency.Client{
		"":                         {ScheduleDelayP50: 2 * ms, ScheduleDelayP99: time.Second, CPUShare: .8, GCPauseMax: time.Second, WakeDelayP50: 2 * ms, WakeDelayP99: time.Second},
		"late by more than 2.1 ms": {ScheduleDelayP50: 2100 * time.Microsecond},
		"for a processor for more than 3 ms, and 2 ms": {WakeDelayP50: 3 * ms},
		"9 ms, and 8 ms are the limit":                 {Limit: 8 * ms, WakeDelayP50: 9 * ms},
		"90 % of its processors":                       {CPUShare: .9, Capped: true, ScheduleDelayP50: time.Second},
	} {
		if got := latency.ClientLimited(c); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("ClientLimited(%+v) = %q, want %q", c, got, want)
		}
	}
}

// TestTailLimited: a client that is late one time in a hundred, as on a host that
// also serves, makes high percentiles doubtful and no median.
func TestTailLimited(t *testing.T) {
	t.Parallel()
	for want, c := range map[string]latency.Client{
		"":                         {ScheduleDelayP99: 2 * ms, GCPauseMax: 5 * ms, WakeDelayP99: 2 * ms, CPUShare: math.NaN()},
		"late by more than 2.1 ms": {ScheduleDelayP99: 2100 * time.Microsecond},
		"for a processor for more than 4 ms, and 2 ms": {WakeDelayP99: 4 * ms},
		"9 ms, and 8 ms are the limit":                 {Limit: 8 * ms, WakeDelayP99: 9 * ms},
		"for 6 ms":                                     {GCPauseMax: 6 * ms},
	} {
		if got := latency.TailLimited(c); !strings.Contains(got, want) || (got == "") != (want == "") {
			t.Errorf("TailLimited(%+v) = %q, want %q", c, got, want)
		}
	}
	for metric, want := range map[string]bool{"ttft_p99_ms": true, "total_p99_ms": true, "ttft_p50_ms": false, "throughput_tok_per_s": false, "ok_rate": false} {
		if latency.Tail(metric) != want {
			t.Errorf("%s is of the tail: %v", metric, !want)
		}
	}
}
