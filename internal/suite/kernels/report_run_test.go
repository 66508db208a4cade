package kernels_test

import (
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/suite/kernels"
)

// TestKernelsShowSome: times of setup and of the device have a column where a solution has them.
func TestKernelsShowSome(t *testing.T) {
	t.Parallel()
	one := func(solution string, metrics ...bench.Sample) bench.Result {
		return bench.Result{Cell: bench.Cell{Raw: "k/d/" + solution, Params: []bench.Param{{Key: "definition", Value: "d"}, {Key: "solution", Value: solution}, {Key: "workload", Value: "w"}}},
			Outcome: bench.Passed, Samples: metrics}
	}
	plain := one("plain", bench.Sample{Metric: "latency_ms", Values: []float64{2}}, bench.Sample{Metric: "speedup_factor", Values: []float64{1}})
	planned := one("planned", bench.Sample{Metric: "latency_ms", Values: []float64{1}}, bench.Sample{Metric: "speedup_factor", Values: []float64{2}},
		bench.Sample{Metric: "setup_ms", Values: []float64{7, 9, 8}}, bench.Sample{Metric: "device_ms", Values: []float64{0.25}})
	for want, results := range map[string][]bench.Result{"": {plain}, "8": {planned, plain}} {
		var b strings.Builder
		if err := kernels.PrintRun(&b, &bench.Run{Results: results}, "run.json"); err != nil {
			t.Fatal(err)
		}
		_, after, shown := strings.Cut(b.String(), "SETUP MS")
		_, row, _ := strings.Cut(after, "planned")
		row, _, _ = strings.Cut(row, "\n")
		if strings.Contains(b.String(), "DEVICE MS") != (want != "") || want != "" && !strings.Contains(row, "0.25") {
			t.Errorf("the time of the device in\n%s", b.String())
		}
		if shown != (want != "") || shown && !strings.HasSuffix(strings.TrimSpace(row), want) {
			t.Errorf("want setup %q in\n%s", want, b.String())
		}
	}
}
