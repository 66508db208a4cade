package harness_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
)

// TestDeviceTimesAreEvidence: what a device tells is kept for each trial and decides nothing; a worker that cannot tell
// is measured all the same, and one whose reply cannot be true is ended.
func TestDeviceTimesAreEvidence(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		status evaluator.Status
		trials int
	}{"device": {evaluator.Passed, 2}, "device lies": {evaluator.RuntimeError, 0}, "no device": {evaluator.Passed, 0}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s := quick(t)
			m, err := harness.Measure(within(t), small, program(mustOpen(t, "plain", harness.Limits{}), "gemm"),
				program(mustOpen(t, mode, harness.Limits{}), "gemm_blocked"), s)
			if err != nil || m.Status != want.status || len(m.Solution.Device) != want.trials {
				t.Fatalf("status %s, reason %q, %d trials with device times, error %v, want %+v", m.Status, m.Reason, len(m.Solution.Device), err, want)
			}
			if want.trials > 0 && (m.Solution.Device[1].NS[9] != 10 || !m.Solution.Clock.Throttled || m.Solution.Clock.MHz != 1980) {
				t.Errorf("device times are %+v, clock %+v", m.Solution.Device, m.Solution.Clock)
			}
		})
	}
}
