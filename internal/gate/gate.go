package gate

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/reference/waiver"
)

// Level is what the configuration makes of a finding, or of a condition that differs in a diff.
type Level string

// The levels.
const (
	Fail Level = "fail" // blocks
	Warn Level = "warn" // shown, does not block
	Off  Level = "off"  // not looked at
)

// Verdict is the judgement of one metric of one cell, of the cell as a whole
// when Metric is empty, or of the host as a whole when Cell is empty too; that of a
// [Budget] has no Cell.
type Verdict struct {
	Cell      string  `json:"cell"`
	Metric    string  `json:"metric,omitempty"`
	Reference string  `json:"reference,omitempty"` // name of the reference
	Finding   Finding `json:"finding"`
	// DecidedBy is what would decide a finding that is undecided; absent where it is certain.
	DecidedBy Decider `json:"decided_by,omitempty"`
	// Excuse is why the finding does not block although it would; nil for none.
	Excuse *Excuse `json:"excuse,omitempty"`
	// Blocks follows from the three by [Policy.Blocks].
	Blocks bool `json:"blocks"`
	// Outcome is that of a cell that did not pass; "" where a metric or an absent cell is judged.
	Outcome bench.Outcome `json:"outcome,omitempty"`
	// Old and New are medians in the metric's unit; 0 where there is none.
	Old float64 `json:"old,omitempty"`
	New float64 `json:"new,omitempty"`
	// Delta is the change in percent, negative for the worse whatever the
	// metric's direction. A failure, and a metric that vanished, is -100.
	Delta float64 `json:"delta,omitempty"`
	// Interval spans the changes of the single measurements against the
	// reference's median, in percent. Both are Delta where n is 1. By pairs and history,
	// it is the interval of 95 % of Delta.
	Interval [2]float64 `json:"interval"`
	Evidence Evidence   `json:"evidence"`
	Reason   string     `json:"reason,omitempty"` // for people; may quote untrusted output
	// Health is how the host was unhealthy while a loss was measured, or how its calibration
	// workload moved; "" where neither is known. It takes nothing back from pairs.
	Health string `json:"health,omitempty"`
	// Confirmed says that the run before was suspected and that this one confirms it; see
	// [Comparison.SuspectRange]. New is the median of both runs.
	Confirmed bool `json:"confirmed,omitempty"`
	// SharedLoss is the place, from 1, of the finding in [Comparison].SharedLosses that the verdict
	// is part of; 0 for none.
	SharedLoss int `json:"alike,omitempty"`
	// Budget is the place, from 1, of the budget in [Comparison].Budgets that the verdict
	// is on; 0 for none.
	Budget int `json:"budget,omitempty"`
	// Cause, Device and Retries are those of the result that was judged.
	Cause   bench.Cause `json:"cause,omitempty"`
	Device  string      `json:"device,omitempty"`
	Retries int         `json:"retries,omitempty"`
	// Force is that of the limit that the number is beyond, and Entry the place of the limit where it has one.
	Force Force  `json:"level,omitempty"`
	Entry string `json:"entry,omitempty"`
}

// Evidence says what a verdict rests on.
type Evidence struct {
	Method Method  `json:"method,omitempty"`
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

	// Test is the limit's, by [MethodTest]; StdErr is the standard error of the
	// difference New - Old, in the metric's unit, and P and Q are set as well. By
	// [MethodFit] it is that of coefficients, and that of New with bounds of a coefficient.
	Test   string  `json:"test,omitempty"`
	StdErr float64 `json:"stderr,omitempty"`

	// InPairs says that base and head were measured alternately, by any method.
	InPairs bool `json:"in_pairs,omitempty"`
	// What follows is set by pairs and history, and partly by sessions. All in percent, as
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
	// Covariates are informational metrics of the cell that were worse as well and may explain
	// a loss, the largest change first.
	Covariates []Covariate `json:"beside,omitempty"`
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
	// RequireBaseline makes a run that no baseline could judge for speed, a suite
	// of it of which not one number was compared, or a number with no or a zero reference, end in ActionRequired instead of
	// Passed.
	RequireBaseline bool `json:"require_baseline"`
	// Fingerprint says what a reference of another machine means: one of the
	// constants below. Empty refuses it if the accelerators of both sides are
	// known and differ, and warns if anything else does.
	Fingerprint string `json:"fingerprint,omitempty"`
	// LeftOut is [LeftOutWarn] if cells that the reference has, and that a limit
	// kept from being measured, do not block.
	LeftOut string `json:"left_out,omitempty"`
	// Compat is the tool whose rules replace those of the gate.
	Compat compat.Tool `json:"compat,omitempty"`
	// Expected is what suites' own files say of cells, by cell id. Such a cell is
	// judged by it and, where the reference has the cell, by that too. On another
	// host than its own, only the reference has numbers; it must be in the run
	// everywhere.
	Expected map[string]bench.Expected `json:"-"`
	// Operators compare the recorded operators of Expected, by the names of the suites.
	Operators map[string]OperatorJudge `json:"-"`
	// Demands returns the metrics that the configuration gates in a cell; nil where
	// there is none.
	Demands func(bench.Cell) []bench.Demand `json:"-"`
	// Rules are the entries about cells, in the order of the configuration.
	Rules []Rule `json:"-"`
	// LargestLimit is the largest share that a rule lets a metric change by, in percent, and AdvisoryBy
	// names the rules of sort [Advice] that make numbers advisory.
	LargestLimit float64  `json:"largest_limit,omitempty"`
	AdvisoryBy   []string `json:"advisory_by,omitempty"`
	// Event and Profile are those of the run, which rules are for; "" is none. A run outside of the
	// action has an event of its own.
	Event   string `json:"event,omitempty"`
	Profile string `json:"profile,omitempty"`
	// Waivers are the regressions that are accepted, valid and in the order of
	// their file. Only what [waiver.Date.Holds] on Today counts; the zero Today
	// accepts nothing.
	Waivers []waiver.Entry `json:"-"`
	Today   waiver.Date    `json:"-"`
	// Quarantine are the flaky cells that do not block on Today, valid and in the order of
	// their file.
	Quarantine []waiver.Quarantined `json:"-"`
	// Runs is how many earlier runs a [Spread] is of, the newest; 0 is all that are known.
	Runs int `json:"runs,omitempty"`
	// Failing is what the newest run of the default branch failed; nil for nothing.
	Failing   *Failing `json:"-"`
	recording bool     // see [Policy.Recording]
	// Method is [MethodThreshold] if speed is judged by Threshold alone. Otherwise
	// it is judged by the evidence of pairs or of history wherever there is enough
	// of it, and by Threshold where there is not.
	Method Method `json:"method,omitempty"`
	// MinEffect is the change for the worse, in percent, below which evidence is
	// of no interest; 0 is DefaultMinEffect.
	MinEffect float64 `json:"min_effect,omitempty"`
	// FalseAlarms is the chance, in percent, that a report on unchanged code blocks
	// for speed, whatever the number of cells; 0 is 2. It is the level of the tests:
	// docs/detection.md has the rate of each method.
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
	// Inconclusive is [InconclusiveFail] if what is undecided blocks.
	Inconclusive string `json:"inconclusive,omitempty"`
	// Strict says that the exit code is 1 where a loss beyond its limit is undecided.
	Strict bool `json:"strict,omitempty"`
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
	LeftOutWarn      = "warn"
	InconclusiveFail = "fail"
	UnhealthyIgnore  = "ignore"
)

// DefaultPolicy is the policy when nothing is configured.
func DefaultPolicy() Policy { return Policy{Threshold: defaultThreshold} }

// Comparison is a run judged against one reference.
type Comparison struct {
	Reference string `json:"reference,omitempty"` // "" when there is none
	// Verdicts begin with those on the host. The cells follow in the order of
	// the run, then those left out, then the missing ones; by another
	// tool's rules, they are in its order. Those of one cell are adjacent.
	Verdicts []Verdict `json:"verdicts"`
	// Unjudged says why speed was not judged; empty when it was.
	Unjudged string `json:"unjudged,omitempty"`
	// Uncompared lists the suites of which not one number was compared, where any was.
	Uncompared []Uncompared `json:"uncompared,omitempty"`
	// InPairs says that cells were measured alternately with the base.
	InPairs bool `json:"in_pairs,omitempty"`
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
	// NoEvidence says why nothing of the run is evidence, so that it has no verdicts; ""
	// where something is. See [bench.NoEvidence].
	NoEvidence string `json:"no_evidence,omitempty"`
	// Noise is what the run's A/A pairs show; nil where it has none. No verdict
	// depends on it.
	Noise *Noise `json:"noise,omitempty"`
	// Power is what the comparison could have seen, by method. No verdict depends on
	// it.
	Power []Power `json:"power,omitempty"`
	// SuspectRange says with which commit confirmed losses began; nil where this run
	// confirms none.
	SuspectRange *SuspectRange `json:"onset,omitempty"`
	// SharedLosses lists the losses that cells share. No verdict's finding depends on it.
	SharedLosses []SharedLoss `json:"alike,omitempty"`
	// Budgets say what became of those of the policy, but for those of which a filter left
	// out every cell.
	Budgets []BudgetResult `json:"budgets,omitempty"`
	// Groups say what became of the groups of cases of Policy.Expected of which the run has a cell.
	Groups []compat.CaseGroup `json:"groups,omitempty"`
	// Checks hold one for each passed cell of Policy.Expected, in the order
	// of the run.
	Checks []compat.Check `json:"checks,omitempty"`
	// Waivers are those of Policy.Waivers that are about this host, with what
	// became of them.
	Waivers []WaiverUse `json:"waivers,omitempty"`
	// Quarantine are the cells of Policy.Quarantine that are about this host, with what
	// became of them.
	Quarantine []QuarantineUse `json:"quarantine,omitempty"`
}
