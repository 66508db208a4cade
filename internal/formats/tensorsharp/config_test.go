package tensorsharp_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accelgate/accelgate/internal/formats/tensorsharp"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const full = `{
  // every member
  "model_dir": "/models", "cli_executable": "bin/cli", "media_dir": "media", "results_dir": "r", "report_path": "p.md",
  "default_backends": ["cpu", "cuda"], "default_features": ["tg128"], "default_env_vars": ["KV_CACHE_DTYPE"],
  "models": [
    {"id": "a", "family": "gemma4", "display_name": "A", "gguf": "a.gguf", "mmproj": "m.gguf", "supports_image": true,
     "supports_audio": true, "supports_video": true, "supports_tools": true, "supports_thinking": true, "enabled": false,},
    {"ID": "b", "mmproj": null},
  ],
  "timeout_seconds": 60, "Warmup_Runs": 0, "benchmark_runs": 5, "skip_existing": true, /* dead */ "max_parallel": 1,
  "baselines_dir": "b", "regression_threshold_pct": 7.5,
} // the end`

var ignoreName = cmpopts.IgnoreUnexported(tensorsharp.Config{})

func TestReadConfig(t *testing.T) {
	t.Parallel()
	want := &tensorsharp.Config{
		ModelDir: "/models", CLIExecutable: "bin/cli", MediaDir: "media", ResultsDir: "r", ReportPath: "p.md",
		DefaultBackends: []string{"cpu", "cuda"}, DefaultFeatures: []string{"tg128"}, DefaultEnvVars: []string{"KV_CACHE_DTYPE"},
		Models: []tensorsharp.Model{
			{ID: "a", Family: "gemma4", DisplayName: "A", GGUF: "a.gguf", MMProj: "m.gguf",
				SupportsImage: true, SupportsAudio: true, SupportsVideo: true, SupportsTools: true, SupportsThinking: true},
			{ID: "b", Enabled: true},
		},
		TimeoutSeconds: 60, WarmupRuns: 0, BenchmarkRuns: 5, SkipExisting: true, MaxParallel: 1,
		BaselinesDir: "b", RegressionThresholdPct: 7.5,
	}
	for name, text := range map[string]string{"plain": full, "windows": "\ufeff" + strings.ReplaceAll(full, "\n", "\r\n")} {
		got, warnings, err := tensorsharp.ReadConfig(name, []byte(text))
		if err != nil || len(warnings) > 0 {
			t.Fatalf("%s: warnings %q, error %v", name, warnings, err)
		}
		if diff := cmp.Diff(want, got, ignoreName); diff != "" {
			t.Errorf("%s (-want +got):\n%s", name, diff)
		}
	}
}

func TestReadConfigDefaults(t *testing.T) {
	t.Parallel()
	want := &tensorsharp.Config{ResultsDir: "results", ReportPath: "report.md", TimeoutSeconds: 900, WarmupRuns: 1, BenchmarkRuns: 3,
		MaxParallel: 1, BaselinesDir: "TensorSharp.TestMatrix/Baselines", RegressionThresholdPct: 10}
	for _, text := range []string{`{}`, `{"media_dir": null}`} {
		got, _, err := tensorsharp.ReadConfig("c.json", []byte(text))
		if diff := cmp.Diff(want, got, ignoreName); diff != "" || err != nil {
			t.Errorf("%s: error %v (-want +got):\n%s", text, err, diff)
		}
	}
}

// TestReadConfigComplains checks messages: an error where wantErr is set, else
// a warning.
func TestReadConfigComplains(t *testing.T) {
	t.Parallel()
	const isErr, isWarning = true, false
	for _, c := range []struct {
		text string
		kind bool
		want string
	}{
		{`{"timeout_secs": 5}`, isWarning, `c.json:1:2: TensorSharp has no key "timeout_secs", so it has no effect: remove it; did you mean "timeout_seconds"?`},
		{"{\n \"schön\": 1, \"media_dri\": null}", isWarning, `c.json:2:14: TensorSharp has no key "media_dri", so it has no effect: remove it; did you mean "media_dir"?`},
		{`{"models": [{"id": "a", "supports_images": true}]}`, isWarning, `c.json:1:25: TensorSharp has no key models[0]."supports_images", so it has no effect: remove it; did you mean "supports_image"?`},
		{`{"$schema": "x"}`, isWarning, `c.json:1:2: TensorSharp has no key "$schema", so it has no effect: remove it`},
		{`{"model_dir": "a", "MODEL_DIR": "b"}`, isWarning, `c.json:1:20: model_dir occurs twice, and only the last one counts: remove the others`},
		{`{"max_parallel": 4}`, isWarning, `c.json:1:18: max_parallel is 4, and TensorSharp runs one cell at a time whatever its value: remove it`},
		{`{"timeout_seconds": "900"}`, isErr, `c.json:1:21: timeout_seconds: want a whole number, got the text "900": write decimal digits without quotes`},
		{`{"timeout_seconds": 1.5}`, isErr, `c.json:1:21: timeout_seconds: want a whole number, got 1.5: write decimal digits without quotes`},
		{`{"timeout_seconds": 99999999999999999999}`, isErr, `want a whole number, got 99999999999999999999`},
		{`{"timeout_seconds": 0}`, isErr, `c.json:1:21: timeout_seconds: is 0: write a number from 1 to 1e+06`},
		{`{"benchmark_runs": 0}`, isErr, `benchmark_runs: is 0: write a number from 1 to`},
		{`{"regression_threshold_pct": -1}`, isErr, `regression_threshold_pct: is -1: write a number from 0 to 99.999`},
		{`{"regression_threshold_pct": 100}`, isErr, `is 100: write a number from 0`},
		{`{"regression_threshold_pct": 1e999}`, isErr, `want a number, got 1e999`},
		{`{"regression_threshold_pct": NaN}`, isErr, `c.json:1:30: not valid JSON (invalid literal: NaN): check the commas and quotes here`},
		{`{"model_dir": null}`, isErr, `c.json:1:15: model_dir: want text, got null: write it in double quotes`},
		{`{"model_dir": "a\u0000b"}`, isErr, `model_dir: holds a NUL character: remove it`},
		{`{"skip_existing": 1}`, isErr, `skip_existing: want true or false, got 1: write one of the two without quotes`},
		{`{"default_backends": "cpu"}`, isErr, `default_backends: want a list, got the text "cpu": write [ and ] around its items`},
		{`{"default_backends": [1]}`, isErr, `c.json:1:23: default_backends[0]: want text, got 1`},
		{`{"models": {"id": "a"}}`, isErr, `models: want a list, got an object`},
		{`{"models": ["a"]}`, isErr, `c.json:1:13: models[0]: want an object, got the text "a": write { and } around its members`},
		{`{"models": [{"gguf": "a"}]}`, isErr, `c.json:1:13: models[0]: has no id: add one, or set enabled to false`},
		{"{\"models\": [{\"id\": \"a\"},\n{\"id\": \"A\"}]}", isErr, `c.json:2:1: models[1]: id "A" is that of the model on line 1: rename one, or set enabled to false`},
		{`[]`, isErr, `c.json:1:1: want an object, got a list: write { and } around its members`},
		{``, isErr, `c.json:2:1: not valid JSON`},
		{`{"model_dir": "a" "b": 1}`, isErr, `c.json:1:19: not valid JSON`},
		{"{\"model_dir\": \"\xff\"}", isErr, `c.json:1:16: byte 0xff is not text: save the file as UTF-8`},
		{strings.Repeat("[", 20_000), isErr, `c.json: more than 10000 lists and objects: shorten the file`},
		{strings.Repeat(" ", 2<<20), isErr, `c.json: larger than 1048576 bytes: this is not a configuration, name another file`},
	} {
		_, warnings, err := tensorsharp.ReadConfig("c.json", []byte(c.text))
		got := strings.Join(warnings, "\n")
		if err != nil {
			got = err.Error()
		}
		if (err != nil) != c.kind || !strings.Contains(got, c.want) {
			t.Errorf("%.60s:\n got %s (error: %t)\nwant %s (error: %t)", c.text, got, err != nil, c.want, c.kind)
		}
	}
}

// TestReadConfigReportsEverything: one run shows all that is to be mended.
func TestReadConfigReportsEverything(t *testing.T) {
	t.Parallel()
	_, _, err := tensorsharp.ReadConfig("c\x1b.json", []byte(`{"timeout_seconds": "1", "warmup_runs": "1", "skip_existing": "1"}`))
	if err == nil || strings.Count(err.Error(), "\n") != 2 || strings.Contains(err.Error(), "\x1b") {
		t.Errorf("error %q, want three printable lines", err)
	}
}

func TestIsConfig(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]bool{
		full:                            true,
		"\ufeff/* x */ // y\n" + full:   true,
		`{"MODEL_DIR": "x"}`:            true,
		`{"model_dir": "x" "models": 1`: true, // its error is reported by the reader of JSON
		`{}`:                            false,
		`[]`:                            false,
		``:                              false,
		`// {"model_dir": 1}`:           false,
		`{"version": 1, "suites": [{"name": "s", "models": []}]}`: false,
		`{"version": 1, "models": []}`:                            false,
		`{version: 1, "models": []`:                               true, // hardly, and an error either way
		"version: 1 # \"model_dir\"\nsuites: []\n":                false,
		`{"schema": 1, "results": []}`:                            false,
		`{"host_label": "x", "entries": []}`:                      false,
	} {
		if got := tensorsharp.IsConfig([]byte(text)); got != want {
			t.Errorf("IsConfig(%.60q) = %t, want %t", text, got, want)
		}
	}
}

// TestRecordedConfigs reads the real files of TensorSharp and of a fork.
func TestRecordedConfigs(t *testing.T) {
	t.Parallel()
	dir := testtier.Data(t, "real configurations were NOT read", "tensorsharp/matrix-config.*.json")
	for name, sweeps := range map[string]int{"98ca79be": 17, "4d29dd2b": 18, "36d95f7a": 17, "fork-simonsoanes.f3b8265f": 9} {
		data, err := os.ReadFile(filepath.Join(dir, "tensorsharp", "matrix-config."+name+".json"))
		if err != nil {
			t.Fatal(err)
		}
		c, warnings, err := tensorsharp.ReadConfig(name, data)
		if err != nil || len(warnings) > 0 || !tensorsharp.IsConfig(data) {
			t.Fatalf("%s: %q, %v", name, warnings, err)
		}
		if len(c.DefaultBackends) != 6 || len(c.DefaultFeatures) != 12 || len(c.DefaultEnvVars) != sweeps {
			t.Errorf("%s: %d backends, %d features, %d sweeps, want 6, 12, %d", name, len(c.DefaultBackends), len(c.DefaultFeatures), len(c.DefaultEnvVars), sweeps)
		}
	}
}

func FuzzReadConfig(f *testing.F) {
	for _, seed := range []string{full, `{}`, `{"models":[{"id":"\u0000"}]}`, `[[`, "{\"a\":\"\\ud800\"}//", `{"regression_threshold_pct":1e-9}`, "\ufeff{}"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		c, warnings, err := tensorsharp.ReadConfig("c.json", data)
		tensorsharp.IsConfig(data)
		for _, text := range append(warnings, errorLines(err)...) {
			if !strings.HasPrefix(text, "c.json") || strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x7f }) {
				t.Errorf("message %q is not one printable line with a place", text)
			}
		}
		if err == nil {
			translated(t, c, tensorsharp.Options{ModelDir: "m"})
		}
	})
}

func errorLines(err error) []string {
	if err == nil {
		return nil
	}
	return strings.Split(err.Error(), "\n")
}
