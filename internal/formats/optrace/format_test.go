package optrace_test

import (
	"bytes"
	"compress/gzip"
	"encoding/json"
	"errors"
	"flag"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/google/go-cmp/cmp"
)

var update = flag.Bool("update", false, "rewrite testdata/format/*/*.want")

// golden is what CASE.want says of CASE.txt.
type golden struct {
	Error        string        `json:"error,omitempty"`
	None         bool          `json:"none,omitempty"` // the error is ErrNone
	Total        float64       `json:"total_s"`
	Operators    []bench.Entry `json:"operators,omitempty"`
	CriticalPath []bench.Entry `json:"critical_path,omitempty"`
	Values       []string      `json:"values,omitempty"`
}

func describe(p *optrace.Profile, err error) golden {
	if err != nil {
		return golden{Error: err.Error(), None: errors.Is(err, optrace.ErrNone)}
	}
	g := golden{Total: p.Total, Operators: p.Operators, CriticalPath: p.CriticalPath}
	for _, v := range p.Values {
		text, _ := json.Marshal(v.Value)
		g.Values = append(g.Values, v.Metric+" "+string(text))
	}
	return g
}

// TestFormats reads testdata/format/FORMAT/CASE.txt and compares with
// CASE.want.
func TestFormats(t *testing.T) {
	t.Parallel()
	for name, read := range optrace.Formats {
		for _, file := range fixtures(t, name) {
			t.Run(name+"/"+strings.TrimSuffix(filepath.Base(file), ".txt"), func(t *testing.T) {
				t.Parallel()
				got, err := json.MarshalIndent(describe(read(readFile(t, file))), "", "  ")
				if err != nil {
					t.Fatal(err)
				}
				got = append(got, '\n')
				want := strings.TrimSuffix(file, ".txt") + ".want"
				if *update {
					if err := os.WriteFile(want, got, 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(string(got), string(readFile(t, want))); diff != "" {
					t.Errorf("-got +want:\n%s", diff)
				}
			})
		}
	}
}

// fixtures are the files of a format, of which there are some.
func fixtures(t testing.TB, format string) []string {
	t.Helper()
	files, err := filepath.Glob(filepath.Join("testdata", "format", format, "*.txt"))
	if err != nil || len(files) == 0 {
		t.Fatalf("format %s has no fixtures in testdata/format: add some (%v)", format, err)
	}
	return files
}

func readFile(t testing.TB, name string) []byte {
	t.Helper()
	data, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	return data
}

// TestMetricsCoverValues: what a fixture yields is described, and only the
// total is gated.
func TestMetricsCoverValues(t *testing.T) {
	t.Parallel()
	described := map[string]bool{}
	for i, m := range optrace.Metrics {
		if described[m.Name] || m.Better == "" || m.Gates() != (i == 0) || (i == 0) != (m.Name == "total_time_s") {
			t.Errorf("metric %d is %+v", i, m)
		}
		described[m.Name] = true
	}
	missing := maps.Clone(described)
	delete(missing, "total_time_s")
	for name, read := range optrace.Formats {
		for _, file := range fixtures(t, name) {
			p, err := read(readFile(t, file))
			if err != nil {
				continue
			}
			for _, v := range p.Values {
				if !described[v.Metric] {
					t.Errorf("%s yields %s, which Metrics does not describe", file, v.Metric)
				}
				delete(missing, v.Metric)
			}
		}
	}
	if len(missing) > 0 {
		t.Errorf("no fixture yields %v", slices.Sorted(maps.Keys(missing)))
	}
}

// TestPackedTrace: gzip changes nothing, and what is cut off is no trace.
func TestPackedTrace(t *testing.T) {
	t.Parallel()
	for format, file := range map[string]string{"torch-trace": "cuda.txt", "msmodeling-trace": "streams.txt"} {
		data := readFile(t, filepath.Join("testdata", "format", format, file))
		packed := pack(t, data)
		want := describe(optrace.Formats[format](data))
		if diff := cmp.Diff(describe(optrace.Formats[format](packed)), want); diff != "" || want.Error != "" {
			t.Errorf("%s packed: -got +want:\n%s%s", format, diff, want.Error)
		}
		for _, n := range []int{2, 9, len(packed) / 2, len(packed) - 1} {
			if _, err := optrace.Formats[format](packed[:n]); err == nil || !strings.Contains(err.Error(), "unpack the trace: ") {
				t.Errorf("%s of %d packed bytes: got %v", format, n, err)
			}
		}
	}
}

func pack(t testing.TB, data []byte) []byte {
	t.Helper()
	var b bytes.Buffer
	w := gzip.NewWriter(&b)
	if _, err := w.Write(data); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}
