package report

import (
	"slices"
	"strings"
	"unicode"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/lazyregexp"
)

// because is why a cell failed to run: the last line of its log that says why,
// before how the program ended; else the verdict's reason.
func (f finding) because() string {
	if f.line == "" || strings.Contains(f.Reason, f.line) {
		return f.Reason
	}
	return f.line + " (" + f.Reason + ")"
}

// crashLine is the line of a cell's log that says why it failed to run; "" where
// the result's own reason says more than how the program ended.
func (h *host) crashLine(v *gate.Verdict) string {
	if res := h.crashed[v.Cell]; res != nil && v.Class == gate.RuntimeFailure {
		return lastMeaningful(res.Log)
	}
	return ""
}

var ending = lazyregexp.New(`^(exit (code|status) -?\d+|ended by signal|signal: )`)

// crashedResults finds the results of a run whose log alone can say why they failed.
func crashedResults(run *bench.Run) map[string]*bench.Result {
	found := map[string]*bench.Result{}
	for i := range run.Results {
		if res := &run.Results[i]; res.Outcome == bench.Failed && res.Log != "" && ending.MatchString(res.Reason) {
			found[res.Cell.ID()] = res
		}
	}
	return found
}

var (
	// fault is in lines that name a cause, whichever the program's language.
	fault = lazyregexp.New(`(?i)error|exception|panic|fatal|assert|fail|abort|cannot|can't|could not|unable|denied|no such|not found|invalid|unsupported|refused|exceeded|terminat|out of memory|segmentation|killed`)
	// frames are lines of a stack, notes about it, and the words of shells and make
	// about an end that they did not cause.
	frames = lazyregexp.New(`^(\s+at |\s*File "|\s*#\d+ |goroutine \d+|\s*\S+\(.*\)$|\s+\S+:\d+( \+0x[0-9a-f]+)?$|note: |stack backtrace|Traceback |exit status \d+|exit code \d+|created by |make(\[\d+\])?: |\[New LWP|\[\d+\]\s|={3,}|-{3,})`)
)

// lastMeaningful is the last line of a log that names a cause; without one, the last
// that holds words. A log is hostile: the line is as it was printed, and bounded.
func lastMeaningful(log string) string {
	lines, _ := excerpt(log, true)
	slices.Reverse(lines)
	last := ""
	for _, line := range lines {
		if frames.MatchString(line) || strings.IndexFunc(line, unicode.IsLetter) < 0 {
			continue
		}
		line = strings.TrimSpace(line)
		if fault.MatchString(line) {
			return line
		}
		if last == "" {
			last = line
		}
	}
	return last
}
