package tensorsharp_test

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"runtime"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/tensorsharp"
)

// cell is a result with every member that TensorSharp writes; more replaces
// members.
func cell(id, more string) string {
	text := fmt.Sprintf(`{
  "case_id": %q, "model": "m", "model_family": "gemma4", "backend": "cpu", "feature": "tg128", "env_var": null, "env_value": null,
  "ok": true, "skipped": false, "skip_reason": null, "error": null,
  "correctness_ok": null, "correctness_error": null, "correctness_expected": null,
  "exit_code": 0, "command": "cli --model m.gguf",
  "model_load_ms": 1850.4, "prefill_tokens": 32, "prefill_ms": 20, "prefill_tps": 1600, "decode_tokens": 128, "decode_ms": 2000, "decode_tps": 64.1,
  "total_wall_ms": 4012.5, "output_preview": "The sky...", "stdout_tail": "log",
  "input": {"prompt_path": null, "prompt_text": "p", "media_path": null, "tools_text": null, "multi_turn_text": null, "thinking_enabled": false, "max_tokens": 0, "env": {}},
  "output": {"assistant_text": "The sky is blue.", "assistant_text_truncated": false, "decode_tokens": 128},
  "started_at": "2026-05-26T08:15:30.1234567+00:00", "duration_seconds": 4.0125`, id)
	for _, m := range regexp.MustCompile(`"([a-z_]+)": `).FindAllStringSubmatch(more, -1) {
		member := regexp.MustCompile(`"` + m[1] + `": ("[^"]*"|\{[^{}]*\}|[^,{}]+)(, *|,?\n)`)
		text = member.ReplaceAllString(text, "")
	}
	return text + more + "\n}"
}

// A key that occurs twice is two results, in whatever letter case: TensorSharp
// takes the last one.
func TestReadResultsWithAKeyThatOccursTwice(t *testing.T) {
	t.Parallel()
	for _, key := range []string{"decode_tps", "DECODE_TPS"} {
		run, warnings, err := tensorsharp.ReadResults(folder(t, map[string]string{
			"good": cell("good", ""), "twice": strings.Replace(cell("twice", ""), `"ok"`, `"`+key+`": 641, "ok"`, 1),
		}))
		if err != nil || len(run.Results) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "contradicts itself") {
			t.Errorf("%s: %v, warnings %q", key, err, warnings)
		}
	}
}

// folder writes a folder of results; names lack ".json".
func folder(t *testing.T, results map[string]string) string {
	t.Helper()
	dir := t.TempDir()
	for name, text := range results {
		if err := os.WriteFile(filepath.Join(dir, name+".json"), []byte(text), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func samples(prefill, decode, load float64) (all []bench.Sample) {
	for _, s := range []struct {
		metric string
		value  float64
	}{{"prefill_tps", prefill}, {"decode_tps", decode}, {"model_load_ms", load}} {
		if s.value > 0 {
			all = append(all, bench.Sample{Metric: s.metric, Values: []float64{s.value}})
		}
	}
	return all
}

func TestReadResultsOutcomes(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, more string
		outcome    bench.Outcome
		cause      bench.Cause
		reason     string
	}{
		{"passed", ``, bench.Passed, "", ""},
		{"right", `, "correctness_ok": true`, bench.Passed, "", ""},
		{"wrong", `, "ok": false, "correctness_ok": false, "correctness_error": "output missing 'blue'"`, bench.Incorrect, bench.CauseAnswer, "output missing 'blue'"},
		{"wrong but ok", `, "correctness_ok": false`, bench.Incorrect, bench.CauseAnswer, "the answer is wrong"},
		{"timeout", `, "ok": false, "exit_code": 124, "error": "exit 124"`, bench.Timeout, bench.CauseTimeout, "was stopped at its deadline"},
		{"timeout but ok", `, "exit_code": 124`, bench.Timeout, bench.CauseTimeout, "was stopped at its deadline"},
		{"not started", `, "ok": false, "exit_code": -1, "error": "process start failed: no"`, bench.Failed, bench.CauseStart, "process start failed: no"},
		{"exit", `, "ok": false, "exit_code": 3, "error": "exit 3"`, bench.Failed, bench.CauseExit, "exit 3"},
		{"crash", `, "ok": false, "exit_code": 139, "error": "exit 139"`, bench.Failed, bench.CauseCrash, "exit 139"},
		{"crash on windows", `, "ok": false, "exit_code": -1073741819`, bench.Failed, bench.CauseCrash, "exit -1073741819"},
		{"no metrics", `, "ok": false, "error": "no metrics parsed from output"`, bench.Failed, bench.CauseOutput, "no metrics parsed from output"},
		{"no input", `, "ok": false, "skipped": true, "skip_reason": "could not build args: gone"`, bench.Skipped, bench.CauseInput, "could not build args: gone"},
		{"skipped", `, "ok": false, "skipped": true`, bench.Skipped, bench.CauseCapacity, "TensorSharp.TestMatrix does not state why"},
	} {
		run, warnings, err := tensorsharp.ReadResults(folder(t, map[string]string{c.name: cell(c.name, c.more)}))
		if err != nil || len(warnings) > 0 || len(run.Results) != 1 {
			t.Errorf("%s: %v, warnings %q", c.name, err, warnings)
			continue
		}
		if err := run.Validate(); err != nil {
			t.Errorf("%s: %v", c.name, err)
		}
		r := run.Results[0]
		if r.Outcome != c.outcome || r.Cause != c.cause || r.Reason != c.reason || (r.Log == "log") != (c.outcome != bench.Passed) {
			t.Errorf("%s: %s, %s, %q, log %q, want %s, %s, %q", c.name, r.Outcome, r.Cause, r.Reason, r.Log, c.outcome, c.cause, c.reason)
		}
	}
}

func TestReadResults(t *testing.T) {
	t.Parallel()
	run, warnings, err := tensorsharp.ReadResults(folder(t, map[string]string{
		"m__cpu__tg128__baseline":           cell("m__cpu__tg128__baseline", ""),
		"m__cpu__pp512__KV_CACHE_DTYPE@f16": "\ufeff" + cell("m__cpu__pp512__KV_CACHE_DTYPE=f16", `, "decode_tps": 0, "model_load_ms": 0, "started_at": "2026-05-26T08:00:00Z", // comment`),
		"a@b":                               cell("a@b", `, "prefill_tps": 0, "decode_tps": 0, "started_at": "yesterday", "output": {"assistant_text": ""}`),
	}))
	if err != nil {
		t.Fatal(err)
	}
	output := "The sky is blue."
	want := &bench.Run{
		Schema: bench.RunSchema, Tool: "TensorSharp.TestMatrix", Started: time.Date(2026, 5, 26, 8, 0, 0, 0, time.UTC),
		Metrics: []bench.Metric{
			{Name: "prefill_tps", Unit: "tok/s", Better: bench.Higher, Resolution: 0.1, FallbackFor: "decode_tps"},
			{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher, Resolution: 0.1},
			{Name: "model_load_ms", Unit: "ms", Better: bench.Lower, Resolution: 0.1, Informational: true},
		},
		Results: []bench.Result{
			{Cell: bench.Cell{Raw: "a@b"}, Outcome: bench.Passed, Output: "The sky...", WallMS: 4012.5, Samples: samples(0, 0, 1850.4)},
			{Cell: bench.Cell{Raw: "m__cpu__pp512__KV_CACHE_DTYPE=f16"}, Outcome: bench.Passed, Output: output, WallMS: 4012.5, Samples: samples(1600, 0, 0)},
			{Cell: bench.Cell{Raw: "m__cpu__tg128__baseline"}, Outcome: bench.Passed, Output: output, WallMS: 4012.5, Samples: samples(1600, 64.1, 1850.4)},
		},
	}
	if diff := cmp.Diff(want, run); diff != "" {
		t.Errorf("run (-want +got):\n%s", diff)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], `a@b.json": counts as passed although it measured no speed`) {
		t.Errorf("warnings %q, want one about a@b.json", warnings)
	}
}

func TestReadResultsLeavesStrayFilesOut(t *testing.T) {
	t.Parallel()
	good := cell("good", "")
	stray := map[string]string{
		"copy of good":   good,
		"good=1":         cell("good=1", ""),
		"config":         `{"model_dir": "m"}`,
		"truncated":      good[:len(good)/2],
		"empty":          "",
		"list":           "[]",
		"null":           "null",
		"wrong type":     cell("wrong type", `, "exit_code": "0"`),
		"does not state": `{"case_id": "does not state"}`,
		"null ok":        cell("null ok", `, "ok": null`),
		"infinite":       cell("infinite", `, "decode_tps": 1e999`),
		"large":          cell("large", strings.Repeat(" ", 5<<20)),
		"deep":           strings.Repeat("[", 1<<20),
		"\x1b[31mevil":   "x",
		"two documents":  cell("two documents", "") + "{}",
	}
	all := map[string]string{"good": good}
	for name, text := range stray {
		if runtime.GOOS == "windows" && strings.Contains(name, "\x1b") {
			delete(stray, name)
			continue
		}
		all[name] = text
	}
	dir := folder(t, all)
	links := 0
	if err := os.Symlink("good.json", filepath.Join(dir, "link.json")); err == nil {
		links++
	}
	if err := os.Mkdir(filepath.Join(dir, "folder.json"), 0o755); err != nil {
		t.Fatal(err)
	}
	run, warnings, err := tensorsharp.ReadResults(dir)
	if err != nil {
		t.Fatal(err)
	}
	if len(run.Results) != 1 || run.Results[0].Cell.ID() != "good" {
		t.Errorf("results %+v, want only good", run.Results)
	}
	for name := range stray {
		quoted := strings.Trim(fmt.Sprintf("%q", name+".json"), `"`)
		if !slices.ContainsFunc(warnings, func(w string) bool {
			return strings.Contains(w, quoted) && strings.Contains(w, "left out; remove the file")
		}) {
			t.Errorf("no warning names %s", quoted)
		}
	}
	if len(warnings) != len(stray)+links || strings.Contains(strings.Join(warnings, ""), "\x1b") {
		t.Errorf("%d warnings, want %d printable ones: %q", len(warnings), len(stray)+links, warnings)
	}
}

func TestReadResultsRefuses(t *testing.T) {
	t.Parallel()
	dir := folder(t, nil)
	for path, want := range map[string]string{
		dir:                           "holds no result of TensorSharp.TestMatrix: name the folder",
		filepath.Join(dir, "nowhere"): "name the folder that results_dir",
	} {
		if _, _, err := tensorsharp.ReadResults(path); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%s: error %v, want %q", path, err, want)
		}
	}
	many := map[string]string{}
	for i := range 60 {
		many[fmt.Sprint(i)] = "x"
	}
	_, warnings, err := tensorsharp.ReadResults(folder(t, many))
	if err == nil || len(warnings) != 51 || !strings.Contains(warnings[50], "10 more files like these") {
		t.Errorf("error %v with %d warnings, want one and 51", err, len(warnings))
	}
}

func FuzzReadResults(f *testing.F) {
	for _, more := range []string{"", `, "exit_code": 124`, `, "ok": null`, `, "decode_tps": -1`, `, // x`, `, "OK": false, "output": null`, `, "output_preview": "\ud800"`} {
		f.Add([]byte(cell("c", more)))
	}
	f.Add([]byte("\ufeff[{"))
	f.Fuzz(func(t *testing.T, data []byte) {
		run, warnings, err := tensorsharp.ReadResults(folder(t, map[string]string{"c": string(data)}))
		if err != nil {
			if len(warnings) != 1 || run != nil {
				t.Errorf("%v with warnings %q and run %v, want one warning and no run", err, warnings, run)
			}
			return
		}
		if err := run.Validate(); err != nil {
			t.Error(err)
		}
		r := run.Results[0]
		if r.Cell.ID() != "c" || (r.Outcome == bench.Passed) != (r.Cause == "") {
			t.Errorf("result %+v", r)
		}
	})
}
