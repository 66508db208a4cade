package latency_test

import (
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/inferencebench"
	"github.com/accelgate/accelgate/internal/suite/endpoint/latency"
)

// TestCatalogueAgreesWithDiff keeps the two tables of directions one.
func TestCatalogueAgreesWithDiff(t *testing.T) {
	t.Parallel()
	metrics, err := latency.Metrics()
	if err != nil {
		t.Fatal(err)
	}
	run := bench.Run{Schema: bench.RunSchema, Metrics: metrics}
	if err := run.Validate(); err != nil {
		t.Error(err)
	}
	for _, m := range metrics {
		d, gateable, known := inferencebench.Direction(m.Name)
		if !known || d != m.Better {
			t.Errorf("%s is better %s here, in a diff %s (known: %t)", m.Name, m.Better, d, known)
		}
		if _, err := latency.Metrics(m.Name); (err == nil) != gateable {
			t.Errorf("%s: may be gated in a diff: %t; here: %v", m.Name, gateable, err)
		}
		if unit := inferencebench.Unit(m.Name); unit != "" && unit != m.Unit {
			t.Errorf("%s has unit %q here, %q in a diff", m.Name, m.Unit, unit)
		}
		if m.Definition == "" {
			t.Errorf("%s has no definition", m.Name)
		}
		if strings.Contains(m.Name, "_p99_") && (m.CountedBy != "n_ok" || m.MinCount != 368) {
			t.Errorf("%s is gated from %v %s on", m.Name, m.MinCount, m.CountedBy)
		}
	}
	for name := range strings.FieldsSeq(`ttft_p50_ms ttft_p99_ms tpot_p50_ms tpot_p99_ms total_p50_ms total_p99_ms req_per_s_passing req_per_s_all
		compliance_rate ok_rate throughput_tok_per_s cost_usd_per_million_tokens power_avg_w power_peak_w energy_joules_total joules_per_token
		goodput_at_slo`) {
		d, ok := inferencebench.OriginalDirection(name)
		if !ok || !slices.ContainsFunc(metrics, func(m bench.Metric) bool { return m.Name == name && m.Better == d }) {
			t.Errorf("%s of InferenceBench is not in the catalogue with its direction", name)
		}
	}
}

func TestGated(t *testing.T) {
	t.Parallel()
	gated := func(names ...string) (gated []string) {
		metrics, err := latency.Metrics(names...)
		if err != nil {
			t.Fatal(err)
		}
		for _, m := range metrics {
			if !m.Informational {
				gated = append(gated, m.Name)
			}
		}
		slices.Sort(gated)
		return gated
	}
	if got, want := strings.Join(gated(), " "), "answer_p50_ms inputs_per_s joules_per_token ok_rate throughput_tok_per_s total_p99_ms tpot_p50_ms tpot_p99_ms ttft_p50_ms ttft_p99_ms"; got != want {
		t.Errorf("gated by default: %s, want %s", got, want)
	}
	if got := gated("icl_p99_ms", "ok_rate"); !slices.Equal(got, []string{"icl_p99_ms", "ok_rate"}) {
		t.Errorf("gated: %q", got)
	}
	for name, want := range map[string]string{"ttft": "no metric", "n_ok": "cannot be gated", "power_avg_w": "cannot be gated"} {
		if _, err := latency.Metrics(name); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("Metrics(%s): %v, want %q", name, err, want)
		}
	}
}
