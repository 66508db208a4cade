package report

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// label holds the words for one class.
type label struct {
	blocking, other string // "3 ..." in a sum
	one, many       string // what a blocking cell does: "1 cell ...", "2 cells ..."
}

var labels = map[gate.Class]label{
	gate.CorrectnessFailure: {"wrong", "known wrong", "gives wrong answers", "give wrong answers"},
	gate.RuntimeFailure:     {"failed to run", "known not to run", "fails to run", "fail to run"},
	gate.Missing:            {"missing", "missing (not blocking)", "is missing or lacks a metric", "are missing or lack a metric"},
	gate.Skipped:            {"newly skipped", "skipped", "is newly skipped", "are newly skipped"},
	gate.Regressed:          {"slower", "slower (not blocking)", "is slower", "are slower"},
	gate.Drifted: {"drifted", "drifted (not blocking)",
		"is slower than its initial time allows", "are slower than their initial times allow"},
	gate.OperatorsDiffer: {"operators differ", "operators differ (not blocking)",
		"has other operators than recorded", "have other operators than recorded"},
	gate.LeftOut:      {"not measured", "not measured (not blocking)", "was not measured", "were not measured"},
	gate.Mismatch:     {"another machine", "another machine (not blocking)", "", ""},
	gate.Inconclusive: {"inconclusive (blocking)", "inconclusive", "", ""},
	gate.Untracked:    {"not in the baseline (blocking)", "not in the baseline", "", ""},
	gate.Improved:     {"faster than allowed", "improved", "is faster than allowed", "are faster than allowed"},
	gate.Fixed:        {"fixed (blocking)", "fixed", "", ""},
	gate.Unchanged:    {"unchanged (blocking)", "unchanged", "", ""},
}

// causes says in a word why a cell failed to run: the program, the machine or
// the configuration is to blame.
var causes = map[bench.Cause]string{
	bench.CauseStart:    "did not start",
	bench.CauseExit:     "exited with an error",
	bench.CauseCrash:    "crashed",
	bench.CauseOOM:      "ran out of memory",
	bench.CauseTimeout:  "timed out",
	bench.CauseInput:    "lacks a file",
	bench.CauseOutput:   "printed no numbers",
	bench.CauseMachine:  "the machine failed",
	bench.CauseCapacity: "the host lacks what it needs",
}

// word is the class of a finding, or the cause of a failure to run, in a word.
func (f finding) word() string {
	cause := causes[f.Cause]
	told := f.Class == gate.RuntimeFailure && cause != ""
	exactTotal := f.Level == gate.Fail && f.Evidence.Method == "exact" && ofFile(f.Reference)
	switch l := labels[f.Class]; {
	case exactTotal:
		return "not equal"
	case f.Level == gate.Fail && told:
		return cause
	case f.Level == gate.Fail:
		return l.blocking
	case told:
		return l.other + " (" + cause + ")"
	default:
		return l.other
	}
}
