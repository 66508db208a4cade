package config_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
)

// item may be written as its name alone.
type item struct {
	Name string   `yaml:"name,scalar"`
	Args []string `yaml:"args"`
}

type layered struct {
	Items []item            `yaml:"items"`
	Vars  map[string]string `yaml:"vars"`
	One   config.List[item] `yaml:"one"`
	Inner struct {
		A string `yaml:"a"`
		B string `yaml:"b"`
	} `yaml:"inner"`
}

// TestLayers: a preset is decoded first and the suite over it; lists are
// replaced, maps and structs keep what the suite does not mention.
func TestLayers(t *testing.T) {
	var got layered
	for _, text := range []string{
		"items: [x, {name: y, args: [1]}]\nvars: {a: one, b: two}\ninner: {a: p, b: q}\n",
		"items: [z]\nvars: {b: three}\ninner: {b: r}\n",
	} {
		s, err := config.Body("preset", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		if err := s.Decode(&got); err != nil {
			t.Fatal(err)
		}
	}
	var want layered
	want.Items, want.Vars = []item{{Name: "z"}}, map[string]string{"a": "one", "b": "three"}
	want.Inner.A, want.Inner.B = "p", "r"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// TestListOfOne: a plain value or a mapping stands for a list of it, and nothing else does.
func TestListOfOne(t *testing.T) {
	for text, want := range map[string]config.List[item]{
		"one: x\n":                    {{Name: "x"}},
		"one: [x, y]\n":               {{Name: "x"}, {Name: "y"}},
		"one: {name: x, args: [y]}\n": {{Name: "x", Args: []string{"y"}}},
		"one: {}\n":                   {{}},
		"one: &a {name: x}\n":         {{Name: "x"}},
		"one: {a: b}\n":               nil,
		"one: [{name: x}, [y]]\n":     nil,
	} {
		s, err := config.Body("preset", []byte(text))
		if err != nil {
			t.Fatal(err)
		}
		var got layered
		if err := s.Decode(&got); (err == nil) != (want != nil) {
			t.Errorf("%s: %v", text, err)
		}
		if diff := cmp.Diff(want, got.One); want != nil && diff != "" {
			t.Errorf("%s (-want +got):\n%s", text, diff)
		}
	}
}

func TestBodyErrorsCarryTheName(t *testing.T) {
	for text, want := range map[string]string{
		"items: [x]\nitem: y\n": "preset x:2:1: unknown key \"item\" at the top level; did you mean \"items\"? (known keys: build, cell_timeouts, cpus, devices, each, fits, inner, items, kind, levels, limits, name, no_output, numa, on_timeout, one, per_model, relations, retries, service, setup, teardown, vars)",
		"items: [[x]]\n":        "preset x:1:9: items[0]: want a mapping, got a list; write one \"key: value\" per line, indented",
		"":                      "preset x:1:1: file is empty; write at least \"version: 1\" and \"suites:\" with one suite",
	} {
		s, err := config.Body("preset x", []byte(text))
		if err == nil {
			err = s.Decode(&layered{})
		}
		if err == nil || err.Error() != want {
			t.Errorf("%q: %v, want %s", text, err, want)
		}
	}
	s, err := config.Body("preset x", []byte("items:\n  - x\n"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := s.Errorf("items[0]", "is wrong").Error(), "preset x:2:5: items[0]: is wrong"; got != want {
		t.Errorf("Errorf() = %s, want %s", got, want)
	}
}
