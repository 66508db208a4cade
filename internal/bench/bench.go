// Package bench is the vocabulary of accelgate: cells, metrics, samples,
// results, hosts and runs. It holds types and pure methods and does no I/O.
//
// A suite expands to [Cell] values; measuring a cell yields a [Result]; the
// results of one invocation on one host form a [Run]. A committed baseline
// loads as a Run as well, so comparing is always Run against Run.
package bench

import (
	"errors"
	"math"
	"slices"
	"strings"
	"time"
)

// RunSchema is the version of the Run document written by this build.
const RunSchema = 1

// Direction says which way a metric improves.
type Direction string

// The two directions. The zero value means Higher, as in TensorSharp's
// baselines, which hold throughputs only.
const (
	Higher Direction = "higher"
	Lower  Direction = "lower"
)

// Gain returns the relative change from old to new in percent of old's size,
// signed so that a positive gain is always an improvement. The change from
// zero is undefined and reported as ok == false.
func (d Direction) Gain(old, new float64) (pct float64, ok bool) {
	if old == 0 {
		return 0, false
	}
	pct = (new - old) / math.Abs(old) * 100
	if d == Lower {
		pct = -pct
	}
	return pct, true
}

// Change turns a gain into the change new/old - 1 in the metric's own sign, which
// is what people and programs read, and back. Of a latency the two differ.
func (d Direction) Change(gain float64) float64 {
	if d == Lower {
		return 0 - gain // without minus zero
	}
	return gain
}

// Word says what a change in the metric's own sign is: "better", "worse", or ""
// for none.
func (d Direction) Word(change float64) string {
	switch gain := d.Change(change); {
	case gain > 0:
		return "better"
	case gain < 0:
		return "worse"
	}
	return ""
}

// Metric describes one measured quantity. It travels with the numbers, so a
// reader needs no table of metric names.
type Metric struct {
	Name   string    `json:"name"`
	Unit   string    `json:"unit,omitempty"`
	Better Direction `json:"better"`
	// Exact metrics must equal the reference; no tolerance applies.
	Exact bool `json:"exact,omitempty"`
	// Informational metrics are shown and never gated.
	Informational bool `json:"informational,omitempty"`
	// Optional says that some cells do not report the metric.
	Optional bool `json:"optional,omitempty"`
	// Kind is what kind of number the metric is; 0 where its unit says so, see
	// [Metric.Quantity].
	Kind Quantity `json:"kind,omitempty"`
	// MinCount is the least count, by CountedBy, that a value must rest on to be
	// gated: a 99th percentile of 40 requests is their maximum. Below it, on either
	// side of a comparison, the metric is informational.
	MinCount int32 `json:"min_count,omitempty"`
	// CountedBy names the metric that counts what a value rests on, such as
	// requests; empty together with MinCount.
	CountedBy string `json:"counted_by,omitempty"`
	// Resolution is the step in which the program prints the metric, in its
	// unit: 0.1 where it prints one decimal. Zero means that rounding does not
	// matter.
	Resolution float64 `json:"resolution,omitempty"`
	// FallbackFor names a gated metric, without a fallback of its own, that is
	// gated in place of this one wherever either side of a comparison has it
	// above 0. TensorSharp's rule "decode if either side has decode, else
	// prefill" is prefill_tps with FallbackFor decode_tps.
	FallbackFor string `json:"fallback_for,omitempty"`
	// Definition says how the metric is computed from what was observed, where
	// its name does not: "t_first - t_send" of requests that were answered.
	Definition string `json:"definition,omitempty"`
	// ConfirmedBy names another gated metric of the cell that must be worse as
	// well for this one to be regressed: a ratio to something measured
	// alternately tells a slower host from slower code.
	ConfirmedBy string `json:"confirmed_by,omitempty"`
}

// Gates reports whether the metric is gated wherever it stands, so that
// another one may be its fallback.
func (m Metric) Gates() bool { return !m.Informational && m.FallbackFor == "" && m.CountedBy == "" }

// Sample holds every measured value of one metric in one cell, in the order
// of measurement. One value stands for one process, never for a repetition
// inside a process: those are not independent.
//
// Exactly one of Values and Summary is set.
type Sample struct {
	Metric string    `json:"metric"`
	Values []float64 `json:"values,omitempty"`
	// Summary stands in for Values where only the summary was kept, as in a
	// baseline file.
	Summary *Summary `json:"summary,omitempty"`
	// Estimates says of each of Values what it was estimated from; empty where
	// a value is no estimate.
	Estimates []Estimate `json:"estimates,omitempty"`
	// Doubt says why the values are not fit to be judged, where those of the
	// result's other metrics are; empty if they are.
	Doubt string `json:"doubt,omitempty"`
	// Base is what the old code did, measured alternately with the new, one value for each of
	// the last of Values: they are pairs. Empty where the base was not measured.
	Base []float64 `json:"base,omitempty"`
	// History, of a reference, holds earlier runs of the cell on this host, the
	// oldest first, each with its values: of all samples, entries at the same
	// distance from the end are of one run, and one is empty where that run lacks
	// the cell. Anchor is the median that was pinned (see [Result.Anchored]), 0
	// where it is unknown. Neither travels in a run.
	History [][]float64 `json:"-"`
	Anchor  float64     `json:"-"`
	// Unhealthy marks the entries of History that were measured on an unhealthy
	// host; nil if there are none.
	Unhealthy []bool `json:"-"`
}

// leastHealthy is how many healthy runs say what the level of a cell is without
// the unhealthy ones.
const leastHealthy = 3

// Level returns the entries of History that say what the level is: those of a
// healthy host, with the others empty. With fewer than [leastHealthy] of them, it
// returns all. What it returns must not be modified.
func (s *Sample) Level() [][]float64 {
	if s.Unhealthy == nil {
		return s.History
	}
	level, healthy := make([][]float64, len(s.History)), 0
	for i, values := range s.History {
		if !s.Unhealthy[i] && len(values) > 0 {
			level[i] = values
			healthy++
		}
	}
	if healthy < leastHealthy {
		return s.History
	}
	return level
}

// Point is when, and of which commit, something was recorded; a field is zero
// where that is unknown.
type Point struct {
	At       time.Time
	Revision string
}

// Estimate is what one value of a sample rests on inside its process: N
// observations, such as requests, and the interval of 95 % that Method
// computes. Low and High are equal to the value where there is no interval.
type Estimate struct {
	N      int     `json:"n"`
	Low    float64 `json:"low"`
	High   float64 `json:"high"`
	Method string  `json:"method,omitempty"`
}

// Summary is what a baseline keeps of a sample: the median, the median
// absolute deviation (unscaled) and the number of values. Noise and MDE are what
// measuring the same code again and again has shown, as fractions; 0 where
// not measured.
type Summary struct {
	Median float64 `json:"median"`
	MAD    float64 `json:"mad"`
	N      int     `json:"n"`
	// Noise is the standard deviation of one value, of its logarithm: 0.01 is 1 %.
	Noise float64 `json:"noise,omitempty"`
	// MDE is the smallest slow-down that a single value, judged by ten earlier
	// runs with this noise, would have shown in 4 of 5 cases.
	MDE float64 `json:"mde,omitempty"`
	// StdErr is the standard error that the program reported, see [Sample.StdErr]; 0 where
	// it reported none.
	StdErr float64 `json:"stderr,omitempty"`
}

// Outcome says how the measurement of a cell ended. It is not a verdict: only
// package gate decides what an outcome means for a pull request.
type Outcome string

// The outcomes. Passed is the only one whose samples may become a baseline.
const (
	Passed    Outcome = "passed"
	Incorrect Outcome = "incorrect" // ran to the end, wrong answer
	Failed    Outcome = "failed"    // crashed, did not start, or printed no usable numbers
	Timeout   Outcome = "timeout"
	Skipped   Outcome = "skipped" // this host cannot run the cell; Reason says why
)

// Outcomes are those above.
var Outcomes = []Outcome{Passed, Incorrect, Failed, Timeout, Skipped}

// Valid reports whether o is one of [Outcomes].
func (o Outcome) Valid() bool { return slices.Contains(Outcomes, o) }

// ErrContradiction is wrapped by the error of a reader whose input reports two
// values for one thing, such as a total smaller than its parts. A measurement
// that prints such a result is [Incorrect], so its numbers are never recorded.
var ErrContradiction = errors.New("the result contradicts itself")

// Cause says why a measurement did not pass, more finely than its Outcome: a
// reader must see at once whether the program, the machine or the answer is to
// blame.
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

// Device is one accelerator, or several of one vendor, that a cell can be pinned to. The
// zero value means no device in particular.
type Device struct {
	Vendor string `json:"vendor"` // "nvidia", "amd", "ascend", "intel", "apple", "cpu"
	ID     string `json:"id"`     // as the vendor's variable for visible devices takes it, a list as "0,1"; "" with "apple" and "cpu"
}

// Group is several devices as one. They are of one vendor, and each has an id.
func Group(devices []Device) Device {
	ids := make([]string, len(devices))
	for i, d := range devices {
		ids[i] = d.ID
	}
	return Device{Vendor: devices[0].Vendor, ID: strings.Join(ids, ",")}
}

// Members are the devices of a group, one for a single device, none for the zero value.
func (d Device) Members() (members []Device) {
	if d == (Device{}) {
		return nil
	}
	for id := range strings.SplitSeq(d.ID, ",") {
		members = append(members, Device{Vendor: d.Vendor, ID: id})
	}
	return members
}

// String returns "nvidia:0", and "" for the zero value.
func (d Device) String() string {
	if d.ID == "" {
		return d.Vendor
	}
	return d.Vendor + ":" + d.ID
}

// LeftOut is a cell that a limit on the number of cells or on time kept from
// being measured.
type LeftOut struct {
	Cell   string `json:"cell"`   // id
	Reason string `json:"reason"` // "over the limit of 500 cells"
}

// Breakdown splits a cell's time over named parts, such as operators.
type Breakdown struct {
	Title   string  `json:"title"`
	Unit    string  `json:"unit"`
	Entries []Entry `json:"entries"`
}

// Entry is one part of a Breakdown: Total is the sum over all Calls.
type Entry struct {
	Name  string  `json:"name"`
	Total float64 `json:"total"`
	Calls int64   `json:"calls"`
}

// AddUp returns each name once, with the totals and calls of all entries that
// have it, in the order of the first. entries is not modified.
func AddUp(entries []Entry) []Entry {
	at := make(map[string]int, len(entries))
	sums := make([]Entry, 0, len(entries))
	for _, e := range entries {
		if i, known := at[e.Name]; known {
			sums[i].Total += e.Total
			sums[i].Calls += e.Calls
			continue
		}
		at[e.Name] = len(sums)
		sums = append(sums, e)
	}
	return sums
}

// Result is what measuring one cell yielded.
type Result struct {
	Cell    Cell    `json:"cell"`
	Outcome Outcome `json:"outcome"`
	Reason  string  `json:"reason,omitempty"` // why not passed; for people
	Cause   Cause   `json:"cause,omitempty"`
	// Twin is the id of another cell that was measured under the same
	// conditions: the difference between the two is noise.
	Twin string `json:"twin,omitempty"`
	// Device is the accelerator that the cell was pinned to, as Device.String
	// writes it.
	Device string `json:"device,omitempty"`
	// Retries counts the measurements that failed for reasons of the machine
	// and were repeated.
	Retries int `json:"retries,omitempty"`
	// Context is what else a reader must know to repeat this cell, beside that
	// of the Run: the options of a load generator, the engine's version.
	Context map[string]string `json:"context,omitempty"`
	// Doubt says why the numbers are not fit to be judged, such as a client
	// that was slower than the server; empty if they are.
	Doubt string `json:"doubt,omitempty"`
	// Warnings are about the numbers of this cell and keep nothing from being
	// judged.
	Warnings []string `json:"warnings,omitempty"`
	// Counts tells apart what the samples rest on, such as requests by outcome.
	Counts map[string]int `json:"counts,omitempty"`
	// Health says how the machine was while the cell was measured; nil if no tool
	// looked.
	Health *Health `json:"health,omitempty"`
	// Artifacts is the digest of the files that the suite declares to be what is
	// measured; "" if it declares none. Where it is the reference's, nothing that
	// could be slower has changed.
	Artifacts string `json:"artifacts,omitempty"`
	// Anchored is, of a reference, when its samples' anchors were pinned. It does
	// not travel in a run.
	Anchored Point `json:"-"`
	// Selected counts the first values of each sample that made the cell suspect,
	// where it was measured again because of them: they chose the cell, so they
	// are no evidence against it. 0 where nothing was.
	Selected int `json:"selected,omitempty"`
	// Sessions is how many sessions each sample's values are of, one value each; 0
	// where all values are of one.
	Sessions int `json:"sessions,omitempty"`
	// Files are what the measurement left beside the run document.
	Files   []File   `json:"files,omitempty"`
	Samples []Sample `json:"samples,omitempty"`
	// Resources are what the measurement used beside what it measured, by the names of
	// [Resource]. They are shown and never judged: one that a limit names is in Samples
	// instead.
	Resources []Sample `json:"resources,omitempty"`
	// Absent are the metrics that the output of a cell that passed should have held;
	// Keys are what it held instead, set only together with Absent. Untrusted.
	Absent     []Absent    `json:"absent,omitempty"`
	Keys       []string    `json:"keys,omitempty"`
	Breakdowns []Breakdown `json:"breakdowns,omitempty"`
	// Curve is what a search over loads measured, in the order of its probes.
	Curve Curve `json:"curve,omitempty"`
	// Checked says what correctness was judged on, if not on an answer: one of the
	// kinds below; "" where it was not judged, or on Output.
	Checked CheckKind `json:"checked,omitempty"`
	// Output is the answer that correctness was judged on, cut to a few KiB.
	// It is untrusted.
	Output string `json:"output,omitempty"`
	// Tokens are the token ids that correctness was judged on, at most MaxTokens.
	Tokens []int64 `json:"tokens,omitempty"`
	// Log is the tail of the child's output. It is untrusted.
	Log string `json:"log,omitempty"`
	// Command is the argument vector of the child, for reproducing by hand.
	Command []string `json:"command,omitempty"`
	// Env is what the cell sets for the child, NAME=VALUE, later entries winning.
	Env []string `json:"env,omitempty"`
	// WallMS is the wall time of all attempts in milliseconds.
	WallMS float64 `json:"wall_ms,omitempty"`
}

// binding names the conditions that decide what was asked of a server. Numbers
// that were measured under different ones are of two different things.
var binding = map[string]bool{
	"suite_version": true, "dataset_hash": true, "mode": true, "concurrency": true, "rate": true, "arrival": true, "burstiness": true,
	"burst": true, "warmup": true, "api": true, "max_tokens": true, "ignore_eos": true, "temperature": true, "stream": true, "keepalive": true,
	"cache_policy": true, "input_len": true, "output_len": true, "extra": true,
	"devices": true, // how many a cell has at once, where that is more than 1
	// What was answered: a time per token is over the tokens that were streamed.
	StreamedTokens: true,
	"latency_from": true, "search": true,
	// Of kernels: two kinds of clock see different things, and a ratio is to its
	// reference.
	"timer": true, "cold_cache": true, "reference_worker": true, "device_name": true,
}

// Binding reports whether numbers may only be compared under equal values of
// the named condition.
func Binding(condition string) bool { return binding[condition] }

// Conditions returns the binding ones of the result's context; nil if it has
// none.
func (r *Result) Conditions() map[string]string {
	var conditions map[string]string
	for name, value := range r.Context {
		if Binding(name) {
			if conditions == nil {
				conditions = map[string]string{}
			}
			conditions[name] = value
		}
	}
	return conditions
}

// File is a file that a measurement left: its name, without a folder, and the
// SHA-256 of its contents in hexadecimal.
type File struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// Sample returns the sample of the named metric, or nil.
func (r *Result) Sample(metric string) *Sample {
	for i := range r.Samples {
		if r.Samples[i].Metric == metric {
			return &r.Samples[i]
		}
	}
	return nil
}

// Judged returns the values of one of the result's samples that are evidence:
// those that chose the cell to be measured again are not, unless they are pairs.
func (r *Result) Judged(s *Sample) []float64 {
	if r.Selected < len(s.Values) && len(s.Base) == 0 {
		return s.Values[r.Selected:]
	}
	return s.Values
}

// Run is the one document of accelgate: fresh output, reference and exchanged
// file alike. It carries its own directions and units.
type Run struct {
	Schema   int               `json:"schema"`
	Tool     string            `json:"tool"`               // "accelgate v1.2.3"
	Revision string            `json:"revision,omitempty"` // commit of the code under test
	Host     Host              `json:"host"`
	Started  time.Time         `json:"started"`
	Context  map[string]string `json:"context,omitempty"`
	// Shards lists the parts "k/n" of the matrix that the run holds, where it
	// was split over several jobs; empty for the whole.
	Shards  []string `json:"shards,omitempty"`
	Metrics []Metric `json:"metrics"`
	Results []Result `json:"results"`
	// Unselected lists the ids of cells that the configuration expands to and
	// that a filter on the command line left out. They are declared, so that a
	// subset run is never mistaken for vanished cells.
	Unselected []string `json:"unselected,omitempty"`
	// LeftOut lists the cells that were selected and that a limit kept from
	// being measured.
	LeftOut  []LeftOut `json:"left_out,omitempty"`
	Warnings []string  `json:"warnings,omitempty"`
	// Base is the commit that Sample.Base was measured of; "" without pairs.
	Base string `json:"base,omitempty"`
	// Calibration holds the calibration workload's times; nil if it did not run.
	Calibration *Calibration `json:"calibration,omitempty"`
	// Earlier says, of a reference, when and of which commit the entries of
	// Sample.History are, in their order. It does not travel in a run.
	Earlier []Point `json:"-"`
}

// DefaultBranch is the condition of a run of the default branch's newest commit, with
// nothing changed: the runs of its history came before it on the same branch.
const DefaultBranch = "default_branch"

// Unbuilt is the condition of a run of which nothing was measured, because the checkout
// could not be built.
const Unbuilt = "unbuilt"

// PairSeed is the condition of a run that says how the order within pairs was drawn.
const PairSeed = "pair_seed"

// FirstPairs is the condition of a run that says in how many pairs every cell was
// measured at first, where that is more than the first look takes.
const FirstPairs = "pairs"

// ByID are the results by the ids of their cells.
func (r *Run) ByID() map[string]*Result {
	results := make(map[string]*Result, len(r.Results))
	for i := range r.Results {
		results[r.Results[i].Cell.ID()] = &r.Results[i]
	}
	return results
}

// Metric returns the description of the named metric, or nil.
func (r *Run) Metric(name string) *Metric {
	for i := range r.Metrics {
		if r.Metrics[i].Name == name {
			return &r.Metrics[i]
		}
	}
	return nil
}
