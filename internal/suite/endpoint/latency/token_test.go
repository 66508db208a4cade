package latency_test

import (
	"math"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// TestCachedRate has one answer whose counts can be, 10 of 50 tokens, and a
// second.
func TestCachedRate(t *testing.T) {
	t.Parallel()
	for name, test := range map[string]struct {
		prompt, cached int
		want           float64
	}{
		"all of the prompt":      {50, 50, .6},
		"none":                   {50, 0, .1},
		"not said":               {50, -1, .2},
		"more than the prompt":   {50, 51, .2},
		"far more":               {50, math.MaxInt, .2},
		"of no prompt":           {0, 0, .2},
		"of an unknown prompt":   {-1, 5, .2},
		"of an endless prompt":   {math.MaxInt, math.MaxInt, .2},
		"of a negative prompt":   {math.MinInt, math.MinInt, .2},
		"of an impossible 1<<31": {1 << 31, 1 << 31, .2},
	} {
		first, second := answer(0, 0, 50*ms, 5*ms, 10), answer(1, time.Second, 50*ms, 5*ms, 10)
		first.Reply.CachedTokens = 10
		second.Reply.PromptTokens, second.Reply.CachedTokens = test.prompt, test.cached
		got, there := values(latency.Compute(measure([]latency.Observation{first, second})))["cached_token_rate"]
		if !there || !near(got, test.want) {
			t.Errorf("%s: %v (present: %t), want %v", name, got, there, test.want)
		}
	}
}

// TestCappedLoop has requests that waited 2 s before they were sent: the gated
// latencies count from when they were due.
func TestCappedLoop(t *testing.T) {
	t.Parallel()
	var observations []latency.Observation
	for i := range 40 {
		o := answer(i, 2*time.Second+time.Duration(i)*100*ms, 50*ms, 10*ms, 10)
		o.Due -= 2 * time.Second
		o.Capped = true
		observations = append(observations, o)
	}
	in := measure(observations)
	in.SLO = latency.SLO{TTFT: time.Second}
	got := values(latency.Compute(in))
	for name, want := range map[string]float64{"ttft_p50_ms": 2051, "ttft_sched_p50_ms": 2051, "ttft_sched_p95_ms": 2051, "ttft_send_p50_ms": 50, "total_p99_ms": 2142,
		"e2e_sched_p95_ms": 2142, "compliance_rate": 0} {
		if !near(got[name], want) {
			t.Errorf("%s = %v, want %v", name, got[name], want)
		}
	}
}

// TestHiddenTokens has answers that count 100 tokens of hidden reasoning and
// stream 28, 10 ms apart, after a second of silence.
func TestHiddenTokens(t *testing.T) {
	t.Parallel()
	var observations []latency.Observation
	for i := range 40 {
		o := answer(i, time.Duration(i)*100*ms, time.Second, 10*ms, 28)
		o.Reply.OutputTokens = 128
		observations = append(observations, o)
	}
	out := latency.Compute(measure(observations))
	if got := values(out)["tpot_p50_ms"]; !near(got, 10) {
		t.Errorf("TPOT %v ms, want 10", got)
	}
	if out.StreamedShare != 28./128 || !out.ICLTokenLevel {
		t.Errorf("share %v, ICL at token level %t", out.StreamedShare, out.ICLTokenLevel)
	}
	for _, s := range out.Samples {
		marked := len(s.Estimates) > 0 && strings.HasSuffix(s.Estimates[0].Method, "over streamed tokens")
		if marked != strings.HasPrefix(s.Metric, "tpot_") {
			t.Errorf("%s: marked %t", s.Metric, marked)
		}
	}
}

// TestNotesAreOneWarning notes something of 20 answers out of 60.
func TestNotesAreOneWarning(t *testing.T) {
	t.Parallel()
	var observations []latency.Observation
	for i := range 60 {
		o := answer(i, time.Duration(i)*100*ms, 50*ms, 5*ms, 10)
		if i%3 == 1 {
			o.Reply.Note = "the server reports 99 output tokens where 10 were asked for"
		}
		observations = append(observations, o)
	}
	out := latency.Compute(measure(observations))
	const want = "20 of 60 answers report tokens that cannot be, which were ignored, " +
		"such as that the server reports 99 output tokens where 10 were asked for: correct"
	if len(out.Warnings) != 1 || !strings.HasPrefix(out.Warnings[0], want) {
		t.Errorf("warnings %q, want one that begins with %q", out.Warnings, want)
	}
}
