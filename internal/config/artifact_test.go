package config_test

import (
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/config"
)

const artifactsFile = `version: 1
artifacts:
  model: &source {url: https://example.com/m.gguf, sha256: 0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef, size: 12}
  tool: *source
  set: {hub: datasets/org/name, revision: 0123456789abcdef0123456789abcdef01234567, files: ["*.json", "a/*.txt"]}
  other: {hub: org/name, revision: 0123456789abcdef0123456789abcdef01234567, file: b.bin}
build: {command: [build, "--with={artifact.tool}"]}
suites:
  - name: first
    kind: k
    setup: &setup [prepare, "{artifact.model}:{artifact.set}"]
    path: "{artifact.model}"
    json: '{"a": "{artifact.model}"}'
    list: ["{artifact.model}", "{model}", "{{literal}}"]
  - name: second
    kind: k
    teardown: *setup
  - {name: third, kind: k}
`

// TestArtifacts: placeholders become paths in the frame and in what kinds decode, and
// each suite uses what it names.
func TestArtifacts(t *testing.T) {
	t.Parallel()
	file, err := config.Parse("dir/accelgate.yaml", []byte(artifactsFile))
	if err != nil {
		t.Fatal(err)
	}
	for suite, want := range [][]string{{"model", "set", "tool"}, {"model", "set", "tool"}, {"tool"}} {
		if got := file.Uses(func(i int) bool { return i == suite }); !slices.Equal(got, want) {
			t.Errorf("suite %d uses %q, want %q", suite, got, want)
		}
	}
	if file.Suites[0].Setup.Command[1] != "{artifact.model}:{artifact.set}" {
		t.Errorf("before: %q", file.Suites[0].Setup.Command)
	}
	placed, err := file.Place(map[string]string{"model": "/c/m.gguf", "set": `C:\c`, "tool": "/c/t"})
	if err != nil {
		t.Fatal(err)
	}
	var body struct {
		Path string   `yaml:"path"`
		JSON string   `yaml:"json"`
		List []string `yaml:"list"`
	}
	if err := placed.Suites[0].Decode(&body); err != nil {
		t.Fatal(err)
	}
	got := []string{body.Path, body.JSON, body.List[0], body.List[1], body.List[2], placed.Build.Command[1], placed.Suites[0].Setup.Command[1], placed.Suites[1].Teardown.Command[1], placed.Dir}
	want := []string{"/c/m.gguf", `{"a": "/c/m.gguf"}`, "/c/m.gguf", "{model}", "{{literal}}", "--with=/c/t", `/c/m.gguf:C:\c`, `/c/m.gguf:C:\c`, "dir"}
	if diff := cmp.Diff(got, want); diff != "" {
		t.Errorf("-got +want:\n%s", diff)
	}
	if placed.Digest != file.Digest || placed.Artifacts["tool"].Size != 12 || placed.Artifacts["tool"].Position.Line != 4 {
		t.Errorf("digest %s, artifact %+v", placed.Digest, placed.Artifacts["tool"])
	}
	for name, want := range map[string][2]bool{"x.json": {true, false}, "a/x.json": {true, false}, "a/y.txt": {true, false}, "b/y.txt": {false, false}, "b.bin": {false, true}, "a/b.bin": {false, false}} {
		set, other := placed.Artifacts["set"], placed.Artifacts["other"]
		if got := [2]bool{set.Wants(name), other.Wants(name)}; got != want {
			t.Errorf("%s: %v, want %v", name, got, want)
		}
	}
}
