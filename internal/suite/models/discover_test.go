package models

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/suite"
)

// discovery is that of TensorSharp's preset, in a folder that holds the files.
func discovery(t *testing.T, files ...string) (*discover, string) {
	t.Helper()
	b := defaults()
	preset, err := suite.Preset(nil, presets, "tensorsharp")
	if err != nil {
		t.Fatal(err)
	}
	if err := preset.Decode(&b); err != nil {
		t.Fatal(err)
	}
	dir := t.TempDir()
	for _, name := range files {
		if err := os.WriteFile(filepath.Join(dir, name), nil, 0o644); err != nil {
			t.Fatal(err)
		}
	}
	b.Discover.Dir = "models"
	return &b.Discover, dir
}

// found lists models as "id family capabilities companion".
func found(t *testing.T, d *discover, dir string, explicit ...value) (lines, warnings []string) {
	t.Helper()
	all, warnings, err := d.models(func(path string) string {
		return filepath.Join(filepath.Dir(dir), strings.Replace(path, "models", filepath.Base(dir), 1))
	}, explicit)
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range all {
		lines = append(lines, strings.TrimRight(fmt.Sprintf("%s %s %s %s", v.ID, v.Vars["family"], strings.Join(v.Provides, ","), filepath.Base(v.Vars["companion"])), " ."))
	}
	return lines, warnings
}

func TestDiscoverFamilies(t *testing.T) {
	t.Parallel()
	const all = "image,audio,video,tools,thinking"
	for _, c := range []struct{ file, companion, want string }{
		{"gemma-4-E4B-it-Q8_0.gguf", "gemma-4-mmproj-F16.gguf", "gemma-4-e4b-it-q8_0 gemma4 " + all + ",mmproj gemma-4-mmproj-F16.gguf"},
		{"Gemma4-12B.gguf", "mmproj-any.gguf", "gemma4-12b gemma4 " + all + ",mmproj mmproj-any.gguf"},
		{"gemma-4-E4B-it-Q8_0.gguf", "", "gemma-4-e4b-it-q8_0 gemma4 " + all},
		{"gemma-3-4b-it.gguf", "gemma-3-mmproj.gguf", "gemma-3-4b-it gemma3 image,mmproj gemma-3-mmproj.gguf"},
		{"gpt-oss-20b-MXFP4.gguf", "mmproj-any.gguf", "gpt-oss-20b-mxfp4 gptoss thinking"},
		{"Nemotron-H-Omni-30B.gguf", "Nemotron-mmproj.gguf", "nemotron-h-omni-30b nemotron image,tools,thinking,mmproj Nemotron-mmproj.gguf"},
		{"Nemotron-H-8B.gguf", "Nemotron-mmproj.gguf", "nemotron-h-8b nemotron tools,thinking"},
		{"Ministral-3-8B.gguf", "Ministral-mmproj.gguf", "ministral-3-8b mistral3 image,mmproj Ministral-mmproj.gguf"},
		{"Mistral-Small-3.2-24B.gguf", "Mistral-mmproj.gguf", "mistral-small-3.2-24b mistral3 image,mmproj Mistral-mmproj.gguf"},
		{"Mistral-7B.gguf", "Mistral-mmproj.gguf", "mistral-7b unknown"},
		{"Qwen3.5-9B-Q4_K_M.gguf", "Qwen3.5-mmproj-F16.gguf", "qwen3.5-9b-q4_k_m qwen35 image,tools,thinking,mmproj Qwen3.5-mmproj-F16.gguf"},
		{"Qwen3.5-35B-A3B.gguf", "Qwen3.5-mmproj-F16.gguf", "qwen3.5-35b-a3b qwen35 tools,thinking"},
		{"Qwen3.6-27B.gguf", "qwen-mmproj.gguf", "qwen3.6-27b qwen36 image,tools,thinking,mmproj qwen-mmproj.gguf"},
		{"qwen36-moe.gguf", "qwen-mmproj.gguf", "qwen36-moe qwen36 tools,thinking"},
		{"qwen3_6-27b.gguf", "", "qwen3_6-27b qwen35 image,tools,thinking"},
		{"Qwen3-8B.gguf", "qwen-mmproj.gguf", "qwen3-8b qwen3 tools,thinking"},
		{"llama-3.gguf", "mmproj-any.gguf", "llama-3 unknown"},
		{"GEMMA-3.GGUF", "", "gemma-3 gemma3 image"},
		{"gemma-4 {x} ${IFS}\nnl.gguf", "", "gemma-4 {x} ${ifs}\nnl gemma4 " + all},
		{"model", "", ""},
		{"mmproj-gemma-4.gguf", "", ""},
	} {
		files := []string{c.file}
		if c.companion != "" {
			files = append(files, c.companion)
		}
		d, dir := discovery(t, files...)
		got, warnings := found(t, d, dir)
		if strings.Join(got, "|") != c.want || len(warnings) > 0 {
			t.Errorf("%s beside %s: got %q, warnings %q, want %q", c.file, c.companion, got, warnings, c.want)
		}
	}
}

func TestDiscoverCompanionsInOrder(t *testing.T) {
	t.Parallel()
	d, dir := discovery(t, "gemma-4.gguf", "aaa-mmproj.gguf", "gemma4-mmproj.gguf", "gemma-4-mmproj-b.gguf", "gemma-4-mmproj-a.gguf")
	got, _ := found(t, d, dir)
	if want := "gemma-4 gemma4 image,audio,video,tools,thinking,mmproj gemma-4-mmproj-a.gguf"; len(got) != 1 || got[0] != want {
		t.Errorf("got %q, want %q", got, want)
	}
}

// TestDiscoverPathsAreNoTemplates: a file's name reaches the command as it is.
func TestDiscoverPathsAreNoTemplates(t *testing.T) {
	t.Parallel()
	d, dir := discovery(t, "gemma-4{x}.gguf", "gemma-4-mmproj{accelgate}.gguf")
	all, _, err := d.models(func(string) string { return dir }, nil)
	if err != nil || len(all) != 1 {
		t.Fatalf("got %v, %v", all, err)
	}
	s := scope{choice: choice{"model": &all[0]}, executable: "wrong"}
	got, err := s.arguments([]string{"--model", "{model.path}", "{model.args}"})
	want := []string{"--model", "models/gemma-4{x}.gguf", "--mmproj", "models/gemma-4-mmproj{accelgate}.gguf"}
	if diff := cmp.Diff(want, got); diff != "" || err != nil {
		t.Errorf("command (-want +got):\n%s%v", diff, err)
	}
}

func TestDiscoverOrder(t *testing.T) {
	t.Parallel()
	d, dir := discovery(t, "b.gguf", "a_b.gguf", "aab.gguf", "C.gguf")
	got, _ := found(t, d, dir, value{ID: "Bb"}, value{ID: "0"})
	want := []string{"0", "aab unknown", "a_b unknown", "b unknown", "Bb", "c unknown"} // "_" follows the capitals
	if !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
}

func TestDiscoverSplitModels(t *testing.T) {
	t.Parallel()
	d, dir := discovery(t, "gpt-oss-00001-of-00003.gguf", "gpt-oss-00002-of-00003.gguf", "gpt-oss-00003-of-00003.gguf", "lone-00002-of-00002.gguf")
	got, warnings := found(t, d, dir)
	if want := []string{"gpt-oss-00001-of-00003 gptoss thinking"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q", got, want)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], `lone-00002-of-00002.gguf`) || !strings.Contains(warnings[0], "lone-00001-of-00002.gguf") {
		t.Errorf("warnings %q, want one about the model without a first part", warnings)
	}
}

func TestDiscoverExplicitModelsWin(t *testing.T) {
	t.Parallel()
	d, dir := discovery(t, "gemma-4-a.gguf", "gemma-4-b.gguf", "gemma-4-c.gguf")
	got, warnings := found(t, d, dir,
		value{ID: "Gemma-4-A"},
		value{ID: "mine", Vars: map[string]string{"path": "models/gemma-4-b.gguf", "family": "gemma4"}},
		value{ID: "gone", Vars: map[string]string{"path": "models/gone.gguf"}})
	want := []string{"Gemma-4-A", "gemma-4-c gemma4 image,audio,video,tools,thinking", "gone", "mine gemma4"}
	if !slices.Equal(got, want) || len(warnings) > 0 {
		t.Errorf("got %q, %q, want %q", got, warnings, want)
	}
}

func TestDiscoverLinksAndFolders(t *testing.T) {
	t.Parallel()
	d, dir := discovery(t, "gemma-4.gguf", "blob")
	for _, err := range []error{
		os.Mkdir(filepath.Join(dir, "folder.gguf"), 0o755),
		os.Symlink("blob", filepath.Join(dir, "link.gguf")),
		os.Symlink("nowhere", filepath.Join(dir, "dangling.gguf")),
		os.Symlink("folder.gguf", filepath.Join(dir, "to-folder.gguf")),
	} {
		if err != nil {
			t.Skip("links cannot be made here: ", err)
		}
	}
	got, warnings := found(t, d, dir, value{ID: "mine", Vars: map[string]string{"path": "models/blob"}})
	if want := []string{"gemma-4 gemma4 image,audio,video,tools,thinking", "mine"}; !slices.Equal(got, want) {
		t.Errorf("got %q, want %q: a link to an explicit model's file is that file", got, want)
	}
	if len(warnings) != 1 || !strings.Contains(warnings[0], "dangling.gguf") {
		t.Errorf("warnings %q, want one about dangling.gguf", warnings)
	}
}

func TestDiscoverSameID(t *testing.T) {
	t.Parallel()
	d, dir := discovery(t, "Gemma-4.gguf", "gemma-4.gguf")
	if entries, err := os.ReadDir(dir); err != nil || len(entries) != 2 {
		t.Skip("this file system does not tell letter case apart")
	}
	got, warnings := found(t, d, dir)
	if len(got) != 1 || len(warnings) != 1 || !strings.Contains(warnings[0], "rename one of the two") {
		t.Errorf("got %q, warnings %q, want one model and a warning", got, warnings)
	}
}

func TestDiscoverNoFolder(t *testing.T) {
	t.Parallel()
	d, dir := discovery(t)
	_, _, err := d.models(func(string) string { return filepath.Join(dir, "gone") }, nil)
	if err == nil || !strings.Contains(err.Error(), "does not exist: create it, or name another one with --model-dir") {
		t.Errorf("error is %v, want the next step", err)
	}
	d.Dir = ""
	if got, _, err := d.models(nil, []value{{ID: "b"}, {ID: "a"}}); err != nil || len(got) != 2 || got[0].ID != "b" {
		t.Errorf("without a folder: %v, %v, want the explicit models as they are", got, err)
	}
}
