package report

import (
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// label holds the words for one finding, or for some of its verdicts.
type label struct {
	finding gate.Finding
	is      func(*gate.Verdict) bool // nil is every other verdict with the finding
	word    string                   // "3 slower"
	plain   string                   // the same where nothing is wrong with it; "" is word
	// What a cell that blocks does: "1 cell is slower", "2 cells are slower".
	one, many string
}

// labels are in the order of [gate.Findings], which a test checks.
var labels = []label{
	{finding: gate.OtherHost, word: "another host"},
	{gate.Incorrect, unequal, "not equal", "", "differs in a metric that must be equal", "differ in a metric that must be equal"},
	{finding: gate.Incorrect, word: "wrong", one: "gives a wrong answer", many: "give wrong answers"},
	{finding: gate.Crashed, word: "failed to run", one: "fails to run", many: "fail to run"},
	{gate.Missing, newlySkipped, "newly skipped", "", "is newly skipped", "are newly skipped"},
	{gate.Missing, (*gate.Verdict).LeftOut, "not measured", "", "was not measured", "were not measured"},
	{finding: gate.Missing, word: "missing", one: "is missing or lacks a metric", many: "are missing or lack a metric"},
	{finding: gate.Incomparable, word: "not comparable", one: "cannot be compared", many: "cannot be compared"},
	{finding: gate.OutOfBounds, word: "out of bounds", one: "has a metric beyond its bounds", many: "have a metric beyond their bounds"},
	{finding: gate.Implausible, word: "implausible", one: "changed implausibly", many: "changed implausibly"},
	{gate.Regressed, lowered, "a worse score", "", "has a significantly worse score", "have a significantly worse score"},
	{gate.Regressed, ofFit, "a worse fit", "", "", ""},
	{finding: gate.Regressed, word: "slower", one: "is slower", many: "are slower"},
	{finding: gate.OverBudget, word: "over budget"},
	{finding: gate.Drifted, word: "drifted", one: "has drifted beyond its limit", many: "have drifted beyond their limit"},
	{finding: gate.PartsDiffer, word: "operators differ", one: "has other operators than recorded",
		many: "have other operators than recorded"},
	{finding: gate.Unrecorded, word: "faster than allowed", one: "is faster than allowed", many: "are faster than allowed"},
	{gate.Skipped, (*gate.Verdict).LeftOut, "left out", "", "", ""},
	{finding: gate.Skipped, word: "skipped"},
	{gate.Untracked, notJudged, "speed not judged", "", "", ""},
	{finding: gate.Untracked, word: "not in the baseline"},
	{finding: gate.Improved, word: "improved"},
	{finding: gate.Fixed, word: "fixed"},
	{finding: gate.Unchanged, word: "loss not excluded", plain: "unchanged", one: "may be slower", many: "may be slower"},
}

// unequal reports a wrong number: the answer is not what is wrong there.
func unequal(v *gate.Verdict) bool {
	return v.Evidence.Method == gate.MethodExact || v.Evidence.Method == gate.MethodTest
}

func lowered(v *gate.Verdict) bool { return v.Evidence.Method == gate.MethodTest }

func ofFit(v *gate.Verdict) bool { return v.Budget > 0 }

func newlySkipped(v *gate.Verdict) bool { return v.Outcome == bench.Skipped }

// notJudged reports a number that both sides have, and that no reference of this host judges.
func notJudged(v *gate.Verdict) bool { return v.Metric != "" && v.Old != 0 }

// labelOf is the place of a verdict's label in [labels].
func labelOf(v *gate.Verdict) int {
	return slices.IndexFunc(labels, func(l label) bool { return l.finding == v.Finding && (l.is == nil || l.is(v)) })
}

// excuses are the kinds of excuses in a word.
var excuses = map[gate.ExcuseKind]string{
	gate.WaivedExcuse:  "waived",
	gate.TradeExcuse:   "traded",
	gate.Quarantined:   "in quarantine",
	gate.AdvisoryLevel: "advisory",
	gate.KnownFailure:  "known to fail",
	gate.LeftOut:       "left out",
	gate.RuleExcuse:    "excused",
}

// deciders name what decides an undecided finding.
var deciders = map[gate.Decider]string{
	gate.ByMorePairs:     "more pairs",
	gate.ByPairs:         "pairs with the base",
	gate.ByHealthyHost:   "a healthy host, or pairs",
	gate.ByNextRun:       "the next run, or pairs",
	gate.ByRepeats:       "more repeats",
	gate.ByDigits:        "more printed digits",
	gate.ByNewBaseline:   "a new baseline",
	gate.ByWholeGroup:    "a run of the whole group",
	gate.ByCorrectOutput: "a correct output",
}

// wordOf returns what a verdict found, in a word: "slower", "slower (undecided)", "slower (waived)".
func wordOf(v *gate.Verdict) string {
	l := &labels[labelOf(v)]
	word := l.word
	if cause := causes[v.Cause]; v.Finding == gate.Crashed && cause != "" {
		word = cause
	}
	switch {
	case v.Blocks:
		return word
	case v.Excuse != nil:
		return fmt.Sprintf("%s (%s)", word, excuses[v.Excused()])
	case v.Undecided():
		return word + " (undecided)"
	case l.plain != "":
		return l.plain
	}
	return word
}

// causes names in a word why a cell failed to run: because of the program, the host or
// the configuration.
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

// word returns the finding in a word.
func (f finding) word() string { return wordOf(f.Verdict) }

// ofSpeed reports whether two speeds were compared, or two scores.
func ofSpeed(v *gate.Verdict) bool { return v.Evidence.Method.Speed() }
