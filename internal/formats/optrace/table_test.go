package optrace_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/formats/optrace"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/google/go-cmp/cmp"
)

// recorded returns the tables of the machine's collection.
func recorded(t testing.TB) []string {
	t.Helper()
	dir := testtier.Data(t, "real tables were NOT read", "msmodeling/golden_regression/tables")
	var files []string
	for pattern, n := range map[string]int{"golden_regression/tables/*.txt": 22, "sample_output/*.txt": 3} {
		found, err := filepath.Glob(filepath.Join(dir, "msmodeling", pattern))
		if err != nil || len(found) != n {
			t.Fatalf("%s: found %d files, want %d (%v)", pattern, len(found), n, err)
		}
		files = append(files, found...)
	}
	slices.Sort(files)
	return files
}

// TestRecordedTables compares each row with what splitting at spaces, as
// msmodeling's checker does it, makes of it.
func TestRecordedTables(t *testing.T) {
	t.Parallel()
	total := regexp.MustCompile(`Total time for analytic:\s*([\d.]+)\s*(ns|us|ms|s)`)
	for _, file := range recorded(t) {
		data := readFile(t, file)
		p, err := optrace.Formats["msmodeling-table"](data)
		if err != nil {
			t.Errorf("%s: %v", file, err)
			continue
		}
		m := total.FindSubmatch(data)
		if want := scaled(t, string(m[1]), string(m[2])); p.Total != want {
			t.Errorf("%s: total is %v, want %v", file, p.Total, want)
		}
		var want []bench.Entry
		sum := 0.0
		for line := range strings.Lines(string(data)) {
			f := strings.Fields(line)
			if len(f) != 4 || !strings.HasSuffix(f[1], "s") || f[0][0] == '-' {
				continue
			}
			cut := strings.IndexAny(f[1], "num")
			if cut < 0 {
				cut = len(f[1]) - 1
			}
			calls, err := strconv.ParseInt(f[3], 10, 64)
			if err != nil {
				continue
			}
			want = append(want, bench.Entry{Name: f[0], Total: scaled(t, f[1][:cut], f[1][cut:]), Calls: calls})
			sum += want[len(want)-1].Total
		}
		if diff := cmp.Diff(p.Operators, want); diff != "" || len(want) < 2 {
			t.Errorf("%s: -got +want:\n%s", file, diff)
		}
		if whole := !bytes.Contains(data, []byte("\n...")); sum > p.Total*1.001 || whole && math.Abs(sum-p.Total) > 1e-3*p.Total {
			t.Errorf("%s: operators sum to %v, total %v", file, sum, p.Total)
		}
	}
}

func scaled(t *testing.T, number, unit string) float64 {
	t.Helper()
	v, err := strconv.ParseFloat(number, 64)
	if err != nil {
		t.Fatal(err)
	}
	return v * map[string]float64{"ns": 1e-9, "us": 1e-6, "ms": 1e-3, "s": 1}[unit]
}

// TestPrintedTimes are the cases of msmodeling's design document and their
// neighbours: a time is one multiplication, to the last bit.
func TestPrintedTimes(t *testing.T) {
	t.Parallel()
	for text, parts := range map[string][2]string{
		"321.540ms": {"321.540", "ms"}, "1.744s": {"1.744", "s"}, "500.000us": {"500", "us"}, "100.000ns": {"100", "ns"}, "0.000ns": {"0", "ns"},
		"3.100 ms": {"3.1", "ms"}, "\n\t7us": {"7", "us"}, "12.5\u00b5s": {"12.5", "us"}, "12.5\u03bcs": {"12.5", "us"}, "5.seconds": {"5", "s"}, ".5s": {".5", "s"},
	} {
		want := scaled(t, parts[0], parts[1])
		p, err := optrace.Formats["msmodeling-table"]([]byte("INFO Total time for analytic:" + text + "\n"))
		if err != nil || p.Total != want {
			t.Errorf("%q: got %+v, %v, want %v", text, p, err, want)
		}
	}
	for _, text := range []string{"", "s", "1", "1 m", "-1s", "1e3s", "nans", "1,5s", "1.2.3s"} {
		if p, err := optrace.Formats["msmodeling-table"]([]byte("Total time for analytic: " + text + "\n")); err == nil {
			t.Errorf("%q: got %+v, want an error", text, p)
		}
	}
}

// TestTableEqualsMetrics: the table of a run and its dump_json agree to the
// digits that the table has, under the same names.
func TestTableEqualsMetrics(t *testing.T) {
	t.Parallel()
	table, err := optrace.Formats["msmodeling-table"](makeTable(50))
	if err != nil {
		t.Fatal(err)
	}
	var events []map[string]any
	for i := range 50 {
		events = append(events, map[string]any{"name": operatorName(i), "perf_model": "analytic", "perf_total": operatorTime(i), "call_times": i + 1})
	}
	data, err := json.MarshalIndent(map[string]any{"runtime_event_list": events, "perf_model_name": "analytic", "run_time_s": 0.192,
		"execution_time_s": map[string]float64{"analytic": 1.5}, "tps_per_model": map[string]float64{"analytic": 4013},
		"memory_gb": map[string]float64{"total_device": 64, "available": 29.699}}, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	metrics, err := optrace.Formats["msmodeling-metrics"](data)
	if err != nil {
		t.Fatal(err)
	}
	digits := cmp.Comparer(func(a, b float64) bool { return math.Abs(a-b) <= 1e-3*math.Abs(a) })
	if diff := cmp.Diff(table, metrics, digits); diff != "" {
		t.Errorf("-table +metrics:\n%s", diff)
	}
}

func operatorName(i int) string { return fmt.Sprintf("tensor_cast.operator_%d.default", i) }

// operatorTime falls with i through all units but nanoseconds.
func operatorTime(i int) float64 { return 2.5 / (1 + float64(i*i*i)) }

// makeTable makes what msmodeling prints, with n operators.
func makeTable(n int) []byte {
	unit := func(s float64) string {
		switch {
		case s >= 1:
			return fmt.Sprintf("%.3fs", s)
		case s >= 1e-3:
			return fmt.Sprintf("%.3fms", s*1e3)
		}
		return fmt.Sprintf("%.3fus", s*1e6)
	}
	var b bytes.Buffer
	rule := strings.Repeat("-", 40) + "  --------------  ------------  ----------\n"
	fmt.Fprintf(&b, "Number of Queries per DP rank: 4\nModel compilation and execution time: 0.192 s\n")
	fmt.Fprintf(&b, "%s%22s%18s  analytic total  analytic avg  # of Calls\n%s", rule, "Name", "", rule)
	total := 0.0
	for i := range n {
		s := operatorTime(i)
		total += s
		fmt.Fprintf(&b, "%-40s  %14s  %12s  %10d\n", operatorName(i), unit(s), unit(s/float64(i+1)), i+1)
	}
	fmt.Fprintf(&b, "%sTotal time for analytic: %s\n[analytic] Execution time: 1.500000 s\n[analytic] TPS/Device: 4013 token/s\n"+
		"Total device memory: 64.000 GB\n  Memory available: 29.699 GB\n", rule, unit(total))
	return b.Bytes()
}
