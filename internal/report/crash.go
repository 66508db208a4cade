package report

import (
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// because returns why a cell failed to run: the last line of its log that gives a reason,
// before how the program ended; else the verdict's reason.
func (f finding) because() string {
	if f.line == "" || strings.Contains(f.Reason, f.line) {
		return f.Reason
	}
	return f.line + " (" + f.Reason + ")"
}

// crashLine returns the line of a cell's log that gives the reason why it failed to run; "" where
// the result's own reason has more than how the program ended.
func (h *host) crashLine(v *gate.Verdict) string {
	if res := h.crashed[v.Cell]; res != nil && v.Finding == gate.Crashed {
		return lastMeaningful(res.Log)
	}
	return ""
}

var ending = lazyregexp.New(`^(exit (code|status) -?\d+|ended by signal|signal: )`)

// crashedResults finds the results of a run whose log alone can show why they failed.
func crashedResults(run *bench.Run) map[string]*bench.Result {
	found := map[string]*bench.Result{}
	for i := range run.Results {
		if res := &run.Results[i]; res.Outcome == bench.Failed && res.Log != "" && ending.MatchString(res.Reason) {
			found[res.Cell.ID()] = res
		}
	}
	return found
}

// lastMeaningful returns the line of a log that gives the reason. A log is hostile: the line is as it
// was printed, and bounded.
func lastMeaningful(log string) string {
	lines, _ := excerpt(log, true)
	return text.Meaningful(lines)
}
