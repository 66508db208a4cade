package flashinfer_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
)

// TestBest: the last trace of a case counts, failures do not, and devices are apart.
func TestBest(t *testing.T) {
	t.Parallel()
	trace := func(solution, hardware string, status flashinfer.Status, ms float64) *flashinfer.Trace {
		return &flashinfer.Trace{Definition: "d", Solution: solution, Workload: flashinfer.Workload{UUID: "w"}, Evaluation: &flashinfer.Evaluation{
			Status: status, Environment: flashinfer.Environment{Hardware: hardware}, Performance: &flashinfer.Performance{LatencyMS: ms}}}
	}
	got := flashinfer.Best([]*flashinfer.Trace{
		trace("fell", "A", flashinfer.Passed, 1), trace("slow", "A", flashinfer.Passed, 9), trace("fast", "A", flashinfer.Passed, 3), trace("same", "A", flashinfer.Passed, 3),
		trace("slow", "B", flashinfer.Passed, 5), trace("fell", "A", flashinfer.RuntimeError, 0), trace("none", "A", flashinfer.Passed, 0),
	})
	if len(got) != 2 || got[0].Solution != "fast" || got[0].Hardware != "A" || got[0].LatencyMS != 3 || got[1].Solution != "slow" || got[1].Hardware != "B" {
		t.Errorf("got %+v", got)
	}
}
