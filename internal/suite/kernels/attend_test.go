//go:build unix

package kernels

import (
	"context"
	"fmt"
	"path/filepath"
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/measure/runner"
	"github.com/accelgate/accelgate/internal/suite"
	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// attended measures by a suite that is watched.
type attended struct {
	*Suite
	suite.Watchdog
	times *int
}

func (a attended) Measure(ctx context.Context, c bench.Cell, d bench.Device) (bench.Result, error) {
	*a.times++
	return a.Suite.Measure(suite.Watching(ctx, a.Watchdog), c, d)
}

// TestAttended: a solution that hangs, stops or crashes ends with its own cause and the stacks of
// its worker, and passes as a flaky one if it is right when it is measured again. A wrong one is
// measured once. It takes seconds, because it waits for bounds.
func TestAttended(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	once := func(do string) string {
		return fmt.Sprintf(`if (access("FLAG", F_OK)) { fclose(fopen("FLAG", "w")); %s; }`, do)
	}
	for name, test := range map[string]struct {
		before, body string
		suite.Watchdog
		retries map[bench.Cause]int
		times   int
		outcome bench.Outcome
		cause   bench.Cause
		warns   string
	}{
		"hangs": {before: once("for (;;) pause()"), body: "timeouts: {run: 2s}\n", Watchdog: suite.Watchdog{Dump: true},
			retries: map[bench.Cause]int{bench.CauseTimeout: 1}, times: 2, outcome: bench.Passed, warns: "flaky: it passed at attempt 2 only (timeout 1 time before)"},
		"crashes": {before: once("raise(SIGSEGV)"),
			retries: map[bench.Cause]int{bench.CauseCrash: 1}, times: 2, outcome: bench.Passed, warns: "flaky: it passed at attempt 2 only (crash 1 time before)"},
		"too long": {before: "for (;;) pause();", Watchdog: suite.Watchdog{Timeout: 3 * time.Second, Dump: true},
			times: 1, outcome: bench.Timeout, cause: bench.CauseTimeout},
		"stopped": {before: "kill(getpid(), SIGSTOP);", Watchdog: suite.Watchdog{NoOutput: 3 * time.Second, Dump: true},
			times: 1, outcome: bench.Timeout, cause: bench.CauseSilent},
		"wrong": {before: "return 0;", retries: map[bench.Cause]int{bench.CauseCrash: 3, bench.CauseTimeout: 3, bench.CauseOOM: 3, bench.CauseSilent: 3, bench.CauseStart: 3},
			times: 1, outcome: bench.Incorrect, cause: bench.CauseAnswer},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			dir, times := dataset(t), 0
			addC(t, dir, "odd", strings.ReplaceAll(test.before, "FLAG", filepath.Join(dir, "flag")))
			s := mustOpen(t, dir, rmsnorm+"workloads: [rows4]\nsolutions: [odd]\n"+test.body)
			results, _, err := runner.Run(t.Context(), attended{s, test.Watchdog, &times}, s.Plan().Cells[:1],
				runner.Options{Retries: func(_ bench.Cell, cause bench.Cause) int { return test.retries[cause] }})
			if err != nil {
				t.Fatal(err)
			}
			r := results[0]
			if r.Outcome != test.outcome || r.Cause != test.cause || times != test.times || !strings.Contains(strings.Join(r.Warnings, "\n"), test.warns) {
				t.Errorf("after %d times: %s, %q: %s, warnings %q, want %d times: %s, %q\n%s", times, r.Outcome, r.Cause, r.Reason, r.Warnings, test.times, test.outcome, test.cause, r.Log)
			}
			if stacks := "accelgate: stacks when it was stopped"; runtime.GOOS == "linux" && test.Dump && r.Outcome == bench.Timeout && !strings.Contains(r.Log, stacks) {
				t.Errorf("the log has no stacks: %s", r.Log)
			}
		})
	}
}

// TestLateAndWrong: a case that is wrong is not one that is measured again, if its limit comes
// while its workers are tidied up.
func TestLateAndWrong(t *testing.T) {
	t.Parallel()
	cut := &harness.Cancelled{Op: "release", Cause: harness.ErrTooLong, Log: "stacks"}
	wrong := outcome{measured: harness.Measurement{Status: evaluator.IncorrectNumerical}}
	if err := wrong.late(cut, time.Second); err != nil || wrong.status != evaluator.IncorrectNumerical {
		t.Errorf("%v, %s", err, wrong.status)
	}
	right := outcome{measured: harness.Measurement{Status: evaluator.Passed}}
	if err := right.late(cut, time.Second); err != nil || right.status != evaluator.Timeout || right.log != "stacks" {
		t.Errorf("%v, %s, %q", err, right.status, right.log)
	}
	failed := outcome{}
	if err := failed.late(&harness.Failure{Kind: harness.WrongShape}, time.Second); err == nil || failed.status != "" {
		t.Errorf("%v, %s", err, failed.status)
	}
}

// TestSilenceIsSeconds: a worker says only once a second that it is alive.
func TestSilenceIsSeconds(t *testing.T) {
	_, err := open(t, dataset(t), "dataset: .\nno_output: 2s\n")
	if err == nil || !strings.Contains(err.Error(), "x.yaml:6:16: suites[0].no_output: is 2s, and a worker says every second that it is alive: write at least 5s") {
		t.Error(err)
	}
}
