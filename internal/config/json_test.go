package config_test

import (
	"encoding/json"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/config"
)

func TestToJSON(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"b: 1\na: [x, 1.50, true, null, ~]\n":                     `{"b":1,"a":["x",1.50,true,null,null]}`,
		"{\"a\": {\"b\": [1e-3, \"1\", \"\\u00e4\"]}, \"c\": -0}": `{"a":{"b":[1e-3,"1","ä"]},"c":-0}`,
		"a: &x {b: [1]}\nc: *x\n":                                 `{"a":{"b":[1]},"c":{"b":[1]}}`,
		"a: |\n  two\n  lines\n":                                  `{"a":"two\nlines\n"}`,
		"1: one\n":                                                `{"1":"one"}`,
	} {
		got, err := config.ToJSON("f.yaml", []byte(text))
		if err != nil || string(got) != want {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}

func TestToJSONRefuses(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{
		"a: 1\na: 2\n":            `f.yaml:2:1: duplicate key "a" at the top level, first at line 1; remove one of the two`,
		"a: [0x10]\n":             "f.yaml:1:5: a[0]: want a number, got 0x10; write decimal digits without quotes",
		"a: .inf\n":               "f.yaml:1:4: a: want a number, got .inf; write decimal digits without quotes",
		"[1]\n":                   `f.yaml:1:1: file: want a mapping, got a list; write one "key: value" per line, indented`,
		"a: *b\n":                 `f.yaml:1:4: alias "*b" has no anchor; define "&b" first or write the value out`,
		"a: &a\n  b: *a\n":        "aliases nest too deeply; write the values out instead",
		"{\"a\": 1} {\"b\": 2}\n": "",
	} {
		got, err := config.ToJSON("f.yaml", []byte(text))
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("%q: %s, %v, want %s", text, got, err, want)
		}
	}
}

// FuzzToJSON: what is converted is JSON, and JSON stays what it was.
func FuzzToJSON(f *testing.F) {
	for _, seed := range []string{"a: 1\n", `{"a": [1, {"b": null}]}`, "a: &x [1]\nb: *x\n", "a: 0o7\n", "? a\n: b\n"} {
		f.Add([]byte(seed))
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		got, err := config.ToJSON("f", data)
		if err != nil {
			return
		}
		if !json.Valid(got) {
			t.Errorf("%q became %q, which is not JSON", data, got)
		}
		if again, err := config.ToJSON("f", got); len(got) < 1000 && (err != nil || string(again) != string(got)) {
			t.Errorf("%q became %q and then %q, %v", data, got, again, err)
		}
	})
}
