package cli_test

import (
	"fmt"
	"os"
	"path/filepath"
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
		"dataset":  `kind: kernels, dataset: set`,
		"root":     `kind: cases, cases: .`,
		"endpoint": `kind: endpoint, load: {concurrency: [1], requests: 5}, dataset: {kind: jsonl, path: judged/x.json}`,
		"analysis": `kind: analysis, packing: {lengths: [{file: judged/x.json, max_tokens: 10, ranks: 1}]}`,
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			changed := map[string]string{"judged/x.json": "{}", "other/x.json": "{}"}
			want := "judged"
			switch name {
			case "kernels":
				changed = map[string]string{"judged": "{}", "other": "{}"}
			case "dataset": // its solutions are the code under test
				want, changed = "set/workloads/x.jsonl", map[string]string{"set/workloads/x.jsonl": "{}", "set/solutions/x.json": "{}"}
			case "root":
				want, changed = "x.json", map[string]string{"x.json": "{}", "other/x.json": "{}"}
			}
			s := changedStep(t, stepTokens["actions"], fmt.Sprintf("version: 1\nsuites: [{name: other, kind: models, command: [x], metrics: [{name: tps, json: tps}]}, {name: s, %s}]\n", suite), changed)
			s.write("judged/x.json", `{"test_cases": []}`)
			s.wantChanged(want)
		})
	}
}

// wantChanged demands that the comment lists one changed file.
func (s *actionStep) wantChanged(path string) {
	s.t.Helper()
	s.run(s.t.Context())
	if report := s.report(); !strings.Contains(report, "This pull request changes what is checked** (1 change)") || !strings.Contains(report, "`"+path) {
		s.t.Errorf("the comment lacks the changed file %s:\n%s\n%s", path, report, s.stderr.String())
	}
}

// TestChangedFilesAboveAndBeside: a submodule above what is checked, and the workflow
// that runs, whose inputs judge too.
func TestChangedFilesAboveAndBeside(t *testing.T) {
	t.Parallel()
	const config = "version: 1\nsuites: [{name: other, kind: models, command: [x], metrics: [{name: tps, json: tps}]}, {name: s, kind: cases, cases: module/cases}]\n"
	for name, c := range map[string]struct{ config, changed string }{
		"a submodule with cases":             {"accelgate.yaml", "module"},
		"a submodule with the configuration": {"gate/accelgate.yaml", "gate"},
		"the workflow":                       {"accelgate.yaml", ".github/workflows/gate.yml"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], config, map[string]string{c.changed: "x", "other": "x", ".github/workflows/other.yml": "x"})
			s.write("module/cases/x.json", `{"test_cases": []}`)
			s.write("gate/module/cases/x.json", `{"test_cases": []}`)
			s.write("gate/accelgate.yaml", config)
			s.env["INPUT_CONFIG"] = filepath.Join(s.work, filepath.FromSlash(c.config))
			s.env["GITHUB_WORKFLOW_REF"] = "octo/repo/.github/workflows/gate.yml@refs/pull/1/merge"
			s.wantChanged(c.changed)
		})
	}
}

// TestChangedFilesThatWorkflowsReach: local copies of the gate are listed, as deep as workflows call them, and so are the
// workflows that answer comments and judge forks.
// The last cases show that a file which none of them reaches is not, and that the check asks for nothing then.
func TestChangedFilesThatWorkflowsReach(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		".github/workflows/accelgate.yml":    "on: pull_request\njobs: {gate: {uses: ./.github/workflows/gate.yml}}\n",
		".github/workflows/gate.yml":         "jobs:\n  plan: {uses: ./.github/workflows/plan.yml}\n  measure:\n    steps:\n      - uses: ./.github/actions/measure\n",
		".github/workflows/plan.yml":         "jobs: {plan: {steps: [{uses: octo/repo/.github/actions/plan@main}]}}\n",
		".github/workflows/talk.yml":         "on: issue_comment\njobs: {chat: {steps: [{uses: ./.github/actions/answer}, {uses: accelgate/accelgate@v1}]}}\n",
		".github/workflows/forks.yml":        "on: workflow_run\njobs: {forks: {uses: accelgate/accelgate/.github/workflows/forks.yml@v1}}\n",
		".github/workflows/ghes.yml":         "on: workflow_run\njobs: {forks: {steps: [{uses: \"our/copy@v1\"}]}}\n",
		".github/workflows/odd.yml":          "on: push\non: pull_request\njobs: {forks: {uses: accelgate/accelgate/.github/workflows/forks.yml@v1}}\n",
		".github/workflows/other.yml":        "jobs: {lint: {steps: [{uses: ./.github/actions/lint}, {uses: accelgated/x@v1}]}}\n",
		".github/actions/measure/action.yml": "runs: {using: composite, steps: [{uses: ./.github/actions/deep}]}\n",
		".github/actions/deep/action.yaml":   "runs: {using: composite, steps: [{run: ./.github/actions/deep/run.sh}]}\n",
	}
	for changed, listed := range map[string]bool{
		".github/workflows/accelgate.yml": true, ".github/workflows/gate.yml": true, ".github/workflows/plan.yml": true, ".github/workflows/talk.yml": true,
		".github/workflows/forks.yml": true, ".github/workflows/ghes.yml": true, ".github/workflows/odd.yml": true, ".github/actions/measure/action.yml": true,
		".github/actions/measure/run.sh": true, ".github/actions/deep/run.sh": true, ".github/actions/plan/index.js": true, ".github/actions/answer/action.yml": true,
		".github/workflows/other.yml": false, ".github/actions/lint/action.yml": false,
	} {
		t.Run(changed, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], fmt.Sprintf(expectingConfig, ""), map[string]string{changed: "x", "other": "x"})
			for name, text := range files {
				s.write(name, text)
			}
			s.env["GITHUB_WORKFLOW_REF"], s.env["GITHUB_ACTION_REPOSITORY"] = "octo/repo/.github/workflows/accelgate.yml@refs/pull/1/merge", "our/copy"
			if listed {
				s.wantChanged(changed)
				s.conclude(stepTokens["actions"], "action_required")
				return
			}
			if code := s.run(t.Context()); code != exit.Passed || strings.Contains(s.report(), "changes what is checked") {
				t.Errorf("exit code %d, want 0 and no section in\n%s", code, s.report())
			}
			s.conclude(stepTokens["actions"], "neutral") // no baseline judges its speed
		})
	}
}

// TestChangedFilesBehindLinks: a file is judged by where its links lead.
func TestChangedFilesBehindLinks(t *testing.T) {
	t.Parallel()
	const config = "version: 1\nsuites: [{name: other, kind: models, command: [x], metrics: [{name: tps, json: tps}]}, {name: s, kind: cases, cases: %s}]\n"
	for name, c := range map[string]struct {
		cases, link, to string // the link is in the checkout
	}{
		"a linked folder":           {"linked", "linked", "real/below"},
		"a folder below a link":     {"linked/below", "linked", "real"},
		"a linked file in a folder": {"held", "held/y.json", "../real/below/x.json"},
		"a linked configuration":    {"none", "accelgate.yaml", "real/below/x.json"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := changedStep(t, stepTokens["actions"], fmt.Sprintf(config, c.cases), map[string]string{"real/below/x.json": "{}", "other/x.json": "{}"})
			s.write("real/below/x.json", `{"test_cases": []}`)
			s.write("held/z.json", `{"test_cases": []}`)
			if name == "a linked configuration" {
				s.write(c.to, fmt.Sprintf(config, c.cases))
				s.write("none/x.json", `{"test_cases": []}`)
				if err := os.Remove(filepath.Join(s.work, c.link)); err != nil {
					t.Fatal(err)
				}
			}
			if err := os.Symlink(c.to, filepath.Join(s.work, c.link)); err != nil {
				t.Skip("this system makes no links: ", err)
			}
			s.wantChanged("real/below/x.json")
		})
	}
}
