package casefile_test

import (
	"encoding/json"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/cases/casefile"
	"github.com/google/go-cmp/cmp"
)

func TestParseSettings(t *testing.T) {
	t.Parallel()
	for _, test := range []struct{ typ, text, want string }{
		{"text", `{}`, ""},
		{"text", `{"tp_size": 2, "world_size": 2, "vision_tp_size": 2}`, ""},
		{"video", `{"quantize_linear_action": "DISABLED", "seq_len": 128}`, ""},
		{"text", `{"tp_size": "2", "tpsize": 2, "operators": []}`,
			"auto.yaml: cases[0].baseline_input.tp_size: want a whole number, got the text \"2\"; write a whole number\n" +
				"auto.yaml: cases[0].baseline_input.tpsize: unknown key; write tp_size, or remove it\n" +
				"auto.yaml: cases[0].baseline_input.operators: unknown key; move it out of user_input"},
		{"text", `{"world_size": 4, "vision_tp_size": 3, "mtp_acceptance_rate": [1, "x"]}`,
			"auto.yaml: cases[0].baseline_input.vision_tp_size: 3 does not divide world_size 4; write a divisor of world_size\n" +
				"auto.yaml: cases[0].baseline_input.mtp_acceptance_rate[1]: want a number, got the text \"x\"; write a number"},
		{"text", `null`, "auto.yaml: cases[0].baseline_input: want an object, got null; write an object in braces"},
		{"text", `{`, "auto.yaml: cases[0].baseline_input: is not valid JSON; write one object of settings"},
		{"text", "{\"device\": \"\xff\"}", "auto.yaml: cases[0].baseline_input: is not valid JSON; write one object of settings"},
		{"text", strings.Repeat(" ", 1<<20) + "{}", "auto.yaml: cases[0].baseline_input: is larger than 1048576 bytes; remove what is not a setting"},
		{"video", `{}`, "auto.yaml: cases[0].baseline_input.quantize_linear_action: is missing; add it"},
		{"video", `[]`, "auto.yaml: cases[0].baseline_input: want an object, got a list; write an object in braces"},
		{"video", `{"quantize_linear_action": "FP8", "name": "x", "heigth": 1}`,
			"auto.yaml: cases[0].baseline_input.name: unknown key; remove it\n" +
				"auto.yaml: cases[0].baseline_input.heigth: unknown key; write height, or remove it"},
		{"command", `{}`, `auto.yaml: cases[0].baseline_input: cases of type "command" have no settings; write one of text, video`},
	} {
		got, err := casefile.ParseSettings("auto.yaml", "cases[0].baseline_input", test.typ, []byte(test.text))
		if err != nil {
			if err.Error() != test.want || got != nil {
				t.Errorf("%s: got %v and the error\n%s\nwant\n%s", test.text, got, err, test.want)
			}
			checkProblems(t, err)
			continue
		}
		// A case file says the same.
		file := `{"name": "c", "description": "", "user_input": ` + test.text + `}`
		if test.typ == casefile.Video {
			file = `{"name": "c", "description": "", "type": "video", ` + test.text[1:]
		}
		c, err := casefile.Parse("c.json", []byte(file))
		if err != nil || test.want != "" {
			t.Fatalf("%s: no error, want %s; %v", test.text, test.want, err)
		}
		want := c.UserInput
		if test.typ == casefile.Video {
			want = c.Video
		}
		if diff := cmp.Diff(got, want); diff != "" {
			t.Errorf("%s: -got +want:\n%s", test.text, diff)
		}
	}
}

func TestDefault(t *testing.T) {
	t.Parallel()
	for _, test := range []struct {
		typ, key string
		want     any
		ok       bool
	}{
		{"text", "tp_size", json.Number("1"), true},
		{"text", "dp_size", nil, true},
		{"text", "dynamic_shapes", nil, false},
		{"text", "seq_len", nil, false},
		{"video", "dtype", "float16", true},
		{"video", "quantize_linear_action", nil, false},
		{"command", "tp_size", nil, false},
	} {
		if got, ok := casefile.Default(test.typ, test.key); ok != test.ok || !cmp.Equal(got, test.want) {
			t.Errorf("%s, %s: got %v, %t, want %v, %t", test.typ, test.key, got, ok, test.want, test.ok)
		}
	}
}

func TestKeys(t *testing.T) {
	t.Parallel()
	text, video := casefile.Keys("text"), casefile.Keys("video")
	if len(text) != 64 || text[0] != "device" || len(video) != 14 || video[13] != "quantize_linear_action" || casefile.Keys("command") != nil {
		t.Errorf("got %d and %d keys: %v, %v", len(text), len(video), text, video)
	}
	slices.Sort(text)
	if casefile.Keys("text")[0] != "device" {
		t.Error("the caller's copy is ours")
	}
}

func FuzzParseSettings(f *testing.F) {
	f.Add("text", []byte(`{"tp_size": 2, "mtp_acceptance_rate": [0.5, null], "x": {"y": [1]}}`))
	f.Add("video", []byte(`{"seq_len": 1e3, "quantize_linear_action": "\ud800"}`))
	f.Fuzz(func(t *testing.T, typ string, data []byte) {
		got, err := casefile.ParseSettings("auto.yaml", "cases[0]", typ, data)
		if err != nil {
			checkProblems(t, err)
			return
		}
		for key := range got {
			if !slices.Contains(casefile.Keys(typ), key) {
				t.Errorf("unknown key %q", key)
			}
		}
	})
}
