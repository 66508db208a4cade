package cases_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// simulator is a checkout with the modules that the presets run. They have what
// the real ones show outside: options, the table, the trace, the metrics.
var simulator = map[string]string{
	"cli/__init__.py":              "",
	"cli/inference/__init__.py":    "",
	"tensor_cast/__init__.py":      "",
	"tensor_cast/core/__init__.py": "",
	"tensor_cast/core/model_runner.py": `
import json

class Metrics:
    def print_info(self):
        rule = "-" * 21 + "  " + "-" * 14 + "  " + "-" * 12 + "  " + "-" * 10
        print("Model compilation and execution time: 0.192 s")
        print(rule)
        print("Name".center(21), "analytic total", "analytic avg", "# of Calls", sep="  ")
        print(rule)
        print("aten.mm.default      ", "      12.346ms", "     6.173ms", "         2", sep="  ")
        print("aten.add.Tensor      ", "       1.000us", "   500.000ns", "         2", sep="  ")
        print(rule)
        print("Total time for analytic: 12.347ms")
        print("[analytic] Execution time: 0.011000 s")
        print("[analytic] TPS/Device: 4013 token/s")

    def dump_json(self, path):
        events = [("aten.mm.default", 0.0123456789), ("aten.add.Tensor", 0.000001)]
        with open(path, "w") as f:
            json.dump({"batch_size": 1, "run_time_s": 0.192, "execution_time_s": {"analytic": 0.011}, "tps_per_model": {"analytic": 4013.25},
                       "perf_model_name": "analytic", "runtime_event_list": [
                           {"name": n, "perf_model": "analytic", "perf_total": t, "perf_avg": t / 2, "call_times": 2} for n, t in events]}, f)

class ModelRunner:
    def __init__(self, user_input):
        self.user_input = user_input

    def run_inference(self, requests=None, generate_inputs_func=None):
        return Metrics()
`,
	"cli/inference/text_generate.py": `
import argparse, json, sys

def main():
    p = argparse.ArgumentParser()
    p.add_argument("model_id")
    for name in ("device", "quantize-linear-action", "chrome-trace-file"):
        p.add_argument("--" + name)
    for name in ("num-queries", "query-length", "context-length", "num-devices", "tp-size"):
        p.add_argument("--" + name, type=int)
    p.add_argument("--decode", action="store_true")
    p.add_argument("--compilation-config", nargs="*")
    args = p.parse_args()
    from tensor_cast.core.model_runner import ModelRunner
    ModelRunner(args).run_inference(generate_inputs_func=print).print_info()
    with open(args.chrome_trace_file, "w") as f:
        json.dump({"traceEvents": [
            {"ph": "M", "name": "process_name", "pid": 0, "args": {"name": "analytic (PID: 0)"}},
            {"ph": "X", "name": "aten.mm.default", "cat": "analytic", "ts": 0, "dur": 6000, "pid": 0, "tid": 0, "args": {}},
            {"ph": "X", "name": "aten.mm.default", "cat": "analytic", "ts": 6000, "dur": 6000, "pid": 0, "tid": 1, "args": {}}]}, f)

if __name__ == "__main__":
    main()
`,
	"cli/inference/video_generate.py": `
import sys
from tensor_cast.core.model_runner import Metrics

if __name__ == "__main__":
    if "--height" not in sys.argv or "--use-cfg" not in sys.argv:
        sys.exit("unexpected options: " + " ".join(sys.argv))
    Metrics().print_info()
`,
}

// python skips a test where there is no Python.
func python(t *testing.T) {
	t.Helper()
	if _, err := exec.LookPath("python3"); err != nil {
		testtier.Missing(t, "python3 is needed, and not there")
	}
}

const (
	decodeCase = `{"name": "decode", "description": "d", "compilation_config": ["enable_matmul_allreduce"], "user_input": {"device": "A2",
  "model_id": "Qwen/Qwen3-8B", "num_queries": 32, "query_len": 1, "context_length": 1536, "decode": true, "world_size": 2, "tp_size": 2,
  "quantize_linear_action": "DISABLED"}}`
	videoCase = `{"type": "video", "name": "video", "description": "d", "device": "A3", "model_id": "wan", "seq_len": 128, "batch_size": 1, "height": 720,
  "width": 1280, "frame_num": 81, "sample_step": 1, "use_cfg": true, "world_size": 8, "quantize_linear_action": "DISABLED"}`
)

// TestSimulatorPresets: the shim is the one that users install.
func TestSimulatorPresets(t *testing.T) {
	t.Parallel()
	python(t)
	shim, err := filepath.Abs("../../../docs/msmodeling_shim.py")
	if err != nil {
		t.Fatal(err)
	}
	for preset, want := range map[string]struct {
		run      string
		total    float64
		critical bool
	}{
		"msmodeling": {"-m", 0.012347, true}, "msmodeling-shim": {shim, 0.0123466789, true},
	} {
		t.Run(preset, func(t *testing.T) {
			t.Parallel()
			dir := t.TempDir()
			for name, text := range simulator {
				write(t, filepath.Join(dir, "checkout"), map[string]string{name: text})
			}
			write(t, dir, map[string]string{"cases/decode.json": decodeCase, "cases/video.json": videoCase})
			body := "    cases: cases\n    dir: checkout\n    preset: " + preset + "\n"
			if preset == "msmodeling-shim" {
				body += "    vars: {run: " + shim + "}\n"
			}
			got := results(t, in(t, dir, body))
			for _, name := range []string{"decode", "video"} {
				r := got[name]
				if r.Outcome != bench.Passed {
					t.Fatalf("%s: %s %q\n%s", name, r.Outcome, r.Reason, r.Log)
				}
				total := want.total
				if name == "video" { // its module has no metrics
					total = 0.012347
				}
				if s := r.Sample("total_time_s"); s.Values[0] != total {
					t.Errorf("%s: total %v, want %v", name, s.Values[0], total)
				}
				entries := r.Breakdowns[0].Entries
				if len(entries) != 2 || entries[0].Name != "aten.mm.default" || entries[0].Calls != 2 {
					t.Errorf("%s: operators %+v", name, entries)
				}
				if critical := len(r.Breakdowns) == 2; critical != (name == "decode") {
					t.Errorf("%s: critical path = %v", name, critical)
				}
				if r.Command[1] != want.run {
					t.Errorf("%s: command %q", name, r.Command)
				}
			}
			args := got["decode"].Command[2:]
			args[len(args)-1] = filepath.Base(args[len(args)-1])
			if diff := cmp.Diff(strings.Fields(`cli.inference.text_generate Qwen/Qwen3-8B --device A2 --num-queries 32 --query-length 1 --quantize-linear-action DISABLED
				--context-length 1536 --decode --num-devices 2 --tp-size 2 --compilation-config enable_matmul_allreduce --chrome-trace-file trace.json`), args); diff != "" {
				t.Errorf("arguments (-want +got):\n%s", diff)
			}
		})
	}
}

func TestSimulatorsOwnComplaintIsShown(t *testing.T) {
	t.Parallel()
	python(t)
	dir := t.TempDir()
	for name, text := range simulator {
		write(t, dir, map[string]string{name: text})
	}
	write(t, dir, map[string]string{"cases/decode.json": strings.Replace(decodeCase, `"decode": true`, `"num_mtp_tokens": 3`, 1)})
	r := results(t, in(t, dir, "    cases: cases\n    preset: msmodeling\n"))["decode"]
	if r.Outcome != bench.Failed || r.Cause != bench.CauseExit || !strings.Contains(r.Log, "unrecognized arguments: --num-mtp-tokens 3") {
		t.Errorf("%s %s %q\n%s", r.Outcome, r.Cause, r.Reason, r.Log)
	}
}

// TestEveryPresetKnowsItsSettings: each setting that msmodeling documents has
// an option, or is accounted for.
func TestEveryPresetKnowsItsSettings(t *testing.T) {
	t.Parallel()
	without := map[string]string{ // text_generate has no option for these
		"acceptance_length": "4", "block_size": "64", "dynamic_shapes": "true", "enable_dispatch_ffn_combine": "true", "enable_matmul_allreduce": "true",
		"enable_multistream": "false", "enable_sequence_parallel": "true", "mtp_acceptance_rate": "[0.5]",
	}
	for key, value := range without {
		dir := t.TempDir()
		write(t, dir, map[string]string{"cases/a.json": `{"name": "a", "description": "d", "user_input": {"model_id": "m", "` + key + `": ` + value + `}}`})
		r := results(t, in(t, dir, "    cases: cases\n    preset: msmodeling\n"))["a"]
		want := "cases/a.json: user_input." + key + " is " + value + " and has no flag: add it to flags of the command, or to ignored if it changes no number, or name another preset than msmodeling"
		if r.Cause != bench.CauseInput || r.Reason != want {
			t.Errorf("%s, %q, want %q", r.Cause, r.Reason, want)
		}
	}
	ignored := []string{"chrome_trace", "graph_log_url", "log_level"}
	for _, typ := range []string{casefile.Text, casefile.Video} {
		text, err := os.ReadFile("preset/msmodeling.yaml")
		if err != nil {
			t.Fatal(err)
		}
		for _, key := range casefile.Keys(typ) {
			known := strings.Contains(string(text), " "+key+": --") || strings.Contains(string(text), `"{`+key+`}"`) ||
				slices.Contains(ignored, key) || without[key] != ""
			if !known {
				t.Errorf("the preset has nothing for %s cases' %s", typ, key)
			}
		}
	}
}

// TestFlags: what differs from the program's defaults becomes options, in
// msmodeling's order.
func TestFlags(t *testing.T) {
	t.Parallel()
	const fixed = `"quantize_linear_action": "DISABLED"` // one default of the program is not msmodeling's
	for _, c := range []struct{ settings, more, want string }{
		{"", "", ""},
		{`, "tp_size": 1, "reserved_memory_gb": 0.0, "performance_model": ["analytic"]`, "", ""},
		{`, "tp_size": 2, "decode": true`, "", "--decode --tp-size 2"},
		{`, "performance_model": "profiling"`, "", "--performance-model=profiling"},
		{`, "performance_model": ["analytic", "profiling"]`, "", "--performance-model=analytic --performance-model=profiling"},
		{`, "word_embedding_tp": "col"`, "", "--word-embedding-tp col"},
		{`, "word_embedding_tp": false, "dp_size": null`, "", ""},
		{`, "mtp_acceptance_rate": [0.5, 1e-1]`, "", "--rates 0.5 1e-1"},
		{`, "mtp_acceptance_rate": [0.90, 0.6, 0.4, 0.2]`, "", ""},
		{"", `, "compilation_config": ["enable_multistream", "enable_sequence_parallel"]`, "--compilation-config enable_multistream enable_sequence_parallel"},
		{`, "log_level": "debug"`, "", ""},
		{`, "block_size": 64`, "", "error user_input.block_size is 64 and has no flag"},
		{`, "enable_multistream": true`, "", ""},
		{`, "enable_multistream": false`, "", "error user_input.enable_multistream is false, which --multistream cannot express: add the value to a command of its own by when"},
		{`, "mtp_acceptance_rate": []`, "", "error user_input.mtp_acceptance_rate is [], which --rates cannot express"},
		{`, "mtp_acceptance_rate": [1, 2, 3, 4, 5, 6, 7, 8, 9], "draft_model_config_path": "` + strings.Repeat("x", 99) + `"`, "",
			`error user_input.draft_model_config_path is "` + strings.Repeat("x", 60) + `" (cut) and has no flag`},
	} {
		dir := t.TempDir()
		write(t, dir, map[string]string{"cases/a.json": `{"name": "a", "description": "d", "user_input": {"model_id": "m", ` + fixed + c.settings + `}` + c.more + `}`})
		r := results(t, in(t, dir, `
    cases: cases
    commands:
      - type: text
        command: [echo, "{model_id}", "{flags}"]
        flags: {tp_size: --tp-size, decode: --decode, performance_model: --performance-model=, word_embedding_tp: --word-embedding-tp,
          mtp_acceptance_rate: --rates, compilation_config: --compilation-config, enable_multistream: --multistream}
        defaults: {quantize_linear_action: DISABLED, enable_multistream: "true"}
        ignored: [log_level]
        read: [json]
`))["a"]
		got := "error " + strings.TrimPrefix(r.Reason, "cases/a.json: ")
		if r.Command != nil {
			got = strings.Join(r.Command[2:], " ")
		}
		if got != c.want && (c.want == "" || !strings.HasPrefix(c.want, "error") || !strings.HasPrefix(got, c.want)) {
			t.Errorf("%s %s: %q, want %q", c.settings, c.more, got, c.want)
		}
	}
}

// TestTheFirstCommandThatFitsRuns: when compares settings as numbers, too.
func TestTheFirstCommandThatFitsRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"cases/a.json": `{"name": "a", "description": "d", "user_input": {"decode": true, "reserved_memory_gb": 1.50}}`,
		"cases/b.json": `{"name": "b", "description": "d", "user_input": {"decode": true}}`,
		"cases/c.json": `{"name": "c", "description": "d", "user_input": {"dp_size": 2}}`,
	})
	got := results(t, in(t, dir, `
    cases: cases
    commands:
      - {type: text, when: {decode: "true", reserved_memory_gb: "1.5"}, command: [echo, first], read: [json]}
      - {type: text, when: {decode: "true"}, command: [echo, second], read: [json]}
      - {type: text, when: {dp_size: "3"}, command: [echo, third], read: [json]}
`))
	for name, want := range map[string]string{"a": "first", "b": "second"} {
		if c := got[name].Command; len(c) != 2 || c[1] != want {
			t.Errorf("%s: %q, want %s", name, c, want)
		}
	}
	if want := "no command fits: those for text cases are for decode true and reserved_memory_gb 1.5, or for decode true, or for dp_size 3: correct the case, or add one to commands"; got["c"].Reason != "cases/c.json: "+want {
		t.Errorf("c: %q, want %q", got["c"].Reason, want)
	}
}

// TestASuiteIsDecodedOverItsPreset: lists are replaced, maps merged.
func TestASuiteIsDecodedOverItsPreset(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{"cases/decode.json": decodeCase})
	command := func(body string) []string {
		return results(t, in(t, dir, "    cases: cases\n"+body))["decode"].Command
	}
	if got := command("    preset: msmodeling-shim\n    vars: {python: echo}\n"); len(got) < 3 || got[0] != "echo" || got[1] != "msmodeling_shim.py" {
		t.Errorf("%q", got)
	}
	if got := command("    preset: msmodeling\n    vars: {python: echo}\n"); len(got) < 3 || got[1] != "-m" {
		t.Errorf("%q", got)
	}
	own := "    commands: [{type: text, command: [echo, '{python}'], read: [json], ignored: [" + strings.Join(casefile.Keys("text"), ", ") + ", compilation_config]}]\n"
	if got := command("    preset: msmodeling\n" + own); !slices.Equal(got, []string{"echo", "python3"}) {
		t.Errorf("%q", got)
	}
}

// TestEngine: the default runs real operators.
func TestEngine(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	input := func(more string) string {
		return `"user_input": {"model_id": "micro", "device": "cpu", "num_queries": 1, "quantize_linear_action": "DISABLED", ` + more + `}}`
	}
	write(t, dir, map[string]string{
		"cases/decode.json":  `{"name": "decode", "description": "d", ` + input(`"decode": true, "context_length": 9, "query_len": 5`),
		"cases/prefill.json": `{"name": "prefill", "description": "d", ` + input(`"query_len": 7`),
		"cases/seed.json":    `{"name": "seed", "description": "d", ` + input(`"query_len": 7, "block_size": 64`),
		"cases/quant.json":   `{"name": "quant", "description": "d", ` + strings.Replace(input(`"query_len": 7`), "DISABLED", "FP8", 1),
		"cases/model.json":   `{"name": "model", "description": "d", ` + strings.Replace(input(`"query_len": 7`), "micro", "macro", 1),
	})
	env := environment(dir)
	env.EngineArgs = []string{"--runs", "1", "--warmup", "0"}
	s, err := cases.Open(parse(t, "    cases: cases\n"), env)
	if err != nil {
		t.Fatal(err)
	}
	got := results(t, s)
	for name, want := range map[string]string{
		"decode":  "engine bench --model micro --backend cpu --prompt-tokens 9 --decode-tokens 5 --runs 1 --warmup 0",
		"prefill": "engine bench --model micro --backend cpu --prompt-tokens 7 --decode-tokens 1 --runs 1 --warmup 0",
	} {
		r := got[name]
		if r.Outcome != bench.Passed {
			t.Fatalf("%s: %s %q %s", name, r.Outcome, r.Reason, r.Log)
		}
		if args := strings.Join(r.Command[1:], " "); args != want {
			t.Errorf("%s: %s, want %s", name, args, want)
		}
		sum := 0.0
		for _, e := range r.Breakdowns[0].Entries {
			sum += e.Total
		}
		if total := r.Sample("total_time_s").Values[0]; total <= 0 || total < sum*0.999999 || total > sum*1.000001 {
			t.Errorf("%s: the total is %v, and its operators are %v", name, total, sum)
		}
	}
	for name, want := range map[string]string{
		"seed":  "user_input.block_size is 64 and has no flag",
		"quant": `user_input.quantize_linear_action is "FP8" and has no flag`,
		"model": "exit code 2",
	} {
		if r := got[name]; r.Outcome != bench.Failed || !strings.Contains(r.Reason, want) {
			t.Errorf("%s: %s %q, want %q", name, r.Outcome, r.Reason, want)
		}
	}
	if !strings.Contains(got["model"].Log, "macro") {
		t.Errorf("log %q", got["model"].Log)
	}
}

// TestRealCases: each case that msmodeling ever committed becomes a whole
// command line, and nothing of it is left out.
func TestRealCases(t *testing.T) {
	t.Parallel()
	data := testtier.Data(t, "no real case was opened", "msmodeling/cases")
	for folder, n := range map[string]int{"cases": 22, "cases_removed": 6} {
		for _, preset := range []string{"msmodeling", "msmodeling-shim"} {
			dir := filepath.Join(data, "msmodeling")
			s := in(t, dir, "    cases: "+folder+"\n    preset: "+preset+"\n    vars: {python: "+"echo}\n")
			if w := s.Plan().Warnings; len(w) > 0 || len(s.Plan().Cells) != n {
				t.Fatalf("%s: %d cells, want %d; %q", folder, len(s.Plan().Cells), n, w)
			}
			list, err := casefile.Load(filepath.Join(dir, folder))
			if err != nil {
				t.Fatal(err)
			}
			for i, c := range s.Plan().Cells {
				r, err := s.Measure(t.Context(), c, bench.Device{})
				if err != nil {
					t.Fatal(err)
				}
				checkCommand(t, list[i], strings.Join(r.Command, " "))
			}
		}
	}
}

func checkCommand(t *testing.T, one *casefile.Case, got string) {
	t.Helper()
	wants := []string{" --quantize-linear-action ", " --device "}
	add := func(on bool, want string) {
		if on {
			wants = append(wants, want)
		}
	}
	in := one.UserInput
	if one.Type == casefile.Video {
		in = one.Video
		add(in["use_cfg"] == true, " --use-cfg")
		add(in["cfg_parallel"] == true, " --cfg-parallel")
	} else {
		add(in["do_compile"] == true, " --compile")
		add(in["decode"] == true, " --decode")
		add(len(one.CompilationConfig) > 0, " --compilation-config "+strings.Join(one.CompilationConfig, " "))
	}
	for key, flag := range map[string]string{"world_size": "--num-devices", "tp_size": "--tp-size", "ep_size": "--ep-size", "context_length": "--context-length",
		"query_len": "--query-length", "num_mtp_tokens": "--num-mtp-tokens", "image_height": "--image-height", "ulysses_size": "--ulysses-size",
		"quantize_attention_action": "--quantize-attention-action", "frame_num": "--frame-num"} {
		initial, _ := casefile.Default(one.Type, key)
		if v, ok := in[key]; ok && v != initial {
			wants = append(wants, " "+flag+" "+sprint(v))
		}
	}
	for _, want := range wants {
		if !strings.Contains(got, want) {
			t.Errorf("%s: %q lacks %q", one.Name, got, want)
		}
	}
	if strings.Contains(got, "<nil>") || strings.Contains(got, "{") {
		t.Errorf("%s: %q", one.Name, got)
	}
}

// TestDigestFollowsWhatRuns: a digest changes with everything that may change
// the numbers, and with nothing else.
func TestDigestFollowsWhatRuns(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	const own = `{"name": "a", "description": "d", "user_input": {"model_id": "m", "tp_size": 2}}`
	const body = "    cases: cases\n    commands: [{type: text, command: [./run, input, '{flags}', '{output}'], flags: {tp_size: --tp}, ignored: [model_id], read: [json]}]\n"
	write(t, dir, map[string]string{"cases/a.json": own, "cases/broken.json": "{", "run": "1", "input": "1", "other": "1"})
	if err := os.Chmod(filepath.Join(dir, "run"), 0o755); err != nil {
		t.Fatal(err)
	}
	digest := func(body string) string {
		t.Helper()
		s := in(t, dir, body)
		d, err := s.Digest(s.Plan().Cells[0])
		if err != nil {
			t.Fatal(err)
		}
		if other, err := s.Digest(s.Plan().Cells[1]); err != nil || other == d {
			t.Errorf("of a broken case: %s, %v", other, err)
		}
		return d
	}
	first := digest(body)
	same := func(what string, want bool, body string) {
		t.Helper()
		if got := digest(body) == first; got != want {
			t.Errorf("%s: same = %v, want %v", what, got, want)
		}
	}
	same("nothing", true, body)
	same("the policy", true, body+"    exact: true\n")
	same("the environment", false, body+"    env: {A: b}\n")
	same("the reader", false, strings.Replace(body, "[json]", "[msmodeling-table]", 1))
	for _, c := range []struct {
		file, text, old string
		want            bool
	}{
		{"other", "2", "1", true}, {"input", "2", "1", false}, {"run", "2", "1", false},
		{"cases/a.json", strings.Replace(own, "2", "4", 1), own, false}, {"cases/a.json", strings.Replace(own, `"d"`, `"e"`, 1), own, true},
	} {
		write(t, dir, map[string]string{c.file: c.text})
		same(c.file, c.want, body)
		write(t, dir, map[string]string{c.file: c.old})
	}
	same("all as before", true, body)
}
