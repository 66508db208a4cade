package formats_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/formats"
)

// listed writes a listing, a line a benchmark.
func listed(l formats.Listing) string {
	var b strings.Builder
	for _, one := range l.Benchmarks {
		fmt.Fprintf(&b, "%s: %s\n", one.Name, one.Failed)
	}
	fmt.Fprintf(&b, "whole: %v", l.Whole)
	return b.String()
}

func TestList(t *testing.T) {
	read := func(parts ...string) []byte {
		data, err := os.ReadFile(filepath.Join(append([]string{"testdata"}, parts...)...))
		if err != nil {
			t.Fatal(err)
		}
		return data
	}
	failed := read("benchmarks", "gobench", "ends-verbose.txt")
	const ends = `BenchmarkDistance/n=50: 
BenchmarkDistance/n=500: 
BenchmarkGPU: skipped: no GPU
BenchmarkBroken: geo_test.go:6: broken: 3 != 4
BenchmarkMaybe/x: skipped: no X
BenchmarkMaybe/y: 
BenchmarkPanic: `
	pytest := read("listing", "pytest-7.2.1.txt")
	const skips = `tests/test_perf.py::test_gpu: skipped: no GPU
tests/test_perf.py::test_gpu2: skipped: needs (CUDA) and a very long reason that would be cut at the width of a terminal with eighty columns
tests/test_perf.py::test_broken: assert 2 == 4
whole: true`
	for _, test := range []struct {
		name, format   string
		result, stdout []byte
		code           int
		want           string
	}{
		{"all of Go ran, and one failed", "gobench", failed, failed, 1, ends + "\nwhole: true"},
		{"the program ended early", "gobench", failed, failed, 3, ends + "\nwhole: false"},
		{"go test reports a panic", "gobench", append(failed, "panic: boom\nexit status 2\nFAIL\n"...), append(failed, "panic: boom\nexit status 2\nFAIL\n"...), 1, ends + "\nwhole: false"},
		{"a panic", "gobench", read("benchmarks", "gobench", "cut-off.txt"), nil, 2, ends + "the program ended while it ran\nwhole: false"},
		{"no benchmark of pytest ran", "pytest-benchmark", nil, pytest, 1, skips},
		{"one that failed has values", "pytest-benchmark", []byte(`{"machine_info": {}, "benchmarks": [
			{"fullname": "tests/test_perf.py::test_fib[5]", "stats": {"median": 1e-6}},
			{"fullname": "tests/test_perf.py::test_broken", "stats": {"median": 1e-6}}]}`), pytest, 1,
			`tests/test_perf.py::test_fib[5]: 
tests/test_perf.py::test_broken: assert 2 == 4
tests/test_perf.py::test_gpu: skipped: no GPU
tests/test_perf.py::test_gpu2: skipped: needs (CUDA) and a very long reason that would be cut at the width of a terminal with eighty columns
whole: true`},
		{"a program that crashed", "googlebench", []byte(`{"context": {}, "benchmarks": [{"name": "a", "real_time": 1, "error_occurred": false}]}`), nil, 139, "a: \nwhole: false"},
	} {
		l, err := formats.List(test.format, test.result, test.stdout, test.code)
		if err != nil {
			t.Errorf("%s: %v", test.name, err)
		}
		if diff := cmp.Diff(test.want, listed(l)); diff != "" {
			t.Errorf("%s (-want +got):\n%s", test.name, diff)
		}
	}
}

func TestGoName(t *testing.T) {
	for full, want := range map[string][2]string{
		"BenchmarkSort/size=10":                 {"", "BenchmarkSort/size=10"},
		"example.org/a.BenchmarkSort/size=10":   {"example.org/a", "BenchmarkSort/size=10"},
		"example.org/v2.0/a.BenchmarkX/b.Bench": {"example.org/v2.0/a", "BenchmarkX/b.Bench"},
		"BenchmarkX/y.BenchmarkZ":               {"", "BenchmarkX/y.BenchmarkZ"},
		"sum":                                   {"", "sum"},
	} {
		if pkg, name := formats.GoName(full); pkg != want[0] || name != want[1] {
			t.Errorf("GoName(%q) = %q, %q", full, pkg, name)
		}
	}
}
