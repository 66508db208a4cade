package report

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// label holds the words for one class.
type label struct {
	blocking, other string // "3 ..." in a sum
	one, many       string // what a blocking cell does: "1 cell ...", "2 cells ..."
}

// unequal is the word of reports for a [gate.CorrectnessFailure] that numbers were
// compared for: the answer is not what is wrong there.
const unequal gate.Class = "unequal"

// lowered is the word of reports for a [gate.Regressed] that a test of scores found: it is
// not slower.
const lowered gate.Class = "lowered"

// classes are those of gate in their order, unequal and lowered.
var classes = slices.Insert(slices.Clone(gate.Classes), slices.Index(gate.Classes, gate.CorrectnessFailure)+1, unequal, lowered)

// classOf is the class that a report tells a verdict under.
func classOf(v *gate.Verdict) gate.Class {
	switch {
	case v.Class == gate.CorrectnessFailure && (v.Evidence.Method == "exact" || v.Evidence.Method == gate.MethodTest):
		return unequal
	case v.Class == gate.Regressed && v.Evidence.Method == gate.MethodTest:
		return lowered
	}
	return v.Class
}

var labels = map[gate.Class]label{
	gate.CorrectnessFailure: {"wrong", "known wrong", "gives wrong answers", "give wrong answers"},
	unequal: {"not equal", "not equal (not blocking)",
		"differs in a metric that must be equal", "differ in a metric that must be equal"},
	lowered: {"a worse score", "a worse score (not blocking)",
		"has a significantly worse score", "have a significantly worse score"},
	gate.RuntimeFailure: {"failed to run", "known not to run", "fails to run", "fail to run"},
	gate.Missing:        {"missing", "missing (not blocking)", "is missing or lacks a metric", "are missing or lack a metric"},
	gate.Skipped:        {"newly skipped", "skipped", "is newly skipped", "are newly skipped"},
	gate.Regressed:      {"slower", "slower (not blocking)", "is slower", "are slower"},
	gate.OverBudget:     {"over budget", "over budget (not blocking)", "", ""},
	gate.Implausible: {"implausible", "implausible (not blocking)",
		"changed implausibly", "changed implausibly"},
	gate.OutOfBounds: {"out of bounds", "out of bounds (not blocking)",
		"has a metric beyond its bounds", "have a metric beyond their bounds"},
	gate.Drifted: {"drifted", "drifted (not blocking)",
		"has drifted beyond its limit", "have drifted beyond their limit"},
	gate.OperatorsDiffer: {"with other operators", "with other operators (not blocking)",
		"has other operators than recorded", "have other operators than recorded"},
	gate.LeftOut:      {"not measured", "not measured (not blocking)", "was not measured", "were not measured"},
	gate.Mismatch:     {"another host", "another host (not blocking)", "", ""},
	gate.Traded:       {"traded (blocking)", "traded", "", ""},
	gate.Waived:       {"waived (blocking)", "waived", "", ""},
	gate.InQuarantine: {"quarantined (blocking)", "quarantined", "", ""},
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
	bench.CauseSilent:   "hung silently",
	bench.CauseInput:    "lacks a file",
	bench.CauseOutput:   "printed no numbers",
	bench.CauseMachine:  "the host failed",
	bench.CauseCapacity: "the host lacks what it needs",
}

// ofSpeed reports whether two speeds were compared, or two scores.
func ofSpeed(v *gate.Verdict) bool {
	return v.Evidence.Method == "threshold" || v.Evidence.Method == "evidence" || v.Evidence.Method == gate.MethodTest || v.Evidence.Method == gate.MethodFit
}

// stillOpen reports a number whose evidence says neither that it is slower nor
// that it is not.
func stillOpen(v *gate.Verdict) bool {
	return v.Class == gate.Inconclusive && (v.Evidence.Method == "evidence" || v.Evidence.Method == "threshold" && v.Level != gate.Off)
}

// word is the class of a finding, or the cause of a failure to run, in a word.
func (f finding) word() string {
	cause := causes[f.Cause]
	told := f.Class == gate.RuntimeFailure && cause != ""
	switch l := labels[classOf(f.Verdict)]; {
	case f.Level == gate.Fail && f.Evidence.Method == "exact":
		return labels[unequal].blocking
	case f.Budget > 0 && f.Class == gate.Regressed: // of a fit
		return "a worse fit"
	case f.Class == gate.OperatorsDiffer && f.Level == gate.Fail: // its labels are of numbers of cells
		return "operators differ"
	case f.Class == gate.OperatorsDiffer:
		return "operators differ (not blocking)"
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
