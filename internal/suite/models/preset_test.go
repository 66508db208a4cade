package models_test

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/models"
	"github.com/accelgate/accelgate/internal/worker"
)

// in opens a suite in a folder, with an environment.
func in(t *testing.T, dir, body string, environ ...string) suite.Suite {
	t.Helper()
	file, err := config.Parse("accelgate.yaml", []byte("version: 1\nsuites:\n  - name: s\n    kind: models\n"+body))
	if err != nil {
		t.Fatal(err)
	}
	environ = append(os.Environ(), environ...)
	h := bench.Host{Label: "g", Fingerprint: bench.Fingerprint{OS: "linux", Accelerators: []bench.Accelerator{{Vendor: "nvidia", Model: "H200"}}}}
	s, err := models.Open(&file.Suites[0], suite.Env{Host: h, Worker: &worker.Isolated{Environ: environ}, Environ: environ, Executable: os.Args[0], Dir: dir})
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { s.Close() })
	return s
}

func ids(cells []bench.Cell) (ids []string) {
	for _, c := range cells {
		ids = append(ids, c.ID())
	}
	return ids
}

// TestEveryPresetOpens: a preset is data, and a mistake in it is only found by
// reading it.
func TestEveryPresetOpens(t *testing.T) {
	files, err := filepath.Glob("preset/*.yaml")
	if err != nil || len(files) < 4 {
		t.Fatalf("presets: %v, %v", files, err)
	}
	for _, file := range files {
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		t.Run(name, func(t *testing.T) {
			s := in(t, t.TempDir(), "    preset: "+name+"\n    models: [{id: m, vars: {path: m.gguf, family: gemma4}, provides: [tools]}]\n")
			if len(s.Plan().Cells) == 0 || len(s.Plan().Metrics) == 0 {
				t.Errorf("%d cells, %d metrics", len(s.Plan().Cells), len(s.Plan().Metrics))
			}
			if _, err := s.Plan().Select(suite.Query{Profile: "smoke"}); err != nil {
				t.Error(err)
			}
		})
	}
}

// TestASuiteIsDecodedOverItsPreset: lists are replaced, maps merged, the rest
// stays.
func TestASuiteIsDecodedOverItsPreset(t *testing.T) {
	s := in(t, t.TempDir(), `
    preset: llama-bench
    vars: {llama_bench: /opt/llama-bench}
    models: [{id: m, vars: {path: m.gguf}}]
    features: [{id: pp7, args: [-p, "7", -n, "0"]}]
    select: {backends: [cuda, cpu]}
    profiles: {quick: {backends: [cpu]}}
`)
	if diff := cmp.Diff([]string{"m__cuda__pp7__baseline", "m__cpu__pp7__baseline"}, ids(s.Plan().Cells)); diff != "" {
		t.Errorf("cells, in the order of the selection (-want +got):\n%s", diff)
	}
	if s.Plan().Repeats != 3 {
		t.Errorf("repeats = %d, want the preset's 3", s.Plan().Repeats)
	}
	for _, profile := range []string{"smoke", "quick"} {
		if _, err := s.Plan().Select(suite.Query{Profile: profile}); err != nil {
			t.Error(err)
		}
	}
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Failed || r.Cause != bench.CauseInput || !strings.Contains(r.Reason, "m.gguf") {
		t.Errorf("%s %s %q, %v, want the file that is absent", r.Outcome, r.Cause, r.Reason, err)
	}
	if r.Command[0] != "/opt/llama-bench" {
		t.Errorf("command = %q", r.Command)
	}
}

// braces writes a command's own braces.
var braces = strings.NewReplacer("{", "{{", "}", "}}")

func TestResultFile(t *testing.T) {
	features := map[string]struct {
		script string
		reason string
	}{
		"good":    {`echo '{"tps": 7}' > {output}`, ""},
		"absent":  {`echo '{"tps": 7}'`, "wrote no result to {output}"},
		"pipe":    {`mkfifo {output}`, "not a regular file"},
		"link":    {`ln -s /etc/passwd {output}`, "not a regular file"},
		"folder":  {`mkdir {output}`, "begin the path with its files, as in files['*.json'].tps"},
		"inside":  {`mkdir {output}; ln -s /etc/passwd {output}/a`, "{output}/a is not a regular file"},
		"huge":    {`head -c 9000000 /dev/zero > {output}`, "larger than"},
		"garbage": {`echo hello > {output}`, "printed none of the metrics"},
	}
	for name, f := range features {
		t.Run(name, func(t *testing.T) {
			temporary := t.TempDir()
			t.Setenv("TMPDIR", temporary)
			command := strings.ReplaceAll(strings.ReplaceAll(f.script, "{output}", "$0"), "'", "''")
			s := in(t, t.TempDir(), "    command: [sh, -c, '"+braces.Replace(command)+"', '{output}']\n"+
				"    models: [m]\n    metrics: [{name: tps, json: tps, better: higher}]\n")
			r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
			if err != nil || !strings.Contains(r.Reason, f.reason) || (r.Outcome == bench.Passed) != (f.reason == "") {
				t.Errorf("%s %q, %v, want %q", r.Outcome, r.Reason, err, f.reason)
			}
			if left, _ := filepath.Glob(filepath.Join(temporary, "*")); len(left) > 0 {
				t.Errorf("left behind: %v", left)
			}
			if typed := r.Command[len(r.Command)-1]; typed != filepath.Join(temporary, "accelgate-result.json") {
				t.Errorf("the command to type writes to %s, whose folder is gone", typed)
			}
		})
	}
}

// TestDigestFollowsWhatRuns: a digest changes with everything that may change
// the numbers, and with nothing else.
func TestDigestFollowsWhatRuns(t *testing.T) {
	dir := t.TempDir()
	write := func(name, text string) {
		t.Helper()
		if err := os.WriteFile(filepath.Join(dir, name), []byte(text), 0o755); err != nil {
			t.Fatal(err)
		}
	}
	write("engine", "one")
	write("input", "one")
	write("other", "one")
	body := `
    command: [./engine, input, "{feature.args}"]
    models: [m]
    features: [{id: a, args: [x]}, {id: b, args: [y]}]
    env: {E: "1"}
    unset: [TS_*]
    sweeps: [{env: S, values: ["1"]}]
    metrics: [{name: tps, json: tps, better: higher}]
`
	digests := func(body string) []string {
		t.Helper()
		s := in(t, dir, body, "TS_LEFT=1")
		var all []string
		for _, c := range s.Plan().Cells {
			d, err := s.Digest(c)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d)
		}
		return all
	}
	first := digests(body)
	if slices.Sort(first); len(slices.Compact(slices.Clone(first))) != 4 {
		t.Errorf("the digests of 4 cells are %v", first)
	}
	same := func(what string, want bool, body string) {
		t.Helper()
		now := digests(body)
		if slices.Sort(now); slices.Equal(first, now) != want {
			t.Errorf("%s: same = %v, want %v", what, !want, want)
		}
	}
	same("nothing", true, body)
	write("other", "two")
	same("a file that is not named", true, body)
	write("input", "two")
	same("an input", false, body)
	write("input", "one")
	write("engine", "two")
	same("the program", false, body)
	write("engine", "one")
	same("the environment", false, strings.Replace(body, `E: "1"`, `E: "2"`, 1))
	same("an argument", false, strings.Replace(body, `[x]`, `[z]`, 1))
	same("all as before", true, body)
}

func TestTheLongestTimeoutOfTheValuesCounts(t *testing.T) {
	s := in(t, t.TempDir(), `
    command: [sleep, "60"]
    timeout: 1h
    models: [{id: m, timeout: 50ms}]
    features: [{id: f, timeout: 100ms}]
    metrics: [{name: tps, json: tps, better: higher}]
`)
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Timeout || r.Cause != bench.CauseTimeout || r.WallMS < 100 {
		t.Errorf("%s %s after %v ms, %v, want a timeout after 100", r.Outcome, r.Cause, r.WallMS, err)
	}
}

func TestUnsetVariablesDoNotReachTheChild(t *testing.T) {
	s := in(t, t.TempDir(), `
    command: [sh, -c, 'echo "{{\"tps\": 1, \"text\": \"$TS_A $TS_B $KEPT\"}}"']
    unset: ["TS_*"]
    env: {TS_B: ours}
    models: [m]
    metrics: [{name: tps, json: tps, better: higher}]
    answer: {json: text}
    expect: [{text: " ours kept"}]
`, "TS_A=leaked", "KEPT=kept")
	r, err := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
	if err != nil || r.Outcome != bench.Passed {
		t.Errorf("%s %q %q, %v", r.Outcome, r.Reason, r.Output, err)
	}
}

func TestSkippedCombinationsHaveNoSweeps(t *testing.T) {
	s := in(t, t.TempDir(), `
    command: [echo]
    models: [{id: sees, provides: [image]}, blind]
    features: [text, {id: image, requires: [image]}]
    sweeps: [{env: S, values: ["1", "2"]}]
    metrics: [{name: tps, json: tps, better: higher}]
`)
	if len(s.Plan().Cells) != 9 {
		t.Errorf("%d cells, want 3 combinations of 3", len(s.Plan().Cells))
	}
	skipped := s.Plan().Skipped
	if len(skipped) != 1 || skipped[0].Cell.ID() != "blind__image__baseline" || skipped[0].Reason != "feature image needs image, which blind does not provide" {
		t.Errorf("skipped = %+v", skipped)
	}
}

// TestWhatAFolderHoldsDiffersFromHostToHost: patterns of models that are not
// there are no mistake where models are discovered.
func TestWhatAFolderHoldsDiffersFromHostToHost(t *testing.T) {
	dir := t.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "qwen3.gguf"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	s := in(t, dir, `
    preset: tensorsharp
    discover: {dir: .}
    select: {backends: [cpu], features: [tg128], sweeps: []}
    exclude: [{model: "gpt-oss*"}]
    profiles: {quick: {models: ["gpt-oss*"]}}
`)
	if diff := cmp.Diff([]string{"qwen3__cpu__tg128__baseline"}, ids(s.Plan().Cells)); diff != "" {
		t.Errorf("cells (-want +got):\n%s", diff)
	}
}

func TestSuitesOfOnesOwnAreCheckedForSlips(t *testing.T) {
	for want, body := range map[string]string{
		`"gp" matches none of cpu, gpu`:                       "    exclude: [{backend: gp}]\n",
		`no value provides "imgae" (did you mean "image"?)`:   "    axes: [{name: a, values: [{id: x, provides: [image]}, {id: y, requires: [imgae]}]}]\n",
		`{flga} stands in no template (did you mean "flag"?)`: "    vars: {flag: x, flga: y}\n",
		`"zz" matches none of f`:                              "    profiles: {p: {features: [zz]}}\n",
		`is "0", and env sets S to "1"`:                       "    env: {S: \"1\"}\n    sweeps: [{env: S, values: [\"0\", \"1\"], default: \"0\"}]\n",
		"reads no operators":                                  "    parser: vllm\n    operators: ops\n",
	} {
		file, err := config.Parse("accelgate.yaml", []byte("version: 1\nsuites:\n  - name: s\n    kind: models\n    command: [echo, '{flag}']\n"+
			"    models: [m]\n    backends: [cpu, gpu]\n    features: [f]\n    metrics: [{name: tps, json: tps, better: higher}]\n"+body))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := models.Open(&file.Suites[0], suite.Env{}); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: %v, want %q", body, err, want)
		}
	}
}
