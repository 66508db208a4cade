package flashinfer_test

import (
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// copyOf is the test's dataset in a folder of its own, where edit may change files.
func copyOf(t *testing.T, edits map[string]func(string) string) string {
	t.Helper()
	dir := filepath.Join(t.TempDir(), "copy")
	if err := os.CopyFS(dir, os.DirFS(dataset)); err != nil {
		t.Fatal(err)
	}
	for name, edit := range edits {
		path := filepath.Join(dir, filepath.FromSlash(name))
		text, err := os.ReadFile(path)
		if err == nil {
			err = os.WriteFile(path, []byte(edit(string(text))), 0o644)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func replaced(old, with string) func(string) string {
	return func(text string) string { return strings.Replace(text, old, with, 1) }
}

const (
	annTraces  = "traces/ann/scale/scale_n4.jsonl"
	annLoop    = "solutions/ann/scale/scale_n4/scale_n4_loop.json"
	scaleN4    = "definitions/scale/scale_n4.json"
	scaleLines = "workloads/scale/scale_n4.jsonl"
	blobW1     = "blob/workloads/scale/scale_n4/scale_n4_w1.safetensors"
)

// TestMerge: what is the same stands there once, what another host measured is added
// behind it, and what is merged once more does not grow.
func TestMerge(t *testing.T) {
	t.Parallel()
	first := load(t, dataset)
	other := copyOf(t, map[string]func(string) string{annTraces: func(s string) string { return strings.ReplaceAll(s, `"latency_ms":`, `"latency_ms":1`) }})
	out := filepath.Join(t.TempDir(), "new", "out")
	m, err := flashinfer.Merge(out, []string{dataset, other})
	if err != nil {
		t.Fatal(err)
	}
	ds := load(t, out)
	own := 0
	for _, trace := range first.Traces {
		if ds.Solution(trace.Solution) != nil && ds.Solution(trace.Solution).Author == "ann" && trace.Evaluation.Performance != nil {
			own++
		}
	}
	if len(ds.Traces) != m.Traces || m.Traces != len(first.Traces)+own || m.Duplicates != len(first.Traces)-own || m.LeftOut != 0 || m.Blobs != 2 || own == 0 {
		t.Errorf("%d traces of %d and %d, %+v", len(ds.Traces), len(first.Traces), own, m)
	}
	for i, w := range first.Workloads {
		if ds.Workloads[i].Workload.Hash() != w.Workload.Hash() {
			t.Errorf("%s is another workload", w.Workload.UUID)
		}
	}
	for _, s := range first.Solutions {
		if ds.Solution(s.Name).Hash() != s.Hash() || ds.Solution(s.Name).Author != s.Author {
			t.Errorf("%s is another solution", s.Name)
		}
	}
	again, err := flashinfer.Merge(filepath.Join(t.TempDir(), "again"), []string{out, dataset, out})
	if err != nil || again.Traces != m.Traces || again.Duplicates != m.Traces+len(first.Traces) {
		t.Errorf("merged once more: %+v, %v", again, err)
	}
	entries, err := os.ReadDir(filepath.Dir(out))
	if err != nil || len(entries) != 1 {
		t.Errorf("beside the folder: %v, %v", entries, err)
	}
}

// TestMergeRefuses: a name that stands for two contents is named with both places,
// a broken trace with its line, and nothing is written.
func TestMergeRefuses(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		edits map[string]func(string) string
		want  string
	}{
		"definition":  {map[string]func(string) string{scaleN4: replaced(`def run`, `def  run`)}, "scale_n4.json:1: the definition \"scale_n4\" is another one than that of testdata/dataset/" + scaleN4 + ":1"},
		"solution":    {map[string]func(string) string{annLoop: replaced(`"content": "`, `"content": "# other\n`)}, "the solution \"scale_n4_loop\" is another one"},
		"author":      {map[string]func(string) string{annLoop: replaced(`"ann"`, `"bob"`)}, "the solution \"scale_n4_loop\" is another one"},
		"tensor file": {map[string]func(string) string{blobW1: func(s string) string { return s + " " }}, "is another one than that of testdata/dataset/workloads"},
		"trace":       {map[string]func(string) string{annTraces: func(s string) string { return "{\"definition\": 7}\n" + s }}, "scale_n4.jsonl:1: definition: want a text"},
		"name": {map[string]func(string) string{annLoop: func(s string) string {
			return strings.Replace(strings.Replace(s, `"ann"`, `"../ann"`, 1), "scale_n4_loop", "other", 1)
		}}, `"../ann" cannot name a file or folder`},
	} {
		other, out := copyOf(t, c.edits), filepath.Join(t.TempDir(), "out")
		_, err := flashinfer.Merge(out, []string{dataset, other})
		if err == nil || !strings.Contains(filepath.ToSlash(err.Error()), c.want) {
			t.Errorf("%s: %v, want %q", name, err, c.want)
		}
		if _, err := os.Stat(out); !errors.Is(err, os.ErrNotExist) {
			t.Errorf("%s: something was written: %v", name, err)
		}
	}
	full := t.TempDir()
	if err := os.WriteFile(filepath.Join(full, "mine"), nil, 0o644); err != nil {
		t.Fatal(err)
	}
	if _, err := flashinfer.Merge(full, []string{dataset}); err == nil || !strings.Contains(err.Error(), "name a new folder") {
		t.Errorf("into a folder with files: %v", err)
	}
}

// TestMergeLeavesOutOtherContents: a trace of another text of the definition, or of
// other sizes under the uuid, does not stand beside those of the definition.
func TestMergeLeavesOutOtherContents(t *testing.T) {
	t.Parallel()
	ds := load(t, dataset)
	trace := *ds.Traces[0]
	e := *trace.Evaluation
	e.Gate = &flashinfer.Gate{Key: flashinfer.Key{Definition: "another"}}
	trace.Evaluation = &e
	stale, err := flashinfer.EncodeTrace(&trace)
	if err != nil {
		t.Fatal(err)
	}
	other := copyOf(t, map[string]func(string) string{annTraces: func(string) string { return string(stale) + "\n" }})
	m, err := flashinfer.Merge(filepath.Join(t.TempDir(), "out"), []string{dataset, other})
	if err != nil || m.LeftOut != 1 || len(m.Warnings) != 1 || !strings.Contains(m.Warnings[0], "scale_n4.jsonl:1: left out: it was measured with another definition") {
		t.Errorf("%+v, %v", m, err)
	}
}

// TestMergeOfBlobsAmongFiles: a workload cannot have a file of the dataset replaced.
func TestMergeOfBlobsAmongFiles(t *testing.T) {
	t.Parallel()
	other := copyOf(t, map[string]func(string) string{scaleLines: replaced("./blob/workloads/scale/scale_n4/scale_n4_w1.safetensors", "./"+scaleN4)})
	if _, err := flashinfer.Merge(filepath.Join(t.TempDir(), "out"), []string{other}); err == nil || !strings.Contains(err.Error(), "among the dataset's own files") {
		t.Error(err)
	}
}
