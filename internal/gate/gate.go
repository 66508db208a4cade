// Package gate decides. It compares a [bench.Run] with a reference Run under a
// [Policy], gives each cell and metric a [Verdict], and sums them up in one
// [Decision]. A cell that its suite's own files say something of is judged by
// that as well ([bench.Expected]): its total by the recorded ones, and the
// operators that the total is made of by the recorded operators, which yields a
// [Check] beside the verdicts. It is pure: it reads no file, renders nothing and
// exits nowhere, and nothing after it changes its decision. It names no metric,
// except for the two that TensorSharp's own rules are about
// (tensorsharp.go); what an Expected calls its total may have any name.
package gate

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

// Class says what a comparison found.
type Class string

// The classes. TensorSharp.TestMatrix has five of them: runtime failure,
// correctness failure, throughput regression, improvement (here: fixed, a cell
// that failed in the reference and passes now) and untracked.
const (
	Unchanged Class = "unchanged"
	Improved  Class = "improved"
	Regressed Class = "regressed"
	// Implausible is a change by a factor that code does not make, for the worse or
	// for the better. It blocks.
	Implausible        Class = "implausible"
	RuntimeFailure     Class = "runtime_failure"
	CorrectnessFailure Class = "correctness_failure"
	Fixed              Class = "fixed"
	Untracked          Class = "untracked"    // the reference does not have it
	Missing            Class = "missing"      // the reference has it, the run does not
	LeftOut            Class = "left_out"     // a limit kept it from being measured
	Skipped            Class = "skipped"      // this host cannot run it
	Inconclusive       Class = "inconclusive" // could not be judged; Reason says why
	// Waived is a regression that people have accepted for a while, up to more
	// than it is: see [waiver.Entry]. It warns, and is nothing that passed.
	Waived Class = "waived"
	// Traded is a regression that a certain gain of another metric pays for: see [Trade]. It
	// warns, and is nothing that passed.
	Traded Class = "traded"
	// InQuarantine is a verdict on a flaky cell that would block, but for a while: see
	// [waiver.Quarantined]. [Verdict.Was] is the class that it would have.
	InQuarantine Class = "quarantined"
	// Drifted is a number that is within the tolerance of its reference, or not,
	// and beyond that of an older one: many small losses add up. The older one is
	// the initial time of a case, or the anchor of a baseline's entry.
	Drifted Class = "drifted"
	// OutOfBounds is a median below the minimum or above the maximum that the
	// configuration sets, whatever the reference is.
	OutOfBounds Class = "out_of_bounds"
	// OverBudget is a group of cells whose geometric mean lost more than its [Budget].
	OverBudget Class = "over_budget"
	// OperatorsDiffer is a total whose parts are not the recorded ones any more.
	OperatorsDiffer Class = "operators_differ"
	// Mismatch is a verdict on the host: the run and the reference come from
	// different machines, so speeds say nothing about the code.
	Mismatch Class = "mismatch"
)

// Classes lists every class, the most severe first: the order of reports.
var Classes = []Class{
	Mismatch, CorrectnessFailure, RuntimeFailure, Missing, OutOfBounds, Implausible, Regressed, OverBudget, Drifted, OperatorsDiffer, Skipped, LeftOut,
	Traded, Waived, InQuarantine, Inconclusive, Untracked, Improved, Fixed, Unchanged,
}

// Level says what a verdict does to the decision. It follows from the class,
// the policy and what the reference says of the cell, never from the kind of
// suite.
type Level string

// The levels.
const (
	Fail Level = "fail" // blocks
	Warn Level = "warn" // shown, does not block
	Off  Level = "off"  // counted only
)

// Verdict is the judgement of one metric of one cell, of the cell as a whole
// when Metric is empty, or of the host as a whole when Cell is empty too; that of a
// [Budget] has no Cell.
type Verdict struct {
	Cell      string `json:"cell"`
	Metric    string `json:"metric,omitempty"`
	Reference string `json:"reference,omitempty"` // name of the reference
	Class     Class  `json:"class"`
	Level     Level  `json:"level"`
	// Old and New are medians in the metric's unit; 0 where there is none.
	Old float64 `json:"old,omitempty"`
	New float64 `json:"new,omitempty"`
	// Delta is the change in percent, negative for the worse whatever the
	// metric's direction. A failure, and a metric that vanished, is -100.
	Delta float64 `json:"delta,omitempty"`
	// Interval spans the changes of the single measurements against the
	// reference's median, in percent. Both are Delta where n is 1. With the method
	// "evidence", it is the interval of 95 % of Delta.
	Interval [2]float64 `json:"interval"`
	Evidence Evidence   `json:"evidence"`
	Reason   string     `json:"reason,omitempty"` // for people; may quote untrusted output
	// Unhealthy says that the number is a loss which the host may have made: it was
	// unhealthy, or its calibration workload moved as well.
	Unhealthy bool `json:"unhealthy,omitempty"`
	// Suspected says that the number is slower than earlier runs, by more than their
	// noise, and that this run alone does not show it.
	Suspected bool `json:"suspected,omitempty"`
	// Confirmed says that the run before was suspected and that this one confirms it; see
	// [Comparison.Began]. New is the median of both runs.
	Confirmed bool `json:"confirmed,omitempty"`
	// Alike is the place, from 1, of the finding in [Comparison].Alike that the verdict
	// is part of; 0 for none.
	Alike int `json:"alike,omitempty"`
	// Was is the class of a verdict that is InQuarantine, without the quarantine.
	Was Class `json:"was,omitempty"`
	// Paid is the gain that pays for a loss that is Traded; nil for others.
	Paid *Paid `json:"paid,omitempty"`
	// Advisory says that the verdict would block, but for [Policy.Advisory].
	Advisory bool `json:"advisory,omitempty"`
	// Budget is the place, from 1, of the budget in [Comparison].Budgets that the verdict
	// is on; 0 for none.
	Budget int `json:"budget,omitempty"`
	// Cause, Device and Retries are those of the result that was judged.
	Cause   bench.Cause `json:"cause,omitempty"`
	Device  string      `json:"device,omitempty"`
	Retries int         `json:"retries,omitempty"`
}

// Evidence says what a verdict rests on.
type Evidence struct {
	// Method is "evidence", "threshold", "exact", "test" or "fit" where numbers were compared,
	// "bound" where one is beyond Min or Max,
	// "digest" where what is measured did not change, "outcome" where the outcome
	// of the cell decided, "" where nothing could be judged.
	Method string  `json:"method,omitempty"`
	Limit  float64 `json:"limit,omitempty"` // percent
	// Derived says how Limit was derived from noise; nil where it was not.
	Derived *Derived `json:"derived,omitempty"`
	// Min and Max bound the median of the run, in the metric's unit; nil is none.
	Min  *float64 `json:"min,omitempty"`
	Max  *float64 `json:"max,omitempty"`
	OldN int      `json:"old_n,omitempty"`
	NewN int      `json:"new_n,omitempty"`
	// Noise is the larger of both sides' MAD in percent of the median.
	Noise float64 `json:"noise,omitempty"`

	// Test is the limit's, with the method "test"; StdErr is the standard error of the
	// difference New - Old, in the metric's unit, and P and Q are set as well. With the method
	// "fit" it is that of coefficients, and that of New with bounds of a coefficient.
	Test   string  `json:"test,omitempty"`
	StdErr float64 `json:"stderr,omitempty"`

	// Mode says what the base is: earlier runs, with the method "evidence", or pairs.
	Mode detect.Mode `json:"mode,omitempty"`
	// What follows is set with the method "evidence". All in percent, as
	// magnitudes of a change for the worse in the metric's own terms.
	P float64 `json:"p,omitempty"` // one-sided: how often noise alone looks at least as slow
	Q float64 `json:"q,omitempty"` // P corrected for all numbers that were judged
	// NoiseFloor is the noise of one sample that was used.
	NoiseFloor float64 `json:"noise_floor,omitempty"`
	// MDE is the smallest slow-down that as many samples with this noise would
	// have found in 4 of 5 cases.
	MDE float64 `json:"mde,omitempty"`
	// Pairs is how many pairs were used, and Need how many the cell is to have
	// before more can be said; 0 if it is settled.
	Pairs int `json:"pairs,omitempty"`
	Need  int `json:"need,omitempty"`
	// Processor is the evidence of processor time on a speed that pairs leave open; nil for
	// others.
	Processor *ProcessorTime `json:"processor,omitempty"`
	// Again counts the values that were added because the first ones looked slow,
	// of any method.
	Again int `json:"again,omitempty"`
	// Beside are informational metrics of the cell that were worse as well and may explain
	// a loss, the largest change first.
	Beside []Beside `json:"beside,omitempty"`
}

// defaultThreshold is TensorSharp's: a drop of more than 10 % blocks.
const defaultThreshold = 10.0

// DefaultMinEffect is the smallest change, in percent, that is worth an alarm
// where there is evidence.
const DefaultMinEffect = 100 * detect.DefaultMinEffect

// Policy says what blocks. The zero value is not useful: start from
// [DefaultPolicy].
type Policy struct {
	// Threshold is the change for the worse, in percent, beyond which a metric
	// is regressed. A change of exactly the threshold passes. At least 0.
	Threshold float64 `json:"threshold"`
	// RequireBaseline makes a run that no baseline could judge for speed, or a suite
	// of it of which not one number was compared, end in ActionRequired instead of
	// Passed.
	RequireBaseline bool `json:"require_baseline"`
	// Fingerprint says what a reference of another machine means: one of the
	// constants below. Empty refuses it if the accelerators of both sides are
	// known and differ, and warns if anything else does.
	Fingerprint string `json:"fingerprint,omitempty"`
	// LeftOut is [LeftOutWarn] if cells that the reference has, and that a limit
	// kept from being measured, do not block.
	LeftOut string `json:"left_out,omitempty"`
	// Compat is [CompatMSModeling] to judge the cells of Expected by the rules of
	// msmodeling's checker, or [CompatTensorSharp] to judge by TensorSharp's rules. They have no
	// rule for machines: there, a reference that does not say where it was
	// measured is judged by, while one that does is subject to Fingerprint.
	Compat string `json:"compat,omitempty"`
	// Expected is what suites' own files say of cells, by cell id. Such a cell is
	// judged by it and, where the reference has the cell, by that too. On another
	// host than its own, only the reference has numbers; it must be in the run
	// everywhere.
	Expected map[string]bench.Expected `json:"-"`
	// Demands returns the metrics that the configuration gates in a cell; nil where
	// there is none.
	Demands func(bench.Cell) []bench.Demand `json:"-"`
	// Limits returns the configuration's own limits of the metrics of a cell, by metric, on
	// the host with this label; nil where there are none.
	Limits func(c bench.Cell, host string) map[string]Limit `json:"-"`
	// LargestLimit is the largest Change of Limits, in percent; 0 where there is none.
	LargestLimit float64 `json:"largest_limit,omitempty"`
	// Budgets returns the budgets of groups of cells on the host with this label; nil where
	// there are none.
	Budgets func(host string) []Budget `json:"-"`
	// Fits returns the lines over axes on the host with this label; nil where there are none.
	Fits func(host string) []Fit `json:"-"`
	// Advisory reports whether the numbers of a cell warn on the host with this label instead
	// of blocking; nil where none do. AdvisoryBy names the entries of the configuration
	// that say so.
	Advisory   func(c bench.Cell, host string) bool `json:"-"`
	AdvisoryBy []string                             `json:"advisory_by,omitempty"`
	// Waivers are the regressions that are accepted, valid and in the order of
	// their file. Only what [waiver.Entry.Holds] on Today counts; the zero Today
	// accepts nothing.
	Waivers []waiver.Entry `json:"-"`
	Today   waiver.Date    `json:"-"`
	// Quarantine are the flaky cells that do not block on Today, valid and in the order of
	// their file.
	Quarantine []waiver.Quarantined `json:"-"`
	// Method is [MethodThreshold] if speed is judged by Threshold alone. Otherwise
	// it is judged by the evidence of pairs or of history wherever there is enough
	// of it, and by Threshold where there is not.
	Method string `json:"method,omitempty"`
	// MinEffect is the change for the worse, in percent, below which evidence is
	// of no interest; 0 is DefaultMinEffect.
	MinEffect float64 `json:"min_effect,omitempty"`
	// FalseAlarms is the chance, in percent, that a report on unchanged code blocks
	// for speed, whatever the number of cells; 0 is 2.
	FalseAlarms float64 `json:"false_alarms,omitempty"`
	// OneLook says that nothing is measured again, so that pairs are judged by all
	// that there are, and not in stages.
	OneLook bool `json:"one_look,omitempty"`
	// NextRun says that the run is of the branch whose runs are the history, and came
	// after them: a loss that the newest of them shows as well is [Regressed].
	// [bench.DefaultBranch] in a run's context says so, too.
	NextRun bool `json:"next_run,omitempty"`
	// Shared says that hosts with the same device share the reference, by the configuration: one
	// with another CPU is judged by it, with a warning.
	Shared bool `json:"-"`
	// Inconclusive is the level of numbers whose evidence stays open: "fail", or
	// "warn" if empty.
	Inconclusive string `json:"inconclusive,omitempty"`
	// Improvement is [ImprovementFail] if a certain gain fails, so that the baseline is
	// recorded again; else it is shown.
	Improvement string `json:"improvement,omitempty"`
	// Unhealthy is [UnhealthyIgnore] if what an unhealthy host measured
	// is judged all the same.
	Unhealthy string `json:"unhealthy,omitempty"`
	// Drift is the change for the worse since a cell's anchor, in percent, beyond
	// which a metric has drifted; 0 means that none does.
	Drift float64 `json:"drift,omitempty"`
	// Implausible is the factor between two numbers beyond which a change is
	// [Implausible]; 0 is DefaultImplausible.
	Implausible float64 `json:"implausible,omitempty"`
	// Part says that the run is meant to be one shard of a matrix, which another
	// command puts together.
	Part bool `json:"part,omitempty"`
	// Unapproved says that the pull request changes what is checked, and that no
	// person has approved it: the decision is ActionRequired in place of Passed.
	Unapproved bool `json:"-"`
	// Recorded says that the run was not measured now and cannot be measured
	// again, so no command to measure it is printed.
	Recorded bool `json:"-"`
}

// The values of [Policy.Fingerprint]; any other that is not empty refuses.
const (
	FingerprintRefuse = "refuse" // block
	FingerprintWarn   = "warn"   // do not judge speeds
	FingerprintIgnore = "ignore" // judge them all the same, and say so
)

// The other values of a [Policy].
const (
	LeftOutWarn       = "warn"
	CompatTensorSharp = "tensorsharp"
	CompatMSModeling  = "msmodeling"
	MethodThreshold   = "threshold"
	UnhealthyIgnore   = "ignore"
)

// DefaultPolicy is the policy when nothing is configured.
func DefaultPolicy() Policy { return Policy{Threshold: defaultThreshold} }

// Comparison is a run judged against one reference.
type Comparison struct {
	Reference string `json:"reference,omitempty"` // "" when there is none
	// Verdicts begin with those on the host. The cells follow in the order of
	// the run, then those left out, then the missing ones; by TensorSharp's
	// rules, they are in TensorSharp's order. Those of one cell are adjacent.
	Verdicts []Verdict `json:"verdicts"`
	// Unjudged says why speed was not judged; empty when it was.
	Unjudged string `json:"unjudged,omitempty"`
	// Uncompared lists the suites of which not one number was compared, where any was.
	Uncompared []Uncompared `json:"uncompared,omitempty"`
	// MissingShards lists the parts of the matrix that the run lacks.
	MissingShards []string `json:"missing_shards,omitempty"`
	// Unselected counts the reference's cells that a filter left out of the run.
	Unselected int `json:"unselected,omitempty"`
	// Measured counts the cells that were run: neither skipped nor missing.
	// Passed counts those of them that passed.
	Measured int `json:"measured"`
	Passed   int `json:"passed"`
	// Unbuilt says that nothing was measured because the checkout could not be built.
	Unbuilt bool `json:"unbuilt,omitempty"`
	// Noise is what the run's A/A pairs show; nil where it has none. No verdict
	// depends on it.
	Noise *Noise `json:"noise,omitempty"`
	// Sight is what the comparison could have seen, by road. No verdict depends on
	// it.
	Sight []Sight `json:"sight,omitempty"`
	// Began says with which commit confirmed losses began; nil where this run
	// confirms none.
	Began *Began `json:"began,omitempty"`
	// Alike lists the losses that cells share. No verdict's class depends on it.
	Alike []Alike `json:"alike,omitempty"`
	// Budgets say what became of those of the policy, but for those of which a filter left
	// out every cell.
	Budgets []Spent `json:"budgets,omitempty"`
	// Checks hold a Check for each passed cell of Policy.Expected, in the order
	// of the run.
	Checks []Check `json:"checks,omitempty"`
	// Waivers are those of Policy.Waivers that are about this host, with what
	// became of them.
	Waivers []WaiverUse `json:"waivers,omitempty"`
	// Quarantine are the cells of Policy.Quarantine that are about this host, with what
	// became of them.
	Quarantine []QuarantineUse `json:"quarantine,omitempty"`
}
