package kernels

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
)

// TestInputsAreCounted: a case is measured if all that is held of its inputs fits:
// random ones four times in each of two workers, files and numbers once in each.
func TestInputsAreCounted(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		definition, workload string
		bytes                int
	}{
		{"gemm_n128_k256", "m1", 2 * 4 * 2 * (1*256 + 128*256)},
		// Random probs of float32, and top_k of int32 from a file.
		{"top_k_sampling_from_probs_v256", "batch4", 2*4*4*(4*256) + 2*4*4},
	} {
		for _, more := range []int{-1, 0} {
			s := mustOpen(t, t.TempDir(), fmt.Sprintf("reference: go\ndefinitions: [%s]\nworkloads: [%s]\nmax_input_gib: %.20f\n",
				c.definition, c.workload, float64(c.bytes+more)/(1<<30)))
			_, err := s.kase(s.points[0])
			if fits := err == nil; fits != (more == 0) {
				t.Errorf("%s within %d bytes: %v", c.definition, c.bytes+more, err)
			}
			if err == nil {
				continue
			}
			r, failed := s.Measure(t.Context(), s.Plan().Cells[0], bench.Device{})
			if failed != nil || r.Outcome != bench.Skipped || !strings.Contains(r.Reason, "two workers, 4 sets): raise max_input_gib") {
				t.Errorf("%v %s: %s", failed, r.Outcome, r.Reason)
			}
		}
	}
}
