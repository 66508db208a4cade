package workers_test

import (
	"strconv"
	"testing"
	"time"

	"golang.org/x/sys/unix"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/testing/testtier"
	"github.com/accelgate/accelgate/internal/worker"
)

// TestStarvedIsNotSuspectNightly measures a plain kernel whose worker gets a tenth of a
// processor while the reference has one of its own, and a cheat in its place. What they take says the same of both, so
// the plain one is never suspect, and the cheat never passes. It takes a minute, because either is measured up to eight times.
func TestStarvedIsNotSuspectNightly(t *testing.T) {
	testtier.Nightly(t)
	first, second := processors(t)
	for range 2 {
		var one unix.CPUSet
		one.Set(first)
		if err := unix.SchedSetaffinity(busy(t), &one); err != nil {
			t.Fatal(err)
		}
	}
	for file, never := range map[string]evaluator.Status{
		"plain.py": evaluator.Suspect, "eager_with_inputs.py": evaluator.Passed,
	} {
		reference, solution := openAt(t, second, 0, true), openAt(t, first, 5, false)
		settings := harness.Settings{Warmup: 1, Iterations: 8, MinTime: 10 * time.Millisecond, Dir: t.TempDir(), Judge: equal}
		m, err := harness.Measure(t.Context(), sumOf(500), program(t, reference, "testdata/cheats/plain.py", t.TempDir(), ""),
			program(t, solution, "testdata/cheats/"+file, t.TempDir(), ""), settings)
		if err != nil || m.Status == never {
			t.Errorf("%s: %v, status %s, reason %q", file, err, m.Status, m.Reason)
		}
		t.Logf("%s: %s %s", file, m.Status, m.Reason)
	}
}

// processors returns two that this process may use.
func processors(t *testing.T) (first, second int) {
	t.Helper()
	var allowed unix.CPUSet
	if err := unix.SchedGetaffinity(0, &allowed); err != nil {
		t.Fatal(err)
	}
	if allowed.Count() < 2 {
		t.Skip("one processor only: start the test without taskset")
	}
	var found []int
	for cpu := 0; len(found) < 2; cpu++ {
		if allowed.IsSet(cpu) {
			found = append(found, cpu)
		}
	}
	return found[0], found[1]
}

// openAt opens a worker on a processor with a priority.
func openAt(t *testing.T, cpu, nice int, private bool) *harness.Session {
	t.Helper()
	args := append([]string{"nice", "-n", strconv.Itoa(nice)}, command(t, "numpy")...)
	return openIn(t.Context(), t, args, harness.Hello{Device: "cpu", Private: private}, harness.Limits{}, worker.CPUs+"="+strconv.Itoa(cpu))
}
