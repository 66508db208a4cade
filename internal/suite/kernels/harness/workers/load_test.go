package workers_test

import (
	"os/exec"
	"runtime"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestHonestBesideLoadNightly measures plain kernels beside three programs for each
// processor that do nothing but take it. What such a host cannot decide is
// inconclusive, and never held against the solution.
func TestHonestBesideLoadNightly(t *testing.T) {
	testtier.Nightly(t)
	for range 3 * runtime.GOMAXPROCS(0) {
		busy(t)
	}
	for kind, file := range map[string]string{"c": "testdata/cheats/plain.c", "numpy": "testdata/cheats/plain.py"} {
		for range 3 {
			reference, solution := open(t.Context(), t, "numpy", true, harness.Limits{}), open(t.Context(), t, kind, false, harness.Limits{})
			settings := harness.Settings{Warmup: 1, Iterations: 8, MinTime: 10 * time.Millisecond, Dir: t.TempDir(), Judge: equal}
			m, err := harness.Measure(t.Context(), sum, program(t, reference, "testdata/cheats/plain.py", t.TempDir(), ""),
				program(t, solution, file, t.TempDir(), ""), settings)
			if err != nil || m.Status != evaluator.Passed && m.Status != evaluator.Inconclusive {
				t.Errorf("%s: %v, status %s, reason %q", file, err, m.Status, m.Reason)
			}
			t.Logf("%s: %s %s", file, m.Status, m.Reason)
		}
	}
}

// busy starts a program that does nothing but take a processor, and returns its number.
func busy(t *testing.T) int {
	t.Helper()
	c := exec.CommandContext(t.Context(), "sh", "-c", "while :; do :; done")
	if err := c.Start(); err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() {
		_ = c.Process.Kill()
		_ = c.Wait()
	})
	return c.Process.Pid
}
