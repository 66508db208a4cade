package config_test

import (
	"errors"
	"flag"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/err/*.txt")

// body is a suite body as a kind declares it.
type body struct {
	Shared   `yaml:""`
	Models   []model             `yaml:"models,required"`
	Features []feature           `yaml:"features"`
	Env      map[string][]string `yaml:"env"`
	Repeats  int                 `yaml:"repeats"`
	Small    int8                `yaml:"small"`
	Scale    float64             `yaml:"scale"`
	Limit    *config.Percent     `yaml:"limit"`
	Untagged string
}

// Shared is exported because an embedded struct's fields are set from outside.
type Shared struct {
	Timeout time.Duration `yaml:"timeout"`
	Shuffle bool          `yaml:"shuffle"`
}

type model struct {
	Name string   `yaml:"name,required"`
	Args []string `yaml:"args"`
}

type feature struct {
	Name   string `yaml:"name"`
	Expect string `yaml:"expect"`
}

// read does what the command does: parse, then let every suite decode.
func read(name string, data []byte) (*config.File, []body, error) {
	file, err := config.Parse(name, data)
	if err != nil {
		return nil, nil, err
	}
	bodies := make([]body, len(file.Suites))
	var errs []error
	for i := range file.Suites {
		errs = append(errs, file.Suites[i].Decode(&bodies[i]))
	}
	return file, bodies, errors.Join(errs...)
}

func TestErrors(t *testing.T) {
	inputs, err := filepath.Glob("testdata/err/*.yaml")
	if err != nil || len(inputs) == 0 {
		t.Fatalf("no inputs: %v", err)
	}
	for _, input := range inputs {
		t.Run(strings.TrimSuffix(filepath.Base(input), ".yaml"), func(t *testing.T) {
			data, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			_, _, err = read("accelgate.yaml", data)
			if err == nil {
				t.Fatal("got no error")
			}
			got := err.Error() + "\n"
			golden := strings.TrimSuffix(input, ".yaml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if err != nil {
				t.Fatalf("%v; run go test -update", err)
			}
			if diff := cmp.Diff(got, string(want)); diff != "" {
				t.Errorf("-got +want:\n%s", diff)
			}
			checkErrors(t, err)
		})
	}
}

// checkErrors asserts what holds for every complaint.
func checkErrors(t *testing.T, err error) {
	t.Helper()
	var all config.Errors
	if err == nil || !errors.As(err, &all) {
		return
	}
	for _, e := range all {
		text := e.Error()
		if e.Line < 1 || e.Column < 1 || e.File == "" {
			t.Errorf("%q has no position", text)
		}
		if !strings.Contains(text, "; ") {
			t.Errorf("%q names no next step", text)
		}
		if strings.ContainsFunc(text, func(r rune) bool { return r < ' ' || r == 0x202e }) {
			t.Errorf("%q holds raw control characters", text)
		}
		if len(text) > 4096 {
			t.Errorf("message is %d bytes long: %.200s", len(text), text)
		}
	}
}

func TestOK(t *testing.T) {
	limit, off := config.Percent(5), false
	minimal := func(b body) []body { return []body{b} }
	tests := map[string]struct {
		policy config.Policy
		bodies []body
	}{
		"minimal": {bodies: minimal(body{Models: []model{{Name: "tiny"}}})},
		"full": {
			policy: config.Policy{Threshold: &limit, RequireBaseline: &off},
			bodies: []body{{
				Shared:   Shared{Timeout: 90 * time.Second, Shuffle: true},
				Models:   []model{{Name: "tiny", Args: []string{"--seed", "7", "1.10", "true"}}, {Name: "qwen2.5"}},
				Features: []feature{{Name: "short", Expect: "two\nlines\n"}},
				Env:      map[string][]string{"KV.DTYPE": {"f32", "q8_0"}},
				Repeats:  3, Small: -128, Scale: 0.5, Limit: new(config.Percent),
			}, {Models: []model{{Name: "tiny"}}}},
		},
		"aliases": {bodies: []body{
			{Models: []model{{Name: "tiny", Args: []string{"-x"}}}},
			{Models: []model{{Name: "tiny", Args: []string{"-x"}}, {Name: "big", Args: []string{"-x"}}}},
		}},
		"windows": {bodies: minimal(body{Models: []model{{Name: "tiny"}}})},
	}
	inputs, _ := filepath.Glob("testdata/ok/*.yaml")
	if len(inputs) != len(tests) {
		t.Errorf("got %d files in testdata/ok, want one for each of %d tests", len(inputs), len(tests))
	}
	for name, want := range tests {
		t.Run(name, func(t *testing.T) {
			path := "testdata/ok/" + name + ".yaml"
			data, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			file, bodies, err := read(path, data)
			if err != nil {
				t.Fatal(err)
			}
			if diff := cmp.Diff(file.Policy, want.policy); diff != "" {
				t.Errorf("policy: -got +want:\n%s", diff)
			}
			if diff := cmp.Diff(bodies, want.bodies); diff != "" {
				t.Errorf("bodies: -got +want:\n%s", diff)
			}
		})
	}
}

func TestLoadResolvesPathsFromTheFile(t *testing.T) {
	file, err := config.Load("testdata/ok/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	if got, want := file.Resolve(file.Baselines.Path), filepath.Join("testdata", "ok", "perf"); got != want {
		t.Errorf("got baselines in %q, want %q", got, want)
	}
	abs := filepath.Join(t.TempDir(), "b")
	if got := file.Resolve(abs); got != abs {
		t.Errorf("got %q, want %q", got, abs)
	}
	if got, want := file.Host.Label, "linux-cpu"; got != want {
		t.Errorf("got label %q, want %q", got, want)
	}
}

// TestHostLabelIsLeftToTheHost: one package says what a label is, so a wrong
// one yields one complaint.
func TestHostLabelIsLeftToTheHost(t *testing.T) {
	const rest = "\nsuites: [{name: a, kind: k}]\n"
	for text, want := range map[string]string{"H100": "H100", "100": "100", "../etc": "../etc", `""`: ""} {
		file, err := config.Parse("x.yaml", []byte("version: 1\nhost: {label: "+text+"}"+rest))
		if err != nil || file.Host.Label != want {
			t.Errorf("%s: got %+v, %v, want label %q", text, file, err, want)
		}
	}
	_, err := config.Parse("x.yaml", []byte("version: 1\nhost: {label: [a]}"+rest))
	if want := "x.yaml:2:15: host.label: want text, got a list; write a single value"; err == nil || err.Error() != want {
		t.Errorf("got %v, want %s", err, want)
	}
}

func TestLoadNamesWhatItCannotRead(t *testing.T) {
	missing := filepath.Join(t.TempDir(), "none.yaml")
	_, err := config.Load(missing)
	if !errors.Is(err, fs.ErrNotExist) || !strings.Contains(err.Error(), missing) || !strings.Contains(err.Error(), "--config") {
		t.Errorf("got %v, want not-exist naming the file and --config", err)
	}
	if _, err := config.Load(t.TempDir()); err == nil || !strings.Contains(err.Error(), "--config") {
		t.Errorf("got %v, want an error for a folder", err)
	}
}

func TestErrorIsReachable(t *testing.T) {
	_, err := config.Parse("a/b.yaml", []byte("version: 1\nsuitse: []\n"))
	var e *config.Error
	if !errors.As(err, &e) {
		t.Fatalf("got %v, want a *config.Error inside", err)
	}
	want := config.Position{File: "a/b.yaml", Line: 1, Column: 1}
	if diff := cmp.Diff(e.Position, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
}

func TestSuitePosition(t *testing.T) {
	file, err := config.Load("testdata/ok/full.yaml")
	if err != nil {
		t.Fatal(err)
	}
	s := &file.Suites[0]
	tests := []struct{ path, want string }{
		{"", "8:5"},
		{"name", "8:11"},
		{"timeout", "10:14"},
		{"models[1].name", "15:15"},
		{"models[0].args[2]", "14:29"},
		{`env["KV.DTYPE"][1]`, "21:27"},
		{"features[0].expect", "18:17"},
		{"features[0].nothing", "17:9"}, // the last value on the way
		{"features[7]", "17:7"},
		{"features[x]", "17:7"},
		{"nothing.at[0].all", "8:5"},
		{".", "8:5"},
		{"[", "8:5"},
		{"models[99999999999999999999]", "13:7"},
	}
	for _, tt := range tests {
		if got, want := s.Position(tt.path).String(), "testdata/ok/full.yaml:"+tt.want; got != want {
			t.Errorf("Position(%q): got %s, want %s", tt.path, got, want)
		}
	}
	err = s.Errorf("models[1].name", "%q is not downloaded; run fetch", "qwen2.5")
	want := `testdata/ok/full.yaml:15:15: suites[0].models[1].name: "qwen2.5" is not downloaded; run fetch`
	if err.Error() != want {
		t.Errorf("got %s\nwant %s", err, want)
	}
}

func TestDecodeKeepsDefaults(t *testing.T) {
	file, err := config.Parse("x.yaml", []byte("version: 1\nsuites: [{name: a, kind: k, repeats: 2, models: [{name: m}]}]"))
	if err != nil {
		t.Fatal(err)
	}
	b := body{Repeats: 1, Scale: 4, Untagged: "kept"}
	if err := file.Suites[0].Decode(&b); err != nil {
		t.Fatal(err)
	}
	if b.Repeats != 2 || b.Scale != 4 || b.Untagged != "kept" {
		t.Errorf("got %+v, want repeats 2 and the defaults 4 and kept", b)
	}
}

func TestPercent(t *testing.T) {
	for text, want := range map[string]config.Percent{"10%": 10, "10": 10, "0": 0, "0%": 0, "2.5%": 2.5, "0.1%": 0.1, "99.9": 99.9, "1e1%": 10} {
		var got config.Percent
		if err := got.UnmarshalText([]byte(text)); err != nil || got != want {
			t.Errorf("%q: got %v, %v, want %v", text, float64(got), err, float64(want))
		}
	}
	for _, text := range []string{"", "%", "x", "-1", "-0.1%", "100", "100%", "NaN", "Inf%", "0.1", "1_0", "0x1p3", "10 %", "10%%", "1e999"} {
		var got config.Percent
		if err := got.UnmarshalText([]byte(text)); err == nil {
			t.Errorf("%q: got %v, want an error", text, got)
		}
	}
	if got := config.Percent(2.5).String(); got != "2.5%" {
		t.Errorf("got %s, want 2.5%%", got)
	}
}

// TestHostileSizes holds inputs that are too large or too repetitive for files.
func TestHostileSizes(t *testing.T) {
	suite := "suites: [{name: a, kind: k, models: [{name: m}]}]\n"
	keys := "version: 1\nsuites:\n- &s\n  name: a\n  kind: k\n"
	for i := range 5000 {
		keys += fmt.Sprintf("  k%d: 1\n", i)
	}
	tests := map[string]struct{ input, want string }{
		"file":         {"version: 1\n" + suite + strings.Repeat("#", 1<<20), "larger than 1048576 bytes"},
		"flow":         {strings.Repeat("[", 1<<16), "deeper than 32 levels"},
		"flow mapping": {strings.Repeat("{a: ", 1<<14), "deeper than 32 levels"},
		"blocks":       {strings.Repeat("- ", 1<<16), "deeper than 32 levels"},
		"questions":    {strings.Repeat("? ", 1<<16), "deeper than 32 levels"},
		"tokens":       {strings.Repeat("- a\n", 1<<15), "more than 30000 YAML tokens"},
		"tags":         {strings.Repeat("!a ", 1<<15), "more than 30000 YAML tokens"},
		"anchors":      {strings.Repeat("&a\n", 1<<15), "more than 30000 YAML tokens"},
		"literals":     {strings.Repeat("|\n", 1<<16), "more than 30000 YAML tokens"},
		"key":          {"version: 1\n" + strings.Repeat("k", 1<<16) + ": 1\n", "key is longer than 128 bytes"},
		"many tags":    {"version: 1\n" + strings.Repeat("!a\n", 9000) + suite, "not valid YAML"},
		"suites":       {keys + strings.Repeat("- *s\n", 4000), "aliases expand to more than 100000 values"},
		"value":        {"version: 1\nbaselines: " + strings.Repeat("é", 1<<18) + "\npolicy: {threshold: " + strings.Repeat("é", 1<<17) + "}\n" + suite, "(cut)"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			_, _, err := read("accelgate.yaml", []byte(tt.input))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %.300v, want %q", err, tt.want)
			}
			checkErrors(t, err)
		})
	}
}

// tree is a type that aliases can expand without an end.
type tree struct {
	Kids []tree `yaml:"kids"`
}

func TestAliasesAreBounded(t *testing.T) {
	laughs := "version: 1\nsuites:\n- name: a\n  kind: k\n  kids:\n  - &k0 {kids: []}\n"
	for i := range 9 {
		kids := strings.TrimSuffix(strings.Repeat(fmt.Sprintf("*k%d, ", i), 10), ", ")
		laughs += fmt.Sprintf("  - &k%d {kids: [%s]}\n", i+1, kids)
	}
	tests := map[string]struct{ input, want string }{
		"laughs": {laughs, "aliases expand to more than 100000 values"},
		"cycle":  {"version: 1\nsuites:\n- name: a\n  kind: k\n  kids:\n  - &k {kids: [*k]}\n", "aliases nest too deeply"},
	}
	for name, tt := range tests {
		t.Run(name, func(t *testing.T) {
			file, err := config.Parse("accelgate.yaml", []byte(tt.input))
			if err != nil {
				t.Fatal(err)
			}
			err = file.Suites[0].Decode(new(tree))
			if err == nil || !strings.Contains(err.Error(), tt.want) {
				t.Fatalf("got %.300v, want %q", err, tt.want)
			}
			checkErrors(t, err)
		})
	}
}

func FuzzParse(f *testing.F) {
	for _, pattern := range []string{"testdata/ok/*.yaml", "testdata/err/*.yaml"} {
		inputs, _ := filepath.Glob(pattern)
		for _, input := range inputs {
			data, err := os.ReadFile(input)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(data)
		}
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		file, bodies, err := read("accelgate.yaml", data)
		checkErrors(t, err)
		name := config.NameOf(data)
		if name != "" && !config.ValidName(name) || err == nil && name != file.Name {
			t.Errorf("got the name %q", name)
		}
		if err != nil {
			return
		}
		if len(file.Suites) == 0 {
			t.Error("got no suites and no error")
		}
		file.Uses(func(int) bool { return true })
		placed, err := file.Place(map[string]string{"model": "/cache/model"})
		if checkErrors(t, err); err != nil || len(placed.Suites) != len(file.Suites) || placed.Digest != file.Digest {
			t.Errorf("placed: %v", err)
		}
		if p := file.Policy.Threshold; p != nil && !(*p >= 0 && *p < 100) {
			t.Errorf("got threshold %v", *p)
		}
		names := map[string]bool{}
		for i, s := range file.Suites {
			if s.Name == "" || s.Kind == "" || names[s.Name] {
				t.Errorf("suite %d: got name %q, kind %q", i, s.Name, s.Kind)
			}
			names[s.Name] = true
			if p := s.Position("models[0].name"); p.Line < s.Line && len(bodies[i].Models) > 0 && !strings.Contains(string(data), "*") {
				t.Errorf("models[0].name: got line %d before the suite's %d", p.Line, s.Line)
			}
		}
	})
}
