package doctor

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/config"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// TestWorkflows judges each file of testdata/workflows as a repository's only one.
func TestWorkflows(t *testing.T) {
	files, err := filepath.Glob("testdata/workflows/*.yml")
	if err != nil || len(files) == 0 {
		t.Fatal("no files", err)
	}
	for _, file := range files {
		t.Run(filepath.Base(file), func(t *testing.T) {
			data, err := os.ReadFile(file)
			if err != nil {
				t.Fatal(err)
			}
			dir := filepath.Join(t.TempDir(), ".github", "workflows")
			if err := os.MkdirAll(dir, 0o755); err != nil {
				t.Fatal(err)
			}
			if err := os.WriteFile(filepath.Join(dir, filepath.Base(file)), data, 0o644); err != nil {
				t.Fatal(err)
			}
			l := &look{Options: Options{Dir: filepath.Join(dir, "..", ".."), Version: "v1.2.3"}, host: bench.Host{Label: "gpu-a"}}
			l.parse()
			l.workflows(t.Context())
			var got strings.Builder
			for _, f := range l.findings {
				fmt.Fprintf(&got, "%s %s: %s\n", f.Status, f.Text, f.Fix)
			}
			golden := strings.TrimSuffix(file, ".yml") + ".txt"
			if *update {
				if err := os.WriteFile(golden, []byte(got.String()), 0o644); err != nil {
					t.Fatal(err)
				}
			}
			if want, err := os.ReadFile(golden); err != nil || got.String() != string(want) {
				t.Errorf("got\n%swant\n%s%v", got.String(), want, err)
			}
		})
	}
}

// TestInterfaceIsThatOfTheFiles compares the table with the workflows that others call.
func TestInterfaceIsThatOfTheFiles(t *testing.T) {
	for name, want := range reusable {
		data, err := os.ReadFile(filepath.Join("..", "..", "..", ".github", "workflows", name))
		if err != nil {
			t.Fatal(err)
		}
		var w struct {
			On struct {
				Call struct {
					Inputs map[string]any
				} `json:"workflow_call"`
			}
			Jobs map[string]struct{ Permissions map[string]string }
		}
		document, err := config.ToJSON(name, data)
		if err != nil {
			t.Fatal(err)
		}
		if err := json.Unmarshal(document, &w); err != nil {
			t.Fatal(err)
		}
		if got, named := slices.Sorted(maps.Keys(w.On.Call.Inputs)), slices.Sorted(slices.Values(want.inputs)); !slices.Equal(got, named) {
			t.Errorf("%s has the inputs %v, and the table %v", name, got, named)
		}
		maximum := map[string]string{}
		for _, job := range w.Jobs {
			for p, level := range job.Permissions {
				if maximum[p] != "write" {
					maximum[p] = level
				}
			}
		}
		if !maps.Equal(maximum, want.permissions) {
			t.Errorf("%s needs %v, and the table says %v", name, maximum, want.permissions)
		}
	}
}

// FuzzWorkflow reads any bytes as a workflow and judges its calls.
func FuzzWorkflow(f *testing.F) {
	files, _ := filepath.Glob("testdata/workflows/*.yml")
	for _, file := range files {
		data, err := os.ReadFile(file)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Fuzz(func(t *testing.T, data []byte) {
		w, err := workflowOf("w.yml", data)
		l := &look{Options: Options{Version: "v1.2.3"}, parsed: []workflow{w}, calls: w.calls}
		if err != nil {
			l.unread = []error{err}
		}
		l.workflows(t.Context())
		for _, f := range l.findings {
			if strings.ContainsFunc(f.Text+f.Fix, func(r rune) bool { return r < ' ' }) || (f.Fix == "") != (f.Status == OK) {
				t.Errorf("finding %q, fix %q", f.Text, f.Fix)
			}
		}
	})
}
