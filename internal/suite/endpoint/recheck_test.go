package endpoint

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

func rechecked(t *testing.T, text string, r *bench.Result) (unverified string) {
	t.Helper()
	check, err := recheck(suiteOf(t, "accelgate.yaml", text))
	if err != nil {
		t.Fatal(err)
	}
	if unverified, err = check(r); err != nil {
		t.Fatal(err)
	}
	return unverified
}

// TestRecheck: what a run recorded is held against the judge's min_ok_rate and slo.
func TestRecheck(t *testing.T) {
	sample := func(metric string, values ...float64) bench.Sample {
		return bench.Sample{Metric: metric, Values: values}
	}
	counts := func(ok, all float64) []bench.Sample {
		return []bench.Sample{sample("n_ok", 100, ok), sample("n_total", 100, all)}
	}
	strict := map[string]string{"slo": "ttft<=1s"}
	standard := map[string]string{"slo_template": "llm.standard", "slo_hardware_class": "h100", "slo": "ttft<=200ms tpot<=50ms e2e<=3s"}
	for name, c := range map[string]struct {
		body    string
		samples []bench.Sample
		context map[string]string
		failed  string // reason, "" passes
		warning string
	}{
		"all answered":             {"slo: {ttft: 1s}", counts(100, 100), strict, "", ""},
		"as many as allowed":       {"slo: {ttft: 1s}", counts(95, 100), strict, "", ""},
		"too few":                  {"slo: {ttft: 1s}", counts(94, 100), strict, "94 of 100 requests were answered, and min_ok_rate is 0.95", ""},
		"none":                     {"min_ok_rate: 0.01", counts(0, 0), nil, "0 of 0 requests were answered", ""},
		"fewer, as configured":     {"min_ok_rate: 0.5", counts(60, 100), nil, "", ""},
		"no counts":                {"slo: {ttft: 1s}", nil, strict, "recorded no counts of requests", ""},
		"half of the counts":       {"slo: {ttft: 1s}", []bench.Sample{sample("n_ok", 1, 1), sample("n_total", 1)}, strict, "recorded no counts of requests", ""},
		"a looser limit":           {"slo: {ttft: 1s}", counts(100, 100), map[string]string{"slo": "ttft<=1m0s"}, "", `by the limits "ttft<=1m0s", and those of the configuration are "ttft<=1s"`},
		"no limit":                 {"slo: {ttft: 1s}", counts(100, 100), nil, "", `by the limits ""`},
		"of the host's class":      {"slo: llm.standard", counts(100, 100), standard, "", ""},
		"of another template":      {"slo: llm.relaxed", counts(100, 100), standard, "", "the goodput was counted by"},
		"of another class":         {"slo: {template: llm.standard, hardware: a100}", counts(100, 100), standard, "", "the goodput was counted by"},
		"of hardware of no class":  {"slo: llm.standard", counts(100, 100), map[string]string{"slo": "ttft<=200ms tpot<=50ms e2e<=3s"}, "", ""},
		"where there is no limit":  {"min_ok_rate: 0.9", counts(100, 100), nil, "", ""},
		"limits of its own making": {"min_ok_rate: 0.9", counts(100, 100), strict, "", "the goodput was counted by"},
	} {
		r := bench.Result{Outcome: bench.Passed, Samples: c.samples, Context: c.context}
		warning := rechecked(t, c.body+"\nload: {concurrency: [1], requests: 5}", &r)
		if failed := r.Outcome == bench.Failed && r.Cause == bench.CauseOutput; failed != (c.failed != "") || !strings.Contains(r.Reason, c.failed) {
			t.Errorf("%s: %s, %q, want %q", name, r.Outcome, r.Reason, c.failed)
		}
		if (warning != "") != (c.warning != "") || !strings.Contains(warning, c.warning) {
			t.Errorf("%s: warning %q, want %q", name, warning, c.warning)
		}
	}
}
