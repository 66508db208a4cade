package cases_test

import (
	"encoding/json"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
)

const pairsYAML = `
cases:
  - name: close
    description: contexts nearly alike
    baseline_input: {model_id: m, context_length: 1536}
    compare_input: {model_id: m, context_length: 1500, decode: true}
  - name: videos
    type: video
    tolerance: 2.5%
    baseline_input: {model_id: v, quantize_linear_action: FP8}
    compare_input: {model_id: v, quantize_linear_action: DISABLED}
`

func TestReadPairs(t *testing.T) {
	t.Parallel()
	settings := func(typ string, own map[string]any) map[string]any {
		all := map[string]any{}
		for _, key := range casefile.Keys(typ) {
			if v, ok := casefile.Default(typ, key); ok {
				all[key] = v
			}
		}
		maps.Copy(all, own)
		return all
	}
	want := []cases.Pair{
		{Name: "close", Description: "contexts nearly alike", Type: "text", Tolerance: 0.05,
			Baseline: settings("text", map[string]any{"model_id": "m", "context_length": json.Number("1536")}),
			Compare:  settings("text", map[string]any{"model_id": "m", "context_length": json.Number("1500"), "decode": true})},
		{Name: "videos", Type: "video", Tolerance: 0.025,
			Baseline: settings("video", map[string]any{"model_id": "v", "quantize_linear_action": "FP8"}),
			Compare:  settings("video", map[string]any{"model_id": "v", "quantize_linear_action": "DISABLED"})},
	}
	asJSON := `{"cases": [{"name": "close", "description": "contexts nearly alike", "tolerance": 5e-2, "baseline_input": {"model_id": "m", "context_length": 1536},
 "compare_input": {"model_id": "m", "context_length": 1500, "decode": true}}]}`
	for text, want := range map[string][]cases.Pair{pairsYAML: want, asJSON: want[:1]} {
		got, err := cases.ReadPairs("pairs", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(want, got, cmpopts.IgnoreUnexported(cases.Pair{})); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
	}
}

func TestReadPairsRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ old, new, want string }{
		{"context_length: 1500", "context_lenght: 1500", "p.yaml: cases[0].compare_input.context_lenght: unknown key; write context_length, or remove it"},
		{"context_length: 1536", "context_length: long", `p.yaml: cases[0].baseline_input.context_length: want a whole number, got the text "long"; write a whole number`},
		{"    tolerance: 2.5%", "    toleranz: 2.5%", "p.yaml: cases[1].toleranz: unknown key (did you mean tolerance?): use one of name, description"},
		{"tolerance: 2.5%", "tolerance: 2.5", "p.yaml: cases[1].tolerance: 2.5 is not a tolerance: write a fraction from 0 to below 1, such as 0.05, or a percentage such as 5%"},
		{"tolerance: 2.5%", "tolerance: -5%", `cases[1].tolerance: "-5%" is not a tolerance`},
		{"tolerance: 2.5%", "tolerance: '0.05'", `cases[1].tolerance: "0.05" is not a tolerance`},
		{"tolerance: 2.5%", "tolerance: ~", `cases[1].tolerance: null is not a tolerance`},
		{"type: video", "type: command", `p.yaml: cases[1].type: unknown type "command": write text or video`},
		{"name: videos", "name: close", `p.yaml: cases[1].name: "close" occurs twice: rename one of the two`},
		{"name: videos", "name: ../videos", `p.yaml: cases[1].name: "../videos" cannot be the name of a case's file: use letters`},
		{"name: videos", "name: .hidden", `cannot be the name of a case's file`},
		{"name: videos", "name: 7", "p.yaml: cases[1].name: want text: write a value, in quotes if it reads like a number"},
		{"    description: contexts nearly alike\n", "    description: [x]\n", "p.yaml: cases[0].description: want text"},
		{"    compare_input: {model_id: m, context_length: 1500, decode: true}\n", "", "p.yaml: cases[0].compare_input: is missing: add it"},
		{"{model_id: m, context_length: 1536}", "[m]", "p.yaml: cases[0].baseline_input: want an object, got a list"},
		{"cases:\n", "pairs:\n", "p.yaml: pairs: unknown key: use one of cases\np.yaml: cases: is missing: add it"},
		{"quantize_linear_action: FP8", "{}", "p.yaml:"},
		{"cases:\n", "cases: x\nmore:\n", "p.yaml: cases: want a list"},
	} {
		text := strings.Replace(pairsYAML, c.old, c.new, 1)
		if text == pairsYAML {
			t.Fatalf("%q is not in the text", c.old)
		}
		if _, err := cases.ReadPairs("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %q", c.new, err, c.want)
		}
	}
	for text, want := range map[string]string{"cases: []\n": "p.yaml: cases: is empty: add a case with name", "cases: [7]\n": "p.yaml: cases[0]: want a mapping", "": "file is empty"} {
		if _, err := cases.ReadPairs("p.yaml", []byte(text)); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %v, want %q", text, err, want)
		}
	}
}

// FuzzReadPairs: what is read can be opened and recorded.
func FuzzReadPairs(f *testing.F) {
	f.Add([]byte(pairsYAML))
	f.Add([]byte(`{"cases": [{"name": "a", "tolerance": "5%", "baseline_input": {}, "compare_input": {}}]}`))
	f.Add([]byte("cases: [&a {name: a}, *a]\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		pairs, err := cases.ReadPairs("p", data)
		if err != nil {
			if err.Error() == "" {
				t.Error("an error without words")
			}
			return
		}
		for i := range pairs {
			p := &pairs[i]
			if !(p.Tolerance >= 0 && p.Tolerance < 1) || p.Baseline == nil || p.Compare == nil {
				t.Errorf("%+v", p)
			}
			one := p.NewCase(filepath.Join("cases", p.Name+".json"))
			if _, err := casefile.Marshal(one); err != nil {
				t.Errorf("%q cannot be recorded: %v", p.Name, err)
			}
		}
	})
}

const pairCommands = `
    cases: cases
    commands:
      - type: text
        command: [sh, -c, 'printf "{{\"operators\": [{{\"name\": \"mm\", \"total_ms\": %s, \"calls\": 1}}]}}" "$0"', "{context_length}"]
        ignored: [model_id, decode]
        read: [json]
`

func TestOpenPairs(t *testing.T) {
	t.Parallel()
	dir := t.TempDir()
	write(t, dir, map[string]string{
		"cases/own.json": `{"name": "own", "description": "d", "compilation_config": [], "user_input": {"model_id": "m", "context_length": 7}}`,
		"cases/run.json": script("run", "echo '"+good+"'", ""),
	})
	read, err := cases.ReadPairs("p.yaml", []byte(pairsYAML))
	if err != nil {
		t.Fatal(err)
	}
	own, err := cases.OwnPairs(parse(t, pairCommands), dir)
	if err != nil {
		t.Fatal(err)
	}
	measured := func(aa bool) map[string]float64 {
		t.Helper()
		s, err := cases.OpenPairs(parse(t, pairCommands), environment(dir), slices.Concat(read, own), aa)
		if err != nil {
			t.Fatal(err)
		}
		times := map[string]float64{}
		for id, r := range results(t, s) {
			times[id] = -1
			if r.Outcome == bench.Passed {
				times[id] = r.Sample("total_time_s").Values[0]
			}
		}
		return times
	}
	both := map[string]float64{"close__baseline": 1.536, "close__compare": 1.5, "videos__baseline": -1, "videos__compare": -1,
		"own__baseline": 0.007, "own__compare": 0.007, "run__baseline": 0.004, "run__compare": 0.004}
	if diff := cmp.Diff(both, measured(false)); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	maps.DeleteFunc(both, func(id string, _ float64) bool { return strings.HasSuffix(id, "__compare") })
	if diff := cmp.Diff(both, measured(true)); diff != "" {
		t.Errorf("A/A (-want +got):\n%s", diff)
	}
	if id := own[0].CompareCell().ID(); id != "own__compare" {
		t.Errorf("id %s", id)
	}
	if _, err := cases.OpenPairs(parse(t, pairCommands), environment(dir), slices.Concat(read, read), false); err == nil || !strings.Contains(err.Error(), `two pairs have the name "close": rename one of them`) {
		t.Errorf("twice: %v", err)
	}
	if _, err := cases.OpenPairs(parse(t, pairCommands+"    dir: nowhere\n"), environment(dir), own, false); err == nil || !strings.Contains(err.Error(), "dir: there is no folder ") {
		t.Errorf("no folder to start in: %v", err)
	}
	write(t, dir, map[string]string{"cases/bad.json": "{"})
	if _, err := cases.OwnPairs(parse(t, pairCommands), dir); err == nil || !strings.Contains(err.Error(), "files that cannot be read: 1; correct them\ncases/bad.json:1:2: ") {
		t.Errorf("a broken file: %v", err)
	}
}

// TestNewCase: a pair's baseline becomes a case file that measures it.
func TestNewCase(t *testing.T) {
	t.Parallel()
	pairs, err := cases.ReadPairs("p.yaml", []byte(pairsYAML))
	if err != nil {
		t.Fatal(err)
	}
	for i := range pairs {
		p := &pairs[i]
		path := filepath.Join("cases", p.Name+".json")
		data, err := casefile.Marshal(p.NewCase(path))
		if err != nil {
			t.Fatal(err)
		}
		one, err := casefile.Parse(path, data)
		if err != nil {
			t.Fatal(err)
		}
		got := one.UserInput
		if p.Type == casefile.Video {
			got = one.Video
		}
		if diff := cmp.Diff(p.Baseline, got); diff != "" || one.Name != p.Name || one.Description != p.Description || one.Type != p.Type {
			t.Errorf("%+v (-want +got):\n%s", one, diff)
		}
	}
}
