package models

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
	"github.com/accelgate/accelgate/internal/text"
)

const rechecked = `
command: [engine]
models: [m, {id: n, expect: {contains: [Paris]}}, {id: a=b, expect: {contains: [Paris]}}]
tokens: ids
expect:
  - {when: {model: m}, text: "The sky is blue."}
  - {when: {model: m}, tokens: [1, 2, 3]}
metrics: [{name: tps, json: tps, better: higher}]
`

// cellOf is a cell with a model, in whatever axis.
func cellOf(axis, model string) bench.Cell {
	return bench.Cell{Params: []bench.Param{{Key: axis, Value: model}, {Key: "backend", Value: "c"}, {Key: "feature", Value: "f"}}}
}

// TestRecheck: what a run recorded is held against the judge's expectations.
func TestRecheck(t *testing.T) {
	c, err := config.Body("accelgate.yaml", []byte(rechecked))
	if err != nil {
		t.Fatal(err)
	}
	check, err := Recheck(c)
	if err != nil {
		t.Fatal(err)
	}
	for name, o := range map[string]struct {
		model, output string
		tokens        []int64
		want          string // "" passes
	}{
		"right":               {"m", "The sky is blue.", []int64{1, 2, 3}, ""},
		"another text":        {"m", "The sky is red.", []int64{1, 2, 3}, "the answer differs at byte 11"},
		"other token ids":     {"m", "The sky is blue.", []int64{1, 2, 4}, "token 3 of 3 is 4"},
		"no token ids":        {"m", "The sky is blue.", nil, "the run recorded no token ids"},
		"of a value, right":   {"n", "paris", nil, ""},
		"of a value, wrong":   {"n", "London", nil, `the answer lacks "Paris"`},
		"of a value, none":    {"n", "", nil, "the run recorded no answer"},
		"of a value, cut":     {"n", strings.Repeat("é", maxOutput) + "", nil, "lacks"},
		"of an unknown value": {"o", "", nil, ""},
	} {
		r := bench.Result{Cell: cellOf("model", o.model), Outcome: bench.Passed, Output: o.output, Tokens: o.tokens}
		_, err := check(&r)
		if o.want == "" && err != nil || o.want != "" && (err == nil || !strings.Contains(err.Error(), o.want)) {
			t.Errorf("%s: %v, want %q", name, err, o.want)
		}
	}
	for name, cell := range map[string]bench.Cell{ // of the same id
		"an axis of another name": cellOf("network", "n"),
		"an id alone":             {Raw: cellOf("model", "n").ID()},
		"a swept variable":        {Params: append([]bench.Param{{Key: bench.EnvPrefix + "a", Value: "b"}}, cellOf("", "").Params[1:]...)},
	} {
		r := bench.Result{Cell: cell, Outcome: bench.Passed, Output: "London"}
		if _, err := check(&r); err == nil {
			t.Errorf("%s: passes with a wrong answer", name)
		}
	}
	r := bench.Result{Cell: cellOf("model", "n"), Outcome: bench.Passed, Output: text.Clip(strings.Repeat("é", maxOutput), maxOutput)}
	if unverified, err := check(&r); err != nil || unverified == "" {
		t.Errorf("a cut answer: %q, %v, want that it cannot be verified", unverified, err)
	}
}

// TestTokenIDsAreRecorded by which a judge can check the answer again.
func TestTokenIDsAreRecorded(t *testing.T) {
	r := bench.Result{}
	reader := &reader{}
	doc := formats.NewDocument([]byte(`{"ids": [1, 2, 3]}`))
	var path formats.Path
	if err := path.UnmarshalText([]byte("ids")); err != nil {
		t.Fatal(err)
	}
	reader.tokens = &path
	if err := reader.check(&r, doc, nil, expectation{Tokens: []int64{1, 2, 3}}); err != nil || len(r.Tokens) != 3 {
		t.Errorf("recorded %v, %v", r.Tokens, err)
	}
}
