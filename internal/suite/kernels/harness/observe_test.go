package harness_test

import (
	"math"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
	"github.com/accelgate/accelgate/internal/suite/kernels/harness"
)

// TestWordsHaveBoth: what a compiler printed is in the log or in the trace, and is shown once.
func TestWordsHaveBoth(t *testing.T) {
	t.Parallel()
	for _, c := range []struct{ log, trace, want string }{
		{"log", "", "log"}, {"", "", ""}, {"log", "a\nb\n", "log\na\nb"}, {"log\na\x1b\nthe end\n", "a\nthe end", "log\na\x1b\nthe end\n"},
	} {
		if got := (&harness.Failure{Log: c.log, Trace: c.trace}).Words(); got != c.want {
			t.Errorf("log %q and trace %q make %q, want %q", c.log, c.trace, got, c.want)
		}
	}
}

// TestDeviceTimesAreEvidence: what a device tells is kept for each trial and decides nothing; a worker that cannot tell
// is measured all the same, and one whose reply cannot be true is ended.
func TestDeviceTimesAreEvidence(t *testing.T) {
	t.Parallel()
	for mode, want := range map[string]struct {
		status  evaluator.Status
		trials  int
		warning string
	}{"device": {evaluator.Passed, 2, ""}, "device lies": {evaluator.RuntimeError, 0, ""}, "no device": {evaluator.Passed, 0, ""},
		"no times": {evaluator.Passed, 0, "the device's own times are absent"}} {
		t.Run(mode, func(t *testing.T) {
			t.Parallel()
			s, began := quick(t), time.Now()
			m, err := harness.Measure(within(t), small, program(mustOpen(t, "plain", harness.Limits{}), "gemm"),
				program(mustOpen(t, mode, harness.Limits{}), "gemm_blocked"), s)
			if err != nil || m.Status != want.status || len(m.Solution.Device) != want.trials {
				t.Fatalf("status %s, reason %q, %d trials with device times, error %v, want %+v", m.Status, m.Reason, len(m.Solution.Device), err, want)
			}
			if !strings.Contains(strings.Join(m.Warnings, "\n"), want.warning) {
				t.Errorf("warnings %q, want %q", m.Warnings, want.warning)
			}
			if want.trials > 0 && (m.Solution.Device[1].NS[9] != 10 || !m.Solution.Device[1].Clock.Throttled || m.Solution.Device[1].Clock.MHz != 1980) {
				t.Errorf("device times are %+v", m.Solution.Device)
			}
			last := began
			for i, d := range m.Solution.Device { // trials follow each other, and times of calls lie within
				timed := time.Duration(sumOf(m.Solution.NS[i]))
				if d.Span.From.Before(last) || d.Span.To.Sub(d.Span.From) < timed || d.Span.To.After(time.Now()) {
					t.Errorf("trial %d is from %v to %v after %v, and its calls took %v", i, d.Span.From, d.Span.To, last, timed)
				}
				last = d.Span.To
			}
		})
	}
}

func sumOf(values []int64) (sum int64) {
	for _, v := range values {
		sum += v
	}
	return sum
}

// TestSharedDevice: what a device takes to change between the two workers is in no time of a call. A loaded host moves
// some of the times by more, and the change would be in all.
func TestSharedDevice(t *testing.T) {
	t.Parallel()
	file := childAddr + "=" + filepath.Join(t.TempDir(), "owner")
	reference, solution := mustOpen(t, "shared device", harness.Limits{}, file), mustOpen(t, "shared device", harness.Limits{}, file)
	off := map[string]time.Duration{}
	for range 4 {
		m, err := harness.Measure(within(t), small, program(reference, "gemm"), program(solution, "gemm"), quick(t))
		if err != nil || m.Status != evaluator.Passed && m.Status != evaluator.Inconclusive {
			t.Fatalf("status %s, reason %q, error %v", m.Status, m.Reason, err)
		}
		off["reference"], off["solution"] = apart(m.Reference), apart(m.Solution)
		if max(off["reference"], off["solution"]) <= contextSwitch/2 {
			return
		}
	}
	for name, d := range off {
		t.Errorf("the requests of the %s differ by %v, and the device takes %v to change", name, d, contextSwitch)
	}
}

// apart is by how much the long and the short request of a block differ beyond the calls that only the long one has, in the
// block where that is least.
func apart(t harness.Timing) time.Duration {
	off := math.Inf(1)
	for i, slopes := range t.Slope {
		own := slices.Clone(t.NS[i])
		slices.Sort(own)
		calls := float64(2 * t.Calls[i] / 4 / len(slopes)) // that 3N are more than N
		for _, slope := range slopes {
			off = min(off, math.Abs(slope-float64(own[len(own)/2]))*calls)
		}
	}
	return time.Duration(off)
}
