package harness_test

import (
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
)

// TestSetupOfWorkers is what becomes of workers that say that their function has a setup. What setup gets is tested in
// package workers, with functions that have one.
func TestSetupOfWorkers(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		status evaluator.Status
		kind   harness.Kind
		reason string
	}{
		"setup":       {evaluator.Passed, "", ""},
		"setup lies":  {evaluator.RuntimeError, harness.Runtime, "setup: runtime: kernels of this worker have no setup"},
		"setup other": {evaluator.RuntimeError, harness.Broke, `its setup takes "D", which is not an input`},
		"setup twice": {evaluator.RuntimeError, harness.Broke, `its setup takes "A", which is not an input of the definition, or is named twice`},
		"setup mute":  {evaluator.Timeout, harness.Silent, "setup: silent"},
		"plain":       {evaluator.Passed, "", ""},
	} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			limits := harness.Limits{}
			if want.kind == harness.Silent {
				limits.Silence = 3 * time.Second
			}
			m := measureSetup(t, mode, true, limits)
			if m.Status != want.status || !strings.Contains(m.Reason, want.reason) || (m.Failed == nil) != (want.kind == "") {
				t.Fatalf("status %s, reason %q, want %s and %q", m.Status, m.Reason, want.status, want.reason)
			}
			if m.Failed != nil && (m.Failed.Kind != want.kind || m.Blame != "solution") {
				t.Errorf("failure %v of the %s, want the kind %s of the solution", m.Failed, m.Blame, want.kind)
			}
			if called := len(m.Setup) > 0; called != (mode == "setup") {
				t.Errorf("times of setup: %v", m.Setup)
			}
		})
	}
	// A program that may have none is measured without.
	if m := measureSetup(t, "setup mute", false, harness.Limits{}); m.Status != evaluator.Passed || m.Setup != nil {
		t.Errorf("not allowed: status %s, reason %q, times %v", m.Status, m.Reason, m.Setup)
	}
}

func measureSetup(t *testing.T, mode string, allowed bool, limits harness.Limits) harness.Measurement {
	t.Helper()
	ref, sol := program(mustOpen(t, "plain", harness.Limits{}), "gemm"), program(mustOpen(t, mode, limits), "gemm_blocked")
	sol.Build.Setup = allowed
	m, err := harness.Measure(within(t), small, ref, sol, quick(t))
	if err != nil {
		t.Fatal(err)
	}
	for _, ns := range m.Setup {
		if ns < 0 {
			t.Errorf("times of setup: %v", m.Setup)
		}
	}
	return m
}
