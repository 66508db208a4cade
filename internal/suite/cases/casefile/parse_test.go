package casefile_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/*.txt and testdata/err/*.txt")

// TestErrors compares what is said of each file in testdata/err.
func TestErrors(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/err/*.json")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		t.Run(strings.TrimSuffix(filepath.Base(input), ".json"), func(t *testing.T) {
			data, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			c, err := casefile.Parse("cases/"+filepath.Base(input), data)
			if c != nil || err == nil {
				t.Fatalf("got %v and %v, want no case and an error", c, err)
			}
			golden(t, strings.TrimSuffix(input, ".json")+".txt", err.Error()+"\n")
			checkProblems(t, err)
		})
	}
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test -update", err)
	}
	if diff := cmp.Diff(got, string(want)); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

// checkProblems asserts what holds for every complaint.
func checkProblems(t *testing.T, err error) {
	t.Helper()
	var all casefile.Problems
	if !errors.As(err, &all) || len(all) == 0 || len(all) > 101 {
		t.Fatalf("%T with %d problems", err, len(all))
	}
	if first := new(casefile.Problem); !errors.As(err, first) || *first != all[0] {
		t.Errorf("errors.As finds %v, want %v", first, all[0])
	}
	for _, p := range all {
		text := p.Error()
		if p.Hint == "" || p.Message == "" || p.File == "" {
			t.Errorf("%q lacks a part", text)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x202e }) || strings.Contains(text, "##[") || len(text) > 2048 {
			t.Errorf("%.300q could disturb who reads it", text)
		}
	}
}

// TestTooMuch has the errors whose files are too large to keep.
func TestTooMuch(t *testing.T) {
	t.Parallel()
	for input, want := range map[string]string{
		`{"name": "c", "description": "` + strings.Repeat("x", 1<<20) + `"}`: "c.json: is larger than 1048576 bytes, so it is not a case; move it out of the folder of cases",
		strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000):            "c.json:1:10001: not valid JSON: invalid character '[' exceeded max depth; correct the text here, or restore the file from version control",
	} {
		_, err := casefile.Parse("c.json", []byte(input))
		if err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
}

// TestOddPath keeps the name of a file on one line.
func TestOddPath(t *testing.T) {
	t.Parallel()
	_, err := casefile.Parse("a\n::error::b.json", []byte(`{"name": "a", "description": "d"}`))
	const want = `"a\n::error::b.json":1:10: name: "a" is not the file's stem "a\n::error::b", by which the operators are found; write "a\n::error::b", or rename the file`
	if err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestParse(t *testing.T) {
	t.Parallel()
	const text = `{"name": "héllo \"1\"", "description": "", "initial_time_s": 1.5e-3, "operator_top_n": 3,
		"compilation_config": ["enable_multistream"], "user_input": {"tp_size": 4, "chrome_trace": null, "performance_model": "profiling", "decode": true},
		"operators": [{"name": "a", "total_time_s": 0.001}, {"num_calls": 7, "total_time_s": 0, "name": "b c"}]}`
	got, err := casefile.Parse(`cases/héllo "1".json`, []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	settings := got.UserInput
	got.UserInput = nil
	want := &casefile.Case{
		Name: `héllo "1"`, Type: casefile.Text, Path: `cases/héllo "1".json`, InitialTimeS: 0.0015, InitialTolerance: 0.1, BaselineTolerance: 0.2,
		OperatorTopN: 3, OperatorTolerance: 0.1, CompilationConfig: []string{"enable_multistream"},
		Operators: []casefile.Operator{{Name: "a", TotalTimeS: 0.001}, {Name: "b c", NumCalls: 7}},
	}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	for key, want := range map[string]any{
		"tp_size": json.Number("4"), "chrome_trace": nil, "performance_model": "profiling", "decode": true, // given
		"quantize_linear_action": "W8A8_DYNAMIC", "quantize_attention_action": "DISABLED", "mtp_acceptance_rate": []any{json.Number("0.9"), json.Number("0.6"), json.Number("0.4"), json.Number("0.2")},
	} {
		if value, ok := settings[key]; !ok || !cmp.Equal(value, want) {
			t.Errorf("%s is %v (%t), want %v", key, value, ok, want)
		}
	}
	if len(settings) != 60 { // four of 64 have no documented default
		t.Errorf("got %d settings, want 60", len(settings))
	}
}

func TestParseVideo(t *testing.T) {
	t.Parallel()
	const text = `{"type": "video", "name": "v", "description": "d", "operators": null, "quantize_linear_action": "FP8", "seq_len": 128}`
	got, err := casefile.Parse("v.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := map[string]any{"device": "", "model_id": "", "seq_len": json.Number("128"), "batch_size": json.Number("0"), "height": json.Number("0"),
		"width": json.Number("0"), "frame_num": json.Number("0"), "sample_step": json.Number("0"), "dtype": "float16", "use_cfg": false,
		"world_size": json.Number("1"), "ulysses_size": json.Number("1"), "cfg_parallel": false, "quantize_linear_action": "FP8"}
	if diff := cmp.Diff(got.Video, want); diff != "" || got.UserInput != nil || got.Type != casefile.Video {
		t.Errorf("%+v, -got +want:\n%s", got, diff)
	}
}

func TestParseCommand(t *testing.T) {
	t.Parallel()
	const text = `{"type": "command", "name": "c", "description": "d", "command": ["./bench", "", "--n=1"], "env": {"OMP_NUM_THREADS": "1", "PATH+": ""},
		"tags": ["nightly"], "format": "chrome", "timeout_s": 0.5, "initial_time_s": 1, "operators": [{"name": "a", "total_time_s": 1}]}`
	got, err := casefile.Parse("c.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	want := &casefile.Case{Path: "c.json", Name: "c", Description: "d", Type: casefile.Command, InitialTimeS: 1, InitialTolerance: 0.1, BaselineTolerance: 0.2,
		OperatorTopN: 10, OperatorTolerance: 0.1, Operators: []casefile.Operator{{Name: "a", TotalTimeS: 1}}, Command: []string{"./bench", "", "--n=1"},
		Env: map[string]string{"OMP_NUM_THREADS": "1", "PATH+": ""}, Tags: []string{"nightly"}, Format: "chrome", TimeoutS: 0.5}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

// TestDefaultsStay keeps one case from changing another one's defaults.
func TestDefaultsStay(t *testing.T) {
	t.Parallel()
	for _, text := range []string{`{"name": "c", "description": "", "user_input": {"tp_size": 8}}`, `{"name": "c", "description": ""}`} {
		c, err := casefile.Parse("c.json", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if want := json.Number("1"); !strings.Contains(text, "tp_size") && c.UserInput["tp_size"] != want {
			t.Errorf("tp_size is %v, want %v", c.UserInput["tp_size"], want)
		}
	}
}

// checkSyntax asserts that we take for JSON exactly what encoding/json does.
func checkSyntax(t *testing.T, data []byte, err error) {
	t.Helper()
	readable := len(data) <= 1<<20 && utf8.Valid(data) && !bytes.HasPrefix(data, []byte("\ufeff")) && len(bytes.TrimSpace(data)) > 0
	refused := false
	var all casefile.Problems
	if errors.As(err, &all) {
		for _, syntax := range []string{"not valid JSON", "the file ends", "this is a merge", "NaN and", "there is text after", "JSON has no"} {
			refused = refused || all[0].JSONPath == "" && strings.HasPrefix(all[0].Message, syntax)
		}
	}
	if readable && refused == json.Valid(data) {
		t.Errorf("%.300q is JSON: %t, and we say %v", data, !refused, err)
	}
}

// TestSyntax has what a reader of JSON gets wrong.
func TestSyntax(t *testing.T) {
	t.Parallel()
	for _, value := range []string{"0", "-0", "01", "-", "-01", "1.", ".1", "1.5e", "1e+", "1E+05", "1e5.0", "+1", "0x1", "--1", "1 2", "tru", "truex", "nul", "null", "false",
		`"a`, `"\x"`, `"\u12g4"`, `"\ud800\udc00"`, "\"\t\"", "\"\x7f\"", `"\"`, "[", "[1", "[1,", "[,]", "[1,]", "[1 2]", "{", `{"a"`, `{"a":`, `{"a":1`, `{"a":1,`, `{"a":1,}`, `{a:1}`, `{"a" 1}`,
		"{,}", "}", "]", "[}", "{]", "", " ", "\x00", "\v1", "1\x00", "/**/1", "'a'",
		strings.Repeat("[", 9999) + strings.Repeat("]", 9999), strings.Repeat("[", 10_000) + strings.Repeat("]", 10_000), strings.Repeat(`{"a":`, 9999) + "1" + strings.Repeat("}", 9999)} {
		for _, text := range []string{value, "[" + value + "]", `{"name": "c", "description": "d", "x": ` + value + "}", value + " \r\n", value + ","} {
			_, err := casefile.Parse("c.json", []byte(text))
			checkSyntax(t, []byte(text), err)
		}
	}
}

func FuzzParse(f *testing.F) {
	inputs, _ := filepath.Glob("testdata/*/*.json")
	for _, input := range inputs {
		data, err := os.ReadFile(input)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte(`{"name": "c", "description": "\ud800\"", "operators": [{"name": "a", "total_time_s": 1e-3, "num_calls": 2}]}`))
	f.Add([]byte(`{"type": "group", "name": "c", "group_tolerance": null, "sub_cases": {"a": {"description": "d", "baseline_max_increase_pct": 0}, "": {}}}`))
	f.Add([]byte(`{"type": "group", "name": "c", "sub_cases": {"a.\u0000b": {"description": "d", "operators": [{"name": "a", "total_time_s": 1}]}}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		c, err := casefile.Parse("c.json", data)
		checkSyntax(t, data, err)
		if err != nil {
			checkProblems(t, err)
			return
		}
		if c.Group != nil {
			_ = casefile.Lint([]*casefile.Case{c})
			return
		}
		var loose map[string]any
		if json.Unmarshal(data, &loose) != nil || loose["name"] != c.Name || c.Name != "c" || loose["description"] != c.Description {
			t.Errorf("encoding/json reads %v, we %+v", loose, c)
		}
		if ops, _ := loose["operators"].([]any); len(ops) != len(c.Operators) {
			t.Errorf("got %d operators, want %d", len(c.Operators), len(ops))
		}
		for _, finding := range casefile.Lint([]*casefile.Case{c}) {
			if len(finding.String()) > 2048 || !strings.Contains(finding.Message, ": ") {
				t.Errorf("%.300q", finding)
			}
		}
	})
}
