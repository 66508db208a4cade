package cli_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
)

const demandingConfig = `version: 1
policy: {threshold: 10%}
suites:
  - {name: m, kind: models, command: [engine], models: [m], backends: [cpu], features: [a], metrics: [
      {name: rate, json: tps, unit: tok/s, better: higher}, {name: image_ms, json: imag_ms, unit: ms, better: lower, optional: true}]}
  - {name: c, kind: cases, cases: cases, metrics: [{name: execution_time_s}, {name: device_busy_s, optional: true}]}
  - {name: k, kind: kernels}
  - {name: a, kind: analysis, level: fail, packing: {scenarios: [compare/1_small]}}
  - {name: e, kind: endpoint, gate: [tpot_p50_ms, joules_per_token], load: {concurrency: [1], requests: 4}}
  - {name: x, kind: exec, command: [go, test, "-bench={regexp}"], read: {format: gobench}, benchmarks: [Decode]}
`

// reporting is a run with one cell for each suite, each with every metric that its
// configuration gates. It holds no list of absent metrics.
func reporting() *bench.Run {
	run := &bench.Run{Schema: bench.RunSchema, Tool: "accelgate", Started: time.Date(2026, 3, 1, 8, 0, 0, 0, time.UTC),
		Host: bench.Host{Label: "lab", Fingerprint: bench.Fingerprint{OS: "linux", Arch: "amd64", CPU: "EPYC", Cores: 8}}}
	for _, c := range []struct {
		suite, id string
		metrics   []string
	}{
		{"m", "m__cpu__a__baseline", []string{"rate", "image_ms"}},
		{"c", "one", []string{"total_time_s", "execution_time_s", "device_busy_s"}},
		{"k", "norm/fast/1", []string{"latency_ms", "speedup_factor"}},
		{"a", "packing/compare/1_small/greedy", []string{"rows", "rows_over_bound", "step_efficiency", "idle_share", "avg_row_balance_ratio",
			"worst_row_balance_ratio", "row_balance_std", "avg_row_efficiency", "overall_efficiency", "sum_row_max"}},
		{"e", "concurrency=1", []string{"tpot_p50_ms", "joules_per_token"}},
		{"x", "Decode", []string{"allocs_op", "time_ns"}},
	} {
		r := bench.Result{Cell: bench.Cell{Suite: c.suite, Raw: c.id}, Outcome: bench.Passed}
		for _, name := range c.metrics {
			r.Samples = append(r.Samples, bench.Sample{Metric: name, Values: []float64{5}})
			if run.Metric(name) == nil {
				run.Metrics = append(run.Metrics, bench.Metric{Name: name, Better: bench.Higher})
			}
		}
		run.Results = append(run.Results, r)
	}
	return run
}

// demanding is a folder with the configuration and a run.
func demanding(t *testing.T, run *bench.Run) (flags []string, from string) {
	t.Helper()
	dir := t.TempDir()
	from = filepath.Join(dir, "run.json")
	data, err := json.Marshal(run)
	if err != nil {
		t.Fatal(err)
	}
	const one = `{"case_name": "one", "case_type": "cat", "settings": {}, "initial_time_s": 0, "baseline_time_s": 0}`
	for name, text := range map[string]string{"accelgate.yaml": demandingConfig, "run.json": string(data), "cases/one.json": one} {
		if err := os.MkdirAll(filepath.Dir(filepath.Join(dir, name)), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return []string{"--config", filepath.Join(dir, "accelgate.yaml")}, from
}

// TestRunThatDropsAGatedMetricPasses: a metric that a configuration of any kind gates
// and that its cells do not report was silent, unless the run itself said so.
func TestRunThatDropsAGatedMetricPasses(t *testing.T) {
	t.Parallel()
	flags, from := demanding(t, reporting())
	if code, out := accelgate(append([]string{"report", from}, flags...)...); code != 0 || strings.Contains(out, "missing") {
		t.Fatalf("with every metric: exit %d\n%s", code, out)
	}
	for i, drop := range []string{"rate", "execution_time_s", "latency_ms", "rows_over_bound", "joules_per_token", "time_ns"} {
		run := reporting()
		r := &run.Results[i]
		r.Samples = slices.DeleteFunc(r.Samples, func(s bench.Sample) bool { return s.Metric == drop })
		flags, from := demanding(t, run)
		code, out := accelgate(append([]string{"report", from, "--format", "markdown"}, flags...)...)
		out = strings.ReplaceAll(out, "&#95;", "_")
		if code != 1 || !strings.Contains(out, "no value of "+drop) || !strings.Contains(out, "the output holds "+r.Samples[0].Metric) {
			t.Errorf("%s: exit %d\n%s", drop, code, out)
		}
		if code, out := accelgate(append([]string{"baseline", "update", "--reason", "x", "--from", from}, flags...)...); code != 1 || !strings.Contains(out, "not recorded") {
			t.Errorf("%s: baseline update: exit %d\n%s", drop, code, out)
		}
		if drop == "rows_over_bound" {
			if code, out := accelgate(append([]string{"baseline", "update", "--force", "--reason", "x", "--from", from}, flags...)...); code != 0 {
				t.Errorf("%s: forced: exit %d\n%s", drop, code, out)
			}
			if code, out := accelgate(append([]string{"baseline", "lint"}, flags...)...); code != 1 || !strings.Contains(out, "gates "+drop+" and the entry does not have it") {
				t.Errorf("%s: lint: exit %d\n%s", drop, code, out)
			}
		}
		if code, out := accelgate(append([]string{"selftest", "--from", from}, flags...)...); code != 1 || !strings.Contains(out, "no value of "+drop) {
			t.Errorf("%s: selftest: exit %d\n%s", drop, code, out)
		}
	}
}

// TestMisspeltOptionalMetricIsSilent: where no cell reports an optional metric, its
// name or path may be wrong.
func TestMisspeltOptionalMetricIsSilent(t *testing.T) {
	t.Parallel()
	for i, drop := range []string{"image_ms", "device_busy_s"} {
		run := reporting()
		r := &run.Results[i]
		r.Samples = slices.DeleteFunc(r.Samples, func(s bench.Sample) bool { return s.Metric == drop })
		r.Keys, r.Absent = []string{"image_ms"}, []bench.Absent{{Metric: drop, Near: "image_ms", Optional: true}}
		flags, from := demanding(t, run)
		code, out := accelgate(append([]string{"report", from, "--format", "markdown"}, flags...)...)
		if code != 0 || !strings.Contains(out, "no cell of the suite reports this optional metric") || !strings.Contains(strings.ReplaceAll(out, "&#95;", "_"), "did you mean image_ms?") {
			t.Errorf("%s: exit %d\n%s", drop, code, out)
		}
		other := *r
		other.Cell.Raw += "x"
		other.Samples = append(slices.Clone(r.Samples), bench.Sample{Metric: drop, Values: []float64{5}})
		run.Results = append(run.Results, other)
		flags, from = demanding(t, run)
		if code, out := accelgate(append([]string{"report", from}, flags...)...); code != 0 || strings.Contains(out, "optional metric") {
			t.Errorf("%s, which another cell reports: exit %d\n%s", drop, code, out)
		}
	}
}
