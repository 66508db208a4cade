package diff_test

import (
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate/diff"
)

func TestSideOf(t *testing.T) {
	t.Parallel()
	r := &bench.Run{
		Metrics: []bench.Metric{{Name: "tps", Better: bench.Higher}, {Name: "ttft_p99_ms", Better: bench.Lower}, {Name: "plain"}},
		Results: []bench.Result{
			{Cell: bench.Cell{Raw: "a"}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "tps", Values: []float64{3, 1, 2}}, {Metric: "ttft_p99_ms", Values: []float64{7}}, {Metric: "plain", Values: []float64{1}}}},
			{Cell: bench.Cell{Raw: "counted"}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "ttft_p99_ms", Values: []float64{7}}, {Metric: "n_ok", Values: []float64{50}}}},
			{Cell: bench.Cell{Raw: "crashed"}, Outcome: bench.Failed, Samples: []bench.Sample{{Metric: "tps", Values: []float64{9}}}},
			{Cell: bench.Cell{Raw: "skipped"}, Outcome: bench.Skipped},
		},
	}
	spread := detect.NewSide(2, 1, 3)
	facts := []diff.Fact{{Name: "model", Value: "m"}}
	want := diff.Document{Name: "run.json", Context: facts, Cells: []diff.Cell{
		{ID: "a", Metrics: []diff.Metric{
			{Metric: r.Metrics[0], Value: 2, Has: true, N: 3, Spread: &spread},
			{Metric: r.Metrics[1], Value: 7, Has: true}, // of one process, and of an unknown number of requests
			{Metric: bench.Metric{Name: "plain", Better: bench.Higher}, Value: 1, Has: true, N: 1}}},
		{ID: "counted", Metrics: []diff.Metric{{Metric: r.Metrics[1], Value: 7, Has: true, N: 50}}},
		{ID: "crashed"},
	}}
	if diff := cmp.Diff(want, diff.DocumentOf("run.json", r, facts)); diff != "" {
		t.Errorf("SideOf (-want +got):\n%s", diff)
	}
}
