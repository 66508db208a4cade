package formats_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats"
)

// TestConfigurationFields reads what a suite declares, with positions.
func TestConfigurationFields(t *testing.T) {
	type metric struct {
		JSON   *formats.Path    `yaml:"json"`
		Regexp *formats.Pattern `yaml:"regexp"`
	}
	var body struct {
		Metrics []metric      `yaml:"metrics"`
		Tokens  *formats.Path `yaml:"tokens"`
		Answer  *formats.Path `yaml:"answer"`
	}
	read := func(lines string) error {
		t.Helper()
		file, err := config.Parse("x.yaml", []byte("version: 1\nsuites:\n- name: a\n  kind: k\n"+lines))
		if err != nil {
			t.Fatal(err)
		}
		return file.Suites[0].Decode(&body)
	}
	if err := read("  tokens: $.ids\n  metrics:\n  - json: runs[-1].ms\n  - regexp: 'done in (\\S+) s'\n"); err != nil {
		t.Fatal(err)
	}
	if body.Answer != nil || body.Metrics[0].Regexp != nil || body.Metrics[1].JSON != nil {
		t.Errorf("got %+v, want nil for what is absent", body)
	}
	got := []string{body.Tokens.String(), body.Metrics[0].JSON.String(), body.Metrics[1].Regexp.String()}
	if diff := cmp.Diff(got, []string{"$.ids", "runs[-1].ms", `done in (\S+) s`}); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	for lines, want := range map[string]string{
		"  tokens: ids[\n":                         `x.yaml:5:11: suites[0].tokens: JSON path "ids[": an index or a quoted name is expected in brackets; write for example $.timing.decode_tps, runs[-1].ms or ['tokens/s']`,
		"  tokens: ''\n":                           `x.yaml:5:11: suites[0].tokens: JSON path "": it is empty; write for example $.timing.decode_tps, runs[-1].ms or ['tokens/s']`,
		"  tokens: [ids]\n":                        `x.yaml:5:11: suites[0].tokens: want text, got a list; write a single value`,
		"  metrics:\n  - json: a\n    regexp: x\n": `x.yaml:7:13: suites[0].metrics[0].regexp: regular expression "x" has no group; put parentheses around what it should find`,
	} {
		if err := read(lines); text(err) != want {
			t.Errorf("%s: got %v\nwant %s", lines, err, want)
		}
	}
}

func TestPattern(t *testing.T) {
	for re, want := range map[string]string{
		`answer: (\w+)`: "blue", `(answer): (?P<value>\w+)`: "blue", `(?m)^(\w+)$`: "last", `answer: (x?)`: "", `(?s)answer: (.*)`: "blue\nlast",
	} {
		p, err := formats.ParsePattern(re)
		if err != nil {
			t.Fatal(err)
		}
		in := []byte("the answer: blue\nlast")
		got, ok := p.Find(in)
		if string(got) != want || !ok || p.String() != re {
			t.Errorf("%s: got %q, %v, want %q", p, got, ok, want)
		}
		if _ = append(got, "overwritten"...); string(in) != "the answer: blue\nlast" {
			t.Errorf("%s: what was found can be extended over the text: %q", p, in)
		}
	}
	for _, re := range []string{`(\d+)`, `answer|(\d+) tokens`} {
		p, err := formats.ParsePattern(re)
		if err != nil {
			t.Fatal(err)
		}
		if got, ok := p.Find([]byte("answer")); got != nil || ok {
			t.Errorf("%s: got %q, %v, want nothing", re, got, ok)
		}
	}
	var zero formats.Pattern
	if err := zero.UnmarshalText([]byte("(")); err == nil || zero.String() != "" {
		t.Errorf("got %v, %v, want an error and the zero pattern", zero, err)
	}
	if got, ok := zero.Find([]byte("x")); got != nil || ok {
		t.Errorf("zero: got %q, %v, want nothing", got, ok)
	}
}
