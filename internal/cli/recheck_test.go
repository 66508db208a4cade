package cli_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/exit"
)

// TestRecordOfTheHeadsLimits: a run of kind endpoint or analysis that passed by its own
// limits is judged by those of the base.
func TestRecordOfTheHeadsLimits(t *testing.T) {
	t.Parallel()
	const (
		chat     = "version: 1\nsuites: [{name: s, kind: endpoint, load: {concurrency: [1], requests: 5}, slo: {ttft: 1s}}]\n"
		fidelity = "version: 1\nsuites: [{name: s, kind: analysis, level: fail, fidelity: {name: f, variants: [{compute: float32, storage: float32}]}}]\n"
	)
	requests := func(ok int, slo string) string {
		return fmt.Sprintf(`{"cell": {"suite": "s", "params": [{"key": "suite", "value": "s"}, {"key": "load", "value": "c1"}]}, "outcome": "passed",
			"context": {"slo": %q}, "samples": [{"metric": "n_ok", "values": [%d]}, {"metric": "n_total", "values": [100]}]}`, slo, ok)
	}
	parameters := func(different int, tolerance string) string {
		return fmt.Sprintf(`{"cell": {"suite": "s", "id": "fidelity/f/float32-float32"}, "outcome": "passed", "context": {"tolerance": %q},
			"samples": [{"metric": "different_parameters", "values": [%d]}, {"metric": "max_difference", "values": [1]}]}`, tolerance, different)
	}
	for name, c := range map[string]struct {
		config, result string
		failed         bool   // for that reason
		want           string // in the report
	}{
		"answered requests":   {chat, requests(100, "ttft<=1s"), false, ""},
		"unanswered requests": {chat, requests(50, "ttft<=1s"), true, "50 of 100 requests were answered, and min_ok_rate is 0.95"},
		"looser limits":       {chat, requests(100, "ttft<=1m0s"), false, "the goodput was counted by the limits"},
		"equal parameters":    {fidelity, parameters(0, "1e-05"), false, ""},
		"different ones":      {fidelity, parameters(3, "1e-05"), true, "3 parameters differ by more than the tolerance"},
		"a looser tolerance":  {fidelity, parameters(0, "0.5"), false, "compared by the tolerance"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], c.config, map[string]string{"b": "b"})
			s.write("runs/run.json", fmt.Sprintf(`{"schema": 1, "revision": %q, "started": "2026-01-01T00:00:00Z", "host": {"label": "desk"}, "metrics": [
				{"name": "n_ok", "better": "higher", "informational": true}, {"name": "n_total", "better": "higher", "informational": true},
				{"name": "different_parameters", "better": "lower"}, {"name": "max_difference", "better": "lower"}], "results": [%s]}`, s.head(), c.result))
			code, report := s.run(t.Context()), strings.ReplaceAll(s.report(), "&#95;", "_")
			if c.failed && (code != exit.GateFailed || !strings.Contains(report, "❌ Failed: 1 of 1 cell")) {
				t.Errorf("exit code %d, want %d and a failure in\n%s\n%s", code, exit.GateFailed, report, s.stderr.String())
			}
			for _, reason := range []string{"min_ok_rate", "the goodput was counted by", "differ by more", "compared by the tolerance"} {
				if strings.Contains(report, reason) != strings.Contains(c.want, reason) {
					t.Errorf("the report holds %q: %t, want %q:\n%s", reason, strings.Contains(report, reason), c.want, report)
				}
			}
			if !strings.Contains(report, c.want) {
				t.Errorf("the report lacks %q:\n%s", c.want, report)
			}
		})
	}
}

// TestChangedFilesOfSuites: the comment lists changed files that a suite names.
func TestChangedFilesOfSuites(t *testing.T) {
	t.Parallel()
	for name, suite := range map[string]string{
		"cases":    `kind: cases, cases: judged`,
		"kernels":  `kind: kernels, config: judged`,
		"dataset":  `kind: kernels, dataset: judged`,
		"endpoint": `kind: endpoint, load: {concurrency: [1], requests: 5}, dataset: {kind: jsonl, path: judged/x.json}`,
		"analysis": `kind: analysis, packing: {lengths: [{file: judged/x.json, max_tokens: 10, ranks: 1}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := map[string]string{"judged/x.json": "{}", "other/x.json": "{}"}
			if name == "kernels" {
				changed = map[string]string{"judged": "{}", "other": "{}"}
			}
			s := changedStep(t, stepTokens["actions"], fmt.Sprintf("version: 1\nsuites: [{name: other, kind: models, command: [x], metrics: [{name: tps, json: tps}]}, {name: s, %s}]\n", suite), changed)
			s.write("judged/x.json", `{"test_cases": []}`)
			s.run(t.Context())
			if report := s.report(); !strings.Contains(report, "This pull request changes what is checked** (1 change)") || !strings.Contains(report, "`judged") {
				t.Errorf("the comment lacks the changed file:\n%s\n%s", report, s.stderr.String())
			}
		})
	}
}
