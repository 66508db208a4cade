// Package bench is the vocabulary of accelgate: cells, metrics, samples,
// results, hosts and runs. It holds types and pure methods and does no I/O.
//
// A suite expands to [Cell] values; measuring a cell yields a [Result]; the
// results of one invocation on one host form a [Run]. A committed baseline
// loads as a Run as well, so comparing is always Run against Run.
package bench

import "time"

// RunSchema is the version of the Run document written by this build.
const RunSchema = 1

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
	// AAPartner is the id of another cell that was measured under the same
	// conditions: the difference between the two is noise.
	AAPartner string `json:"aa_partner,omitempty"`
	// Device is the accelerator that the cell was pinned to, as Device.String
	// writes it.
	Device string `json:"device,omitempty"`
	// Retries counts the measurements that failed for reasons of the machine
	// and were repeated.
	Retries int `json:"retries,omitempty"`
	// Conditions are facts under which numbers may be compared only if both sides have the same values,
	// see [SameConditions]: the rate of requests, the device that a cell shares.
	Conditions map[string]string `json:"conditions,omitempty"`
	// Context is what else a reader must know to repeat this cell, beside that
	// of the Run: the engine's version, the seed of its prompts.
	Context map[string]string `json:"context,omitempty"`
	// Caveat is the reason why the numbers are not fit to be judged, such as a client
	// that was slower than the server; empty if they are.
	Caveat string `json:"caveat,omitempty"`
	// Warnings are about the numbers of this cell and keep nothing from being
	// judged.
	Warnings []string `json:"warnings,omitempty"`
	// Counts has how many observations the samples rest on, such as requests by outcome.
	Counts map[string]int `json:"counts,omitempty"`
	// Health describes the host while the cell was measured; nil if no tool
	// watched it.
	Health *Health `json:"health,omitempty"`
	// Artifacts is the digest of the files that the suite declares to be what is
	// measured; "" if it declares no files. Where it is the reference's, nothing that
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
	// Checked is what correctness was judged on, if not on an answer: one of the
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
	// Earlier has, for a reference, time and commit of the entries of
	// Sample.History, in their order. It does not travel in a run.
	Earlier []Point `json:"-"`
}

// DefaultBranch is the condition of a run of the default branch's newest commit, with
// nothing changed: the runs of its history came before it on the same branch.
const DefaultBranch = "default_branch"

// Profile is the condition with the profile of the suites that the run measured.
const Profile = "profile"

// Unbuilt is the condition of a run of which nothing was measured, because the checkout
// could not be built.
const Unbuilt = "unbuilt"

// Unpaired is the condition that names what was to be measured in pairs and could
// not be, and why: a clause.
const Unpaired = "unpaired"

// SameAsBase is the condition of a run of code from which its base does not differ, so that
// it was not measured in pairs; its value is that base.
const SameAsBase = "same_as_base"

// NoEvidence is the condition of a run of which nothing is evidence; its value is the reason: a clause
// with a next step. Its base is not the code that it is to be, or was changed.
const NoEvidence = "no_evidence"

// BatchJob is the condition that names the job of a batch system that measured a run: "slurm:123".
const BatchJob = "job"

// PairSeed is the condition with the seed by which the order within pairs was drawn.
const PairSeed = "pair_seed"

// FirstPairs is the condition with the number of pairs in which every cell was
// measured at first, where that is more than the first stage takes.
const FirstPairs = "pairs"

// FromHead is the condition of a run that names the files which the base got from the code
// under test.
const FromHead = "base_files_from_head"

// ByID are the results by the ids of their cells; a nil run has none.
func (r *Run) ByID() map[string]*Result {
	if r == nil {
		return nil
	}
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
