package formats_test

import (
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/formats"
)

// harnessFiles are the results of a harness.
func harnessFiles(t testing.TB, format string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "benchmarks", format, "*.*"))
	files = slices.DeleteFunc(files, func(name string) bool { return strings.HasSuffix(name, ".want") })
	if err != nil || len(files) == 0 {
		t.Fatalf("format %s has no fixtures: %v", format, err)
	}
	return files
}

// TestHarnesses reads every testdata/benchmarks/FORMAT/NAME and compares with the file
// beside it in NAME.want.
func TestHarnesses(t *testing.T) {
	t.Parallel()
	for format, read := range formats.Harnesses {
		for _, file := range harnessFiles(t, format) {
			t.Run(file, func(t *testing.T) {
				t.Parallel()
				data, err := os.ReadFile(file)
				if err != nil {
					t.Fatal(err)
				}
				all, err := read(data)
				got := "error: "
				if err != nil {
					got += err.Error() + "\n"
				} else {
					text, _ := json.MarshalIndent(all, "", " ")
					got = string(text) + "\n"
				}
				want := file + ".want"
				if *update {
					if err := os.WriteFile(want, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				golden, err := os.ReadFile(want)
				if err != nil {
					t.Fatal(err)
				}
				if diff := cmp.Diff(string(golden), got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

// FuzzHarnesses: no output makes a reader panic, and what it reads is a number that a
// measurement can have, of a metric that is described.
func FuzzHarnesses(f *testing.F) {
	for format := range formats.Harnesses {
		for _, file := range harnessFiles(f, format) {
			data, err := os.ReadFile(file)
			if err != nil {
				f.Fatal(err)
			}
			f.Add(format, data)
		}
	}
	known := map[string]bool{}
	for _, m := range formats.BenchmarkMetrics {
		known[m.Name] = true
	}
	f.Fuzz(func(t *testing.T, format string, data []byte) {
		read := formats.Harnesses[format]
		if read == nil {
			return
		}
		all, err := read(data)
		if err != nil {
			if !strings.Contains(err.Error(), ": ") {
				t.Errorf("the error names no next step: %v", err)
			}
			return
		}
		for _, b := range all {
			if b.Failed != "" && len(b.Values) > 0 {
				t.Errorf("%q failed and has values", b.Name)
			}
			for _, v := range b.Values {
				if !known[v.Metric] || !(v.Value >= 0) {
					t.Errorf("%q has %s %v", b.Name, v.Metric, v.Value)
				}
			}
		}
	})
}
