package bench

import (
	"slices"

	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// Outcome is how the measurement of a cell ended. It is not a verdict: only
// package gate decides what an outcome means for a pull request.
type Outcome string

// The outcomes. Passed is the only one whose samples may become a baseline.
const (
	Passed    Outcome = "passed"
	Incorrect Outcome = "incorrect" // ran to the end, wrong answer
	Failed    Outcome = "failed"    // crashed, did not start, or printed no usable numbers
	Timeout   Outcome = "timeout"
	Skipped   Outcome = "skipped" // this host cannot run the cell, for the Reason
)

// Outcomes are those above.
var Outcomes = []Outcome{Passed, Incorrect, Failed, Timeout, Skipped}

// Valid reports whether o is one of [Outcomes].
func (o Outcome) Valid() bool { return slices.Contains(Outcomes, o) }

// ErrContradiction is wrapped by the error of a reader whose input reports two
// values for one thing, such as a total smaller than its parts. A measurement
// that prints such a result is [Incorrect], so its numbers are never recorded.
var ErrContradiction = jsonkey.ErrContradiction

// Cause is why a measurement did not pass, more finely than its Outcome: a
// reader must see at once whether it is the program, the host or the answer.
type Cause string

// The causes. An empty cause means that the cell passed, or that it is unknown.
const (
	CauseStart    Cause = "start"    // the program could not be started
	CauseExit     Cause = "exit"     // it exited with a code other than 0
	CauseCrash    Cause = "crash"    // a signal ended it
	CauseOOM      Cause = "oom"      // host or device memory ran out
	CauseTimeout  Cause = "timeout"  // it was stopped at its deadline
	CauseSilent   Cause = "silent"   // it was stopped because it printed nothing
	CauseInput    Cause = "input"    // a file that the cell needs is absent
	CauseOutput   Cause = "output"   // it printed no usable numbers
	CauseAnswer   Cause = "answer"   // it answered wrongly
	CauseMachine  Cause = "machine"  // the machine or its services failed, by a pattern of the configuration
	CauseCapacity Cause = "capacity" // this host lacks what the cell needs
)

// Infrastructure reports whether measuring again may help because the program
// under test is not to blame.
func (c Cause) Infrastructure() bool { return c == CauseStart || c == CauseMachine }

// CheckKind is what the correctness of a cell was judged on.
type CheckKind string

// The kinds.
const (
	CheckedAnswer   CheckKind = "answer"   // text or token ids against the expected ones
	CheckedOutput   CheckKind = "output"   // the output of a kernel against its reference's
	CheckedAnalysis CheckKind = "analysis" // what an analysis computed against what it must be
)

// CheckKinds are those above.
var CheckKinds = []CheckKind{CheckedAnswer, CheckedOutput, CheckedAnalysis}

// Correctness is what the correctness of a cell that passed was judged on; "" if
// it was not.
func (r *Result) Correctness() CheckKind {
	switch {
	case r.Outcome != Passed:
		return ""
	case r.Checked == "" && r.Output != "":
		return CheckedAnswer
	}
	return r.Checked
}
