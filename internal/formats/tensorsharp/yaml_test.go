package tensorsharp_test

import (
	"flag"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
	"github.com/accelgate/accelgate/internal/formats/tensorsharp"
)

var update = flag.Bool("update", false, "rewrite testdata/*.yaml")

// suite is what a translation may hold.
type suite struct {
	Preset   string            `yaml:"preset"`
	Timeout  string            `yaml:"timeout"`
	Vars     map[string]string `yaml:"vars"`
	Discover struct {
		Dir string `yaml:"dir"`
	} `yaml:"discover"`
	Models []struct {
		ID       string            `yaml:"id"`
		Args     []string          `yaml:"args"`
		Vars     map[string]string `yaml:"vars"`
		Provides []string          `yaml:"provides"`
	} `yaml:"models"`
	Exclude []map[string]string `yaml:"exclude"`
	Select  struct {
		Backends []string `yaml:"backends"`
		Features []string `yaml:"features"`
		Sweeps   []string `yaml:"sweeps"`
	} `yaml:"select"`
}

// translated decodes a translation again, which refuses every key that does not
// belong there.
func translated(t *testing.T, c *tensorsharp.Config, o tensorsharp.Options) (*config.File, *suite, []string) {
	t.Helper()
	text, warnings, err := c.YAML(o)
	if err != nil {
		t.Fatal(err)
	}
	file, err := config.Parse("accelgate.yaml", text)
	if err != nil {
		if strings.Contains(err.Error(), "YAML tokens") || strings.Contains(err.Error(), "is larger than") {
			t.Skip("a configuration of this size is refused")
		}
		t.Fatalf("%v\n%s", err, text)
	}
	var s suite
	if len(file.Suites) != 1 {
		t.Fatalf("%d suites\n%s", len(file.Suites), text)
	}
	if err := file.Suites[0].Decode(&s); err != nil {
		t.Fatalf("%v\n%s", err, text)
	}
	if s.Preset != "tensorsharp" || file.Suites[0].Kind != "models" {
		t.Fatalf("preset %q of kind %q", s.Preset, file.Suites[0].Kind)
	}
	return file, &s, warnings
}

func read(t *testing.T, text string) *tensorsharp.Config {
	t.Helper()
	c, _, err := tensorsharp.ReadConfig("matrix-config.json", []byte(text))
	if err != nil {
		t.Fatal(err)
	}
	return c
}

func files(t *testing.T, names ...string) (dir string) {
	t.Helper()
	dir = t.TempDir()
	for _, name := range names {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

// TestYAML translates testdata/*.json in a folder with some models and compares
// with the .yaml beside it: warnings, then the text.
func TestYAML(t *testing.T) {
	t.Parallel()
	inputs, err := filepath.Glob("testdata/*.json")
	if err != nil || len(inputs) == 0 {
		t.Fatal("no inputs", err)
	}
	for _, input := range inputs {
		t.Run(filepath.Base(input), func(t *testing.T) {
			t.Parallel()
			dir := files(t, "models/gemma-4-a.gguf", "models/gemma-4-mmproj.gguf", "models/Qwen3-b.gguf", "media/apple.png")
			data, err := os.ReadFile(input)
			if err != nil {
				t.Fatal(err)
			}
			c, warnings, err := tensorsharp.ReadConfig(filepath.Base(input), data)
			if err != nil {
				t.Fatal(err)
			}
			text, more, err := c.YAML(tensorsharp.Options{WorkDir: dir, Dir: dir})
			if err != nil {
				t.Fatal(err)
			}
			got := ""
			for _, w := range append(warnings, more...) {
				got += "# warning: " + w + "\n"
			}
			got = strings.ReplaceAll(got+string(text), "\\", "/")
			golden := strings.TrimSuffix(input, ".json") + ".yaml"
			if *update {
				if err := os.WriteFile(golden, []byte(got), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			want, err := os.ReadFile(golden)
			if diff := cmp.Diff(string(want), got); diff != "" || err != nil {
				t.Errorf("%v (-want +got):\n%s", err, diff)
			}
			if _, err := config.Parse("accelgate.yaml", text); err != nil {
				t.Error(err)
			}
		})
	}
}

func TestYAMLNeedsModels(t *testing.T) {
	t.Parallel()
	_, _, warnings := translated(t, read(t, `{}`), tensorsharp.Options{})
	if len(warnings) != 1 || !strings.Contains(warnings[0], "add model_dir, or pass --model-dir") {
		t.Errorf("warnings %q, want the next step", warnings)
	}
	if _, s, _ := translated(t, read(t, `{}`), tensorsharp.Options{ModelDir: "m"}); s.Discover.Dir != "m" {
		t.Errorf("folder of models is %q, want m", s.Discover.Dir)
	}
}

// TestYAMLPaths: relative paths of the configuration count from the working
// folder and those of accelgate.yaml from its own.
func TestYAMLPaths(t *testing.T) {
	t.Parallel()
	c := read(t, `{"model_dir": "models", "cli_executable": "cli", "baselines_dir": "/b"}`)
	for _, o := range []tensorsharp.Options{
		{Dir: "sub"},
		{WorkDir: "/work", Dir: "/work/sub"},
	} {
		file, s, _ := translated(t, c, o)
		if s.Discover.Dir != "../models" || s.Vars["cli"] != "../cli" || file.Baselines.Path != "/b" ||
			s.Vars["image"] != "../TensorSharp.TestMatrix/Inputs/media/apple.png" {
			t.Errorf("%+v: got %+v, %+v", o, file, s)
		}
	}
	for _, o := range []tensorsharp.Options{{}, {WorkDir: "/work", Dir: "/work"}, {WorkDir: "/work"}, {Dir: "/work"}} {
		if _, s, _ := translated(t, c, o); s.Discover.Dir != "models" || s.Vars["cli"] != "./cli" {
			t.Errorf("%+v: got %+v", o, s)
		}
	}
}

func TestYAMLPathsWithoutARelation(t *testing.T) {
	t.Parallel()
	_, _, err := read(t, `{"model_dir": "models"}`).YAML(tensorsharp.Options{WorkDir: "/work", Dir: "sub"})
	if err == nil || !strings.Contains(err.Error(), "write absolute paths into the configuration") {
		t.Errorf("error %v, want the next step", err)
	}
}

// TestYAMLFindsTheProgram looks where TensorSharp's repository has it.
func TestYAMLFindsTheProgram(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ file, cli, inputs string }{
		{"x", "TensorSharp.Cli/bin/TensorSharp.Cli", "TensorSharp.TestMatrix/Inputs"},
		{"TensorSharp.Cli.exe", "./TensorSharp.Cli.exe", "TensorSharp.TestMatrix/Inputs"},
		{"TensorSharp.TestMatrix/bin/Inputs/x", "TensorSharp.Cli/bin/TensorSharp.Cli", "TensorSharp.TestMatrix/bin/Inputs"},
	} {
		dir := files(t, c.file)
		_, s, _ := translated(t, read(t, `{"model_dir": "m"}`), tensorsharp.Options{WorkDir: dir})
		if s.Vars["cli"] != c.cli || s.Vars["inputs"] != c.inputs {
			t.Errorf("with %s: cli %s, inputs %s, want %s, %s", c.file, s.Vars["cli"], s.Vars["inputs"], c.cli, c.inputs)
		}
	}
}

// FuzzYAML: no name becomes anything but itself.
func FuzzYAML(f *testing.F) {
	for _, seed := range []string{"plain", "a\"b\\c", "x]\nsuites: []\n", "{model.path}", "#\x7f\u0085\u2028\ufeff", "\U0001F600 日本", "%41\t\r\v\a\x1b", "~", "- a: b", ""} {
		f.Add(seed)
	}
	dir := f.TempDir()
	if err := os.WriteFile(filepath.Join(dir, "a.gguf"), nil, 0o644); err != nil {
		f.Fatal(err)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = strings.ReplaceAll(strings.ToValidUTF8(s, "?"), "\x00", "")
		if len(s) > 10_000 || filepath.IsAbs(s) {
			return
		}
		c := &tensorsharp.Config{ModelDir: filepath.Join("/m", s), TimeoutSeconds: 1, DefaultEnvVars: []string{s},
			Models: []tensorsharp.Model{{ID: "x" + s, Family: "x" + s, GGUF: filepath.Join(dir, "a.gguf"), Enabled: true}}}
		_, suite, _ := translated(t, c, tensorsharp.Options{WorkDir: "/", ModelDir: dir, Inputs: "/in" + s})
		m := suite.Models[0]
		if suite.Vars["inputs"] != "/in"+s || m.ID != "x"+s || m.Vars["family"] != strings.ToLower("x"+s) || m.Vars["path"] != filepath.Join(dir, "a.gguf") {
			t.Errorf("%q became %+v", s, suite)
		}
		named := s != "" && s != "none" && !strings.ContainsAny(s, "*?")
		if got := suite.Select.Sweeps; named != (len(got) == 1 && got[0] == s) {
			t.Errorf("%q became %q", s, got)
		}
	})
}
