package formats_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats"
)

// generators have documents of their own for both doors; see doors_test.go.
var generators = []string{"llama-bench", "sglang", "tensorsharp", "vllm"}

// namedFiles are the samples of formats that name their cells, by format.
func namedFiles(t testing.TB) map[string][]string {
	t.Helper()
	all := map[string][]string{}
	for format := range formats.Harnesses {
		all[format] = harnessFiles(t, format)
	}
	for format := range formats.Outputs {
		if !slices.Contains(generators, format) {
			all[format] = fixtures(t, format)
		}
	}
	return all
}

// TestBothDoorsOfNamedCells reads the samples of harnesses and lists as the output of
// a suite's program and as an imported file, whose format is detected if it can be.
// The golden file shows cells with units and directions, which both doors have.
func TestBothDoorsOfNamedCells(t *testing.T) {
	t.Parallel()
	all := namedFiles(t)
	for format, files := range all {
		for _, file := range files {
			t.Run(format+"/"+filepath.Base(file), func(t *testing.T) {
				t.Parallel()
				got := namedDoors(t, format, readFile(t, file))
				name := filepath.Join("testdata", "doors", format, filepath.Base(file)+".golden")
				if *update {
					if err := os.MkdirAll(filepath.Dir(name), 0o755); err != nil {
						t.Fatal(err)
					}
					if err := os.WriteFile(name, []byte(got), 0o644); err != nil {
						t.Fatal(err)
					}
				}
				if diff := cmp.Diff(string(readFile(t, name)), got); diff != "" {
					t.Errorf("-want +got:\n%s", diff)
				}
			})
		}
	}
}

func namedDoors(t *testing.T, format string, data []byte) string {
	t.Helper()
	head := ""
	run, detected, warnings, err := formats.ReadFile(data)
	if detected != format {
		head = fmt.Sprintf("detected as %q\n", detected)
		run, _, warnings, err = formats.ReadFileAs(format, data)
	}
	suite, suiteErr := suiteDoor(format, data)
	if suiteErr != nil && !reports(run, err, suiteErr) {
		t.Errorf("the suite reports %q, the import %v", suiteErr, err)
	}
	if err != nil {
		return head + "error: " + err.Error() + "\n"
	}
	check(t, run, warnings)
	if suiteErr == nil {
		sameValues(t, format, run, suite)
	}
	return head + shown(run)
}

// reports reports whether an import fails as the suite does, or one of its cells.
func reports(run *bench.Run, err, suiteErr error) bool {
	if err != nil {
		return strings.Contains(err.Error(), suiteErr.Error())
	}
	return slices.ContainsFunc(run.Results, func(r bench.Result) bool { return r.Reason != "" && strings.Contains(suiteErr.Error(), r.Reason) })
}

func sameValues(t *testing.T, format string, run *bench.Run, suite map[string]float64) {
	t.Helper()
	values := 0
	for _, r := range run.Results {
		for _, s := range r.Samples {
			name := s.Metric
			if r.Cell.Params[0].Key != "suite" {
				name = r.Cell.Params[0].Value + "." + s.Metric
			}
			if v, ok := suite[name]; !ok || v != s.Values[0] {
				t.Errorf("%s is %v in the suite and %v in the import", name, v, s.Values)
			}
			values++
		}
	}
	if formats.Harnesses[format] != nil && values != len(suite) {
		t.Errorf("the suite reads %d values and the import %d", len(suite), values)
	}
}

// shown writes a run as the golden files have it.
func shown(run *bench.Run) string {
	var b strings.Builder
	if run.Revision != "" {
		fmt.Fprintln(&b, "commit", run.Revision)
	}
	for _, key := range slices.Sorted(maps.Keys(run.Context)) {
		fmt.Fprintf(&b, "%s: %s\n", key, run.Context[key])
	}
	for _, r := range run.Results {
		fmt.Fprintln(&b, strings.TrimSpace(r.Cell.ID()+" "+string(r.Outcome)+" "+r.Reason))
		for _, s := range r.Samples {
			m := run.Metric(s.Metric)
			gated := map[bool]string{true: "shown", false: "gated"}[m.Informational]
			if stdErr, ok := s.StdErr(); ok {
				gated += fmt.Sprintf(", standard error %.6g", stdErr)
			}
			fmt.Fprintln(&b, " ", s.Metric, strconv.FormatFloat(s.Values[0], 'g', -1, 64), strings.TrimSpace(m.Unit+" "+string(m.Better)), gated)
		}
	}
	for _, w := range run.Warnings {
		fmt.Fprintln(&b, "warning:", w)
	}
	return b.String()
}

// suiteDoor returns the values by CELL.METRIC.
func suiteDoor(format string, data []byte) (map[string]float64, error) {
	values := map[string]float64{}
	if read := formats.Harnesses[format]; read != nil {
		all, err := read(data)
		for _, b := range all {
			for _, v := range b.Values {
				values[strings.TrimSpace(b.Name)+"."+v.Metric] = v.Value
			}
		}
		return values, err
	}
	read := formats.Outputs[format]
	if read == nil {
		return values, nil
	}
	reading, err := read(formats.Output{Stdout: data})
	for _, v := range reading.Values {
		values[v.Metric] = v.Value
	}
	return values, err
}

// samples are files of every format that has some, by format.
func samples(t testing.TB) map[string][]string {
	t.Helper()
	all := namedFiles(t)
	for _, format := range generators {
		all[format] = fixtures(t, format)
	}
	for _, file := range savedFiles(t) {
		format := filepath.Base(filepath.Dir(file))
		all[format] = append(all[format], file)
	}
	return all
}

// TestFormatsHaveSamples: what has no sample is neither tested nor fuzzed.
func TestFormatsHaveSamples(t *testing.T) {
	t.Parallel()
	all := samples(t)
	for _, name := range formats.FileNames() {
		if len(all[name]) == 0 {
			t.Errorf("format %s has no sample: add one to testdata/file/%[1]s", name)
		}
	}
}

func TestReadFileAsRefuses(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ name, data, want string }{
		{"vlm", "{}", `unknown format "vlm": use one of `},
		{"bmf", `{"a":1}`, "format bmf: the file holds nothing of it: "},
		{"vllm", `{"avg_ts":1,"n_prompt":1,"n_gen":0}`, "object 1 is not of format vllm: "},
		{"tensorsharp", "text", `unknown format "tensorsharp": `},
		{"", `[{"name":"a","unit":"ms","value":1}]`, "add --format customBiggerIsBetter or "},
		{"", "{\"mean\":{},\"median_abs_dev\":{},\"std_dev\":{}}", "--message-format=json"},
		{"torch-table", "text", "format torch-table: "},
	} {
		if run, _, _, err := formats.ReadFileAs(c.name, []byte(c.data)); run != nil || err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s, %s: got %v, want %q", c.name, c.data, err, c.want)
		}
	}
}

func TestCompressedTrace(t *testing.T) {
	t.Parallel()
	plain := readFile(t, filepath.Join("testdata", "file", "torch-trace", "kineto.json"))
	var packed bytes.Buffer
	w := gzip.NewWriter(&packed)
	if _, err := w.Write(plain); err != nil {
		t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		t.Fatal(err)
	}
	want, _, _, err1 := formats.ReadFile(plain)
	got, format, _, err2 := formats.ReadFile(packed.Bytes())
	if err1 != nil || err2 != nil || format != "torch-trace" {
		t.Fatalf("format %q, %v, %v", format, err1, err2)
	}
	if diff := cmp.Diff(shown(want), shown(got)); diff != "" {
		t.Errorf("-plain +compressed:\n%s", diff)
	}
}
