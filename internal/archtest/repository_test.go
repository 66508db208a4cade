package archtest

import (
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/goccy/go-yaml"
)

// manifest is what the tests need of an action.yml.
type manifest struct {
	Inputs map[string]struct {
		Description string `yaml:"description"`
		Default     string `yaml:"default"`
	} `yaml:"inputs"`
	Outputs map[string]struct {
		Description string `yaml:"description"`
		Value       string `yaml:"value"`
	} `yaml:"outputs"`
	Runs struct {
		Using string `yaml:"using"`
		Steps []struct {
			ID  string            `yaml:"id"`
			Env map[string]string `yaml:"env"`
			Run string            `yaml:"run"`
		} `yaml:"steps"`
	} `yaml:"runs"`
}

func load(t *testing.T, name string, into any) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	if err := yaml.Unmarshal(data, into); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return string(data)
}

// TestInputsOfBothActionsAreTheOnesRead: an input that the code reads and
// action.yml lacks can never be set, and the other way round it does nothing.
func TestInputsOfBothActionsAreTheOnesRead(t *testing.T) {
	var docker, native manifest
	load(t, "action.yml", &docker)
	load(t, "native/action.yml", &native)

	read := map[string]bool{}
	for _, m := range regexp.MustCompile(`(?:Input\(|Bool\(|\{)"([a-z-]+)"`).FindAllStringSubmatch(content(t, "internal/action/inputs.go"), -1) {
		read[m[1]] = true
	}
	want := slices.Sorted(maps.Keys(read))
	if got := slices.Sorted(maps.Keys(docker.Inputs)); !slices.Equal(got, want) {
		t.Errorf("inputs of action.yml are\n%q, the code reads\n%q", got, want)
	}
	passed := map[string]bool{}
	for name := range native.Runs.Steps[len(native.Runs.Steps)-1].Env {
		passed[strings.ToLower(strings.ReplaceAll(strings.TrimPrefix(name, "INPUT_"), "_", "-"))] = true
	}
	if got := slices.Sorted(maps.Keys(passed)); !slices.Equal(got, want) {
		t.Errorf("native/action.yml passes on\n%q, the code reads\n%q", got, want)
	}
	for name, in := range docker.Inputs {
		if native.Inputs[name] != in {
			t.Errorf("input %s: the two actions describe it differently", name)
		}
	}
	for name, out := range docker.Outputs {
		if native.Outputs[name].Description != out.Description || !strings.Contains(native.Outputs[name].Value, ".outputs."+name+" ") {
			t.Errorf("output %s: the two actions describe it differently", name)
		}
	}
}

// TestOutputsAreTheOnesSet does the same for outputs.
func TestOutputsAreTheOnesSet(t *testing.T) {
	var docker manifest
	load(t, "action.yml", &docker)
	set := map[string]bool{}
	files, err := filepath.Glob(filepath.Join("..", "action", "*.go"))
	if err != nil {
		t.Fatal(err)
	}
	var code string
	for _, name := range files {
		if !strings.HasSuffix(name, "_test.go") {
			code += content(t, "internal/action/"+filepath.Base(name))
		}
	}
	for _, m := range regexp.MustCompile(`\.output\("([a-z-]+)"`).FindAllStringSubmatch(code, -1) {
		set[m[1]] = true
	}
	if got, want := slices.Sorted(maps.Keys(docker.Outputs)), slices.Sorted(maps.Keys(set)); !slices.Equal(got, want) {
		t.Errorf("outputs of action.yml are %q, the code sets %q", got, want)
	}
}

func content(t *testing.T, name string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("..", "..", name))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestImageIsEmptyButForTheBinary: the last stage starts from nothing.
func TestImageIsEmptyButForTheBinary(t *testing.T) {
	text := content(t, "Dockerfile")
	stages := regexp.MustCompile(`(?m)^FROM (.*)$`).FindAllStringSubmatch(text, -1)
	if last := stages[len(stages)-1][1]; last != "scratch" {
		t.Errorf("the image is built from %q, want scratch", last)
	}
	for _, bad := range []string{":latest", "ADD ", "curl ", "wget "} {
		if strings.Contains(text, bad) {
			t.Errorf("Dockerfile has %q: what an image is made of must be pinned", bad)
		}
	}
}
