// Package detect tells a slow-down from noise. It is pure arithmetic: the same
// numbers always give the same [Evidence], and nothing in it reads a file, a
// clock or a random number. It is independent of metrics.
//
// # Words
//
// A sample is one number from one fresh process; repetitions inside a process
// give one sample, their median after the warm-up (see [Warmup]). The base is
// what was measured of the old code, the head what was measured of the new. A
// cell is one metric of one benchmark on one host. Everything is computed on
// logarithms, turned so that larger is worse, which makes a rate and a time the
// same thing.
//
// # From samples to a verdict
//
// [Judge] judges one cell: from earlier runs ([History]) or from pairs that were
// measured alternately ([Interleaved]). [JudgeReport] judges the cells of one run
// together, which has more: how noisy this run is, what moved all of
// them, and how many chances there were for a false alarm. [JudgeStages] says
// how many pairs are worth measuring next. [ChangePoints], [Drift] and [Anchored] look at long
// histories.
//
// The score is a difference of trimmed means over a moderated standard error
// (Smyth 2004) with a t reference that was made heavier for real machines, and
// three locks: least effect, separation, and a calibrated p.
package detect

// Mode describes what a base is.
type Mode string

// The modes.
const (
	// History compares with earlier runs of the same cell on the same host. The
	// base is in their order, the newest last. Without at least [MinRuns] nothing
	// is worse than [Suspect] or better than [Inconclusive].
	History Mode = "history"
	// Interleaved compares two sides that were measured alternately on one host, in
	// a random order within each pair. It needs no history.
	Interleaved Mode = "interleaved"
	// Anchor compares with a level that was pinned long ago; see [Anchored].
	Anchor Mode = "anchor"
)

// Verdict is what the numbers say of one cell.
type Verdict string

// The verdicts.
const (
	Unchanged    Verdict = "unchanged"    // the whole interval is within the tolerance
	Improved     Verdict = "improved"     // faster by the rule that says Regressed, mirrored
	Suspect      Verdict = "suspect"      // worth measuring again, no more
	Regressed    Verdict = "regressed"    // slower, with few false alarms
	Inconclusive Verdict = "inconclusive" // a slow-down beyond the tolerance cannot be excluded
	Untested     Verdict = "untested"     // there is nothing to test; Reason says why
)

// Options say how one cell is judged. The zero value judges times against
// history with the defaults.
type Options struct {
	HigherIsBetter bool
	Mode           Mode // "" is History
	// MinEffect is the smallest relative slow-down that is worth an alarm; 0 is
	// [DefaultMinEffect], in Interleaved [defaultPairedEffect]. Negative values
	// mean that every one is.
	MinEffect float64
	// Tolerance is the relative slow-down that must be excluded before a cell is
	// called unchanged. 0 is MinEffect.
	Tolerance float64
	// Alpha is the p up to which a cell is Regressed. 0 is the calibrated one: a
	// third of the screen's in History, [DefaultAlpha] in Interleaved.
	Alpha float64
	// Own is the noise of one sample of this cell, as [Own] estimates it, in
	// units of the logarithm. 0 means that it is estimated from the base where
	// that is long enough. Cross is the noise of one sample over all cells of
	// the report, as [Cross] estimates it; 0 means that it is unknown.
	Own, Cross float64
	// Wide is the noise of one sample when runs of an unhealthy host count as well, as
	// [Wide] estimates it. It can only raise the expected noise; 0 where there are no
	// such runs.
	Wide float64
}

// Defaults of [Options], relative.
const (
	DefaultMinEffect    = 0.02
	defaultPairedEffect = 0.005 // pairs hardly drift apart
	DefaultAlpha        = 0.01
	// DefaultFalseAlarms is the chance that a report on unchanged code holds a
	// cell that is Regressed.
	DefaultFalseAlarms = 0.02
)

// Evidence is what a verdict rests on. Changes are relative and positive for
// the worse: 0.05 of a time is 5 % longer, and of a rate it is what takes 5 %
// longer for the same work. Where the verdict is Untested, only Mode, N, K,
// Unusable and Reason are set.
type Evidence struct {
	Estimate float64 `json:"estimate"` // the change
	Low      float64 `json:"low"`      // its interval of 95 %, two-sided
	High     float64 `json:"high"`
	P        float64 `json:"p"`           // one-sided: how often noise alone looks at least as slow
	Q        float64 `json:"q,omitempty"` // P corrected for all cells that are decided in the report; 0 outside of one
	N        int     `json:"n"`           // samples of the head
	K        int     `json:"k"`           // samples of the base that were used
	Mode     Mode    `json:"mode"`
	// NoiseFloor is the relative noise of one sample that the score uses.
	NoiseFloor float64 `json:"noise_floor"`
	// MDE is the smallest slow-down that as many samples with this noise would
	// have called Regressed in 4 of 5 cases.
	MDE     float64 `json:"mde"`
	A12     float64 `json:"a12"`          // share of pairs in which the head is the slower one
	Passes  bool    `json:"passes_locks"` // effect and separation would allow an alarm
	Verdict Verdict `json:"verdict"`
	Reason  string  `json:"reason,omitempty"` // for people
	// Unusable counts samples that are zero, negative, infinite or not a number.
	// One in the head forbids the test; those in a history are left out.
	Unusable int `json:"unusable,omitempty"`
	// What follows is set by [JudgeStages]. Used is how many pairs were used, those
	// of the looks included; Need is how many the cell is to have, 0 if nothing
	// more would be measured of it. Decided says that the fresh pairs decided: N is
	// their number and P that of the exact test.
	Used    int  `json:"used,omitempty"`
	Need    int  `json:"need,omitempty"`
	Decided bool `json:"decided,omitempty"`
}

// Judge judges one cell from its samples. base and head are not modified. In
// History, base may be as long as there is history: the score takes the last
// 10 for a single head sample and for at least 10, the last 5 otherwise.
func Judge(base, head []float64, o Options) Evidence {
	s := newSamples(base, head, o)
	e, _ := s.judge(o)
	return e
}
