package gate

import (
	"slices"

	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/text"
)

// Finding says what was seen. It does not depend on how certain that is, nor on what the
// repository accepts: see [Decider], [Excuse] and [Policy.Blocks].
type Finding string

// The findings.
const (
	OtherHost Finding = "other_host" // run and reference are of different hosts
	Incorrect Finding = "incorrect"  // a wrong answer, or a number that must be equal and is not
	Crashed   Finding = "crashed"    // the cell did not run to its end; see [Verdict].Outcome
	Missing   Finding = "missing"    // the reference or the configuration demands it, and the run does not have it
	// Incomparable is a number whose two sides mean different things: another unit, other
	// conditions, a reference that cannot be.
	Incomparable Finding = "incomparable"
	OutOfBounds  Finding = "out_of_bounds" // below the minimum or above the maximum of the configuration
	// Implausible is a change by a factor that code does not make, for the worse or for the better.
	Implausible Finding = "implausible"
	Regressed   Finding = "regressed"
	OverBudget  Finding = "over_budget" // the geometric mean of a group of cells lost more than its [Budget]
	// Drifted is a loss beyond the limit since an older reference: the initial time of a case, or
	// the anchor of a baseline's entry.
	Drifted     Finding = "drifted"
	PartsDiffer Finding = "parts_differ" // the operators of a total are not the recorded ones
	// Unrecorded is a gain that the baseline does not have and that must be recorded, by
	// [Policy.Improvement] or by another tool's rules.
	Unrecorded Finding = "unrecorded"
	Skipped    Finding = "skipped"   // not measured, and nothing demands it
	Untracked  Finding = "untracked" // no reference of this host has it
	Improved   Finding = "improved"
	Fixed      Finding = "fixed" // failed in the reference, passes now
	Unchanged  Finding = "unchanged"
)

// Findings lists every finding, the worst first. It is the order of every report.
var Findings = []Finding{
	OtherHost, Incorrect, Crashed, Missing, Incomparable, OutOfBounds, Implausible, Regressed, OverBudget, Drifted, PartsDiffer, Unrecorded,
	Skipped, Untracked, Improved, Fixed, Unchanged,
}

// Rank is the place of the finding in [Findings].
func (f Finding) Rank() int {
	if i := slices.Index(Findings, f); i >= 0 {
		return i
	}
	return len(Findings)
}

// loss reports a finding that something became worse by more than it may.
func (f Finding) loss() bool {
	return f == Regressed || f == OverBudget || f == Drifted || f == PartsDiffer
}

// Decider is what would decide a finding that is undecided.
type Decider string

// The deciders. Certain is none: the finding is certain.
const (
	Certain         Decider = ""
	ByMorePairs     Decider = "more_pairs"
	ByPairs         Decider = "pairs" // with the base
	ByHealthyHost   Decider = "healthy_host"
	ByNextRun       Decider = "next_run" // of the default branch
	ByRepeats       Decider = "repeats"
	ByDigits        Decider = "digits" // more of them in the program's output
	ByNewBaseline   Decider = "new_baseline"
	ByWholeGroup    Decider = "whole_group" // a run of all cells of the budget or fit
	ByCorrectOutput Decider = "correct_output"
)

// Deciders lists every decider but [Certain].
var Deciders = []Decider{ByMorePairs, ByPairs, ByHealthyHost, ByNextRun, ByRepeats, ByDigits, ByNewBaseline, ByWholeGroup, ByCorrectOutput}

// Certainty is "certain" or "undecided".
func (d Decider) Certainty() string {
	if d == Certain {
		return "certain"
	}
	return "undecided"
}

// ExcuseKind is the sort of an [Excuse].
type ExcuseKind string

// The kinds. NotExcused is none.
const (
	NotExcused    ExcuseKind = ""
	WaivedExcuse  ExcuseKind = "waiver"
	TradeExcuse   ExcuseKind = "trade"
	Quarantined   ExcuseKind = "quarantine"
	AdvisoryLevel ExcuseKind = "advisory"
	KnownFailure  ExcuseKind = "known_failure" // the reference records it
	LeftOut       ExcuseKind = "left_out"      // a limit kept it from being measured; see [Policy].LeftOut
	RuleExcuse    ExcuseKind = "rule"          // a key of the configuration lets it pass
)

// ExcuseKinds lists every kind but [NotExcused].
var ExcuseKinds = []ExcuseKind{WaivedExcuse, TradeExcuse, Quarantined, AdvisoryLevel, KnownFailure, LeftOut, RuleExcuse}

// Excuse says why a finding does not block although it would.
type Excuse struct {
	Kind ExcuseKind `json:"kind"`
	// Source says where the excuse is written: a file and line, a key of the configuration, a
	// baseline.
	Source string      `json:"source"`
	Why    string      `json:"why,omitempty"` // as its author wrote it
	By     string      `json:"by,omitempty"`
	Issue  string      `json:"issue,omitempty"` // pull request or issue
	Until  waiver.Date `json:"until,omitzero"`  // last day; absent where there is no end
	Trade  *Offset     `json:"trade,omitempty"`
}

// Certainty is that of the verdict's finding.
func (v *Verdict) Certainty() string { return v.DecidedBy.Certainty() }

// Undecided reports whether more evidence may change the finding.
func (v *Verdict) Undecided() bool { return v.DecidedBy != Certain }

// Excused is the kind of the verdict's excuse.
func (v *Verdict) Excused() ExcuseKind {
	if v.Excuse == nil {
		return NotExcused
	}
	return v.Excuse.Kind
}

// Listed reports whether reports list the verdict: everything but what is unchanged for
// certain.
func (v *Verdict) Listed() bool {
	return v.Finding != Unchanged || v.Undecided() || v.Excuse != nil
}

// Reserved reports whether the verdict does not block and is undecided or excused, so that
// the report does not pass without a reservation.
func (v *Verdict) Reserved() bool { return !v.Blocks && (v.Undecided() || v.Excuse != nil) }

// Worse orders verdicts for reports: what blocks, what is undecided, what is excused, and
// the rest, each by [Findings].
func Worse(a, b *Verdict) int {
	if by := a.Standing() - b.Standing(); by != 0 {
		return by
	}
	return a.Finding.Rank() - b.Finding.Rank()
}

// Standing is 0 for what blocks, 1 for what is undecided, 2 for what is excused, and 3 for the rest.
func (v *Verdict) Standing() int {
	switch {
	case v.Blocks:
		return 0
	case !v.Reserved():
		return 3
	case v.Excuse == nil:
		return 1
	}
	return 2
}

// LeftOut reports a cell that a limit kept from being measured.
func (v *Verdict) LeftOut() bool {
	return v.Excused() == LeftOut || v.Finding == Skipped && v.Outcome == "" && v.Metric == ""
}

// seen is the finding of a loss that is undecided: what it would be, or unchanged where chance
// alone often makes one as large.
func seen(loss Finding, suspicious bool) Finding {
	if suspicious {
		return loss
	}
	return Unchanged
}

// maxByChance is the p up to which an undecided loss is one that was seen, and above which it
// is only one that cannot be excluded.
const maxByChance = 0.05

// suspicious reports whether chance alone seldom makes such a loss.
func (e *Evidence) suspicious() bool { return e.P <= maxByChance }

// undecide makes the finding one that more evidence may change.
func (v *Verdict) undecide(by Decider, reason string) {
	v.DecidedBy, v.Reason = by, text.Reasons(v.Reason, reason)
}

// The bounds of a reason: names are whatever a program prints.
const (
	maxName = 80  // runes of a name
	maxLine = 200 // runes of a line that holds a name and numbers
)
