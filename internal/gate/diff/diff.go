// Package diff compares two documents of runs, metric by metric: by its own rules, or by InferenceBench's. It is pure; what a
// verdict of it means for the exit code is decided by package gate's levels.
package diff

import (
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/text"
)

// Document is one of the two documents that a diff compares: a run, a baseline or
// an envelope, of any kind of suite.
type Document struct {
	Name string // path
	// Context says under which conditions the numbers were measured, in the
	// order in which it is shown.
	Context []Fact
	Cells   []Cell
	// Impossible says which number cannot be; "" if none is known to be.
	Impossible string
}

// Fact is one condition of a measurement, such as the version of the engine.
// Unknown is a value that stands for nothing: absent, or a placeholder.
type Fact struct {
	Name, Value string
	Unknown     bool
	// Needed says that the numbers mean nothing without the fact: where it is
	// unknown, nothing matches it.
	Needed bool
}

// Cell is one cell of a Document. An envelope has one, with an empty id.
type Cell struct {
	ID      string
	Metrics []Metric
	// Context are conditions of this cell alone, such as the number of requests
	// at once.
	Context []Fact
}

// Metric is one number of a cell. Has is false for one that is there and
// has no number: a null, a text.
type Metric struct {
	bench.Metric
	Value float64 // may be infinite or NaN in an envelope
	Has   bool
	N     int // measurements that the value rests on; 0 if unknown
	// Spread is what several values show of the noise; nil where there are none.
	Spread *detect.Side
	// Caveat says why the number is not fit to be judged.
	Caveat string
}

// Verdict says what a diff found about one metric. The words are those of
// InferenceBench; New, Inconclusive and Implausible are ours.
type Verdict string

// The verdicts. InferenceBench calls unknown what only the candidate has.
const (
	Regression   Verdict = "regression"
	Improvement  Verdict = "improvement"
	NoChange     Verdict = "no_change"
	Missing      Verdict = "missing"      // the candidate does not have it
	New          Verdict = "new"          // the baseline does not have it
	Unknown      Verdict = "unknown"      // which direction is better is not known
	Inconclusive Verdict = "inconclusive" // could not be judged; Reason says why
	Implausible  Verdict = "implausible"  // a number that cannot be, or a change that code does not make
)

// Policy says what a diff takes for a change. The zero value compares
// exactly, by our own rules.
type Policy struct {
	Tolerance float64 // fraction; a change of exactly this is none
	// Strict fails on a regression, on a missing metric or cell, on a metric that
	// the sides describe differently, and where nothing could be judged.
	Strict bool
	// Compat is the tool whose rules compare in place of our own.
	Compat compat.Tool
	// AllowContext makes a warning of every mismatch that refuses the comparison,
	// unless Context says otherwise.
	AllowContext bool
	// Context gives the level of a mismatch by the name of a fact; absent is
	// that of DefaultContext, and Warn where that has none.
	Context map[string]gate.Level
}

// Difference is everything that a diff found.
type Difference struct {
	Baseline, Candidate string // names of the sides
	Context             []ContextMatch
	Rows                []Row       // sorted by cell, then metric
	Compat              compat.Tool // whose rules judged, as in the policy
	Failed              bool        // by the policy; never if it is not strict
	Refused             string      // why the two must not be compared; "" if they may
}

// ContextMatch compares one fact of both sides.
type ContextMatch struct {
	Name      string     `json:"name"`
	Baseline  string     `json:"baseline"`
	Candidate string     `json:"candidate"`
	Match     bool       `json:"match"`
	Level     gate.Level `json:"level"` // what a mismatch means
}

// Row compares one metric of one cell. A nil number is none.
type Row struct {
	Cell      string          `json:"cell,omitempty"`
	Metric    string          `json:"metric"`
	Unit      string          `json:"unit,omitempty"`
	Better    bench.Direction `json:"direction,omitempty"` // which is better; "" if not known
	Baseline  *float64        `json:"baseline"`
	Candidate *float64        `json:"candidate"`
	DeltaAbs  *float64        `json:"delta_abs"`
	DeltaRel  *float64        `json:"change"` // new/old - 1 in the metric's own sign, of the size of old
	Verdict   Verdict         `json:"verdict"`
	Reason    string          `json:"reason,omitempty"`
}

// Compare compares every metric of every cell of two documents, and the conditions
// under which they were measured. Cell ids are unique within a side, and so are
// the names of metrics within a cell; of several, the first counts.
//
// By our own rules, a relative change of at most the tolerance is none, told
// apart down to 0.001 percentage points as in the gate, so that 100 -> 102 and
// 1.0 -> 1.02 agree. A tolerance of 0 compares exactly. From 0, growth of a
// lower-is-better metric is a regression and every other change inconclusive.
// Where both sides hold several values of a number, a difference counts only if it is
// beyond what two sessions of unchanged code may differ by. NaN and infinities are no numbers. A metric that is informational on the
// baseline's side, or of a direction that neither side states, is shown and never
// a regression. A vanished metric fails if strict,
// and so does one that is not informational and whose unit or direction the sides
// disagree about: it is not the metric that it was. A number that cannot be, on
// either side, refuses the comparison.
//
// Strict never passes without evidence: Refused says so where no metric was
// judged and none vanished. Where not even one could be compared, it is set in
// any case.
func Compare(baseline, candidate Document, p Policy) Difference {
	d := Difference{Baseline: baseline.Name, Candidate: candidate.Name, Compat: p.Compat}
	pairs := pairMetrics(baseline, candidate)
	if tool := p.Compat.Rules(); tool.Change != nil {
		d.byTool(baseline, candidate, pairs, p, tool)
		return d
	}
	d.Context = p.compareContext(baseline, candidate)
	compared, judged, fails := 0, 0, 0
	chance := noisePairs(pairs)
	for i, m := range pairs {
		f := p.find(m)
		q, known := chance[i]
		f.byChance(q, known)
		d.Rows = append(d.Rows, f.row)
		compared, judged, fails = compared+f.compared, judged+f.judged, fails+f.fails
	}
	d.Refused = refusal(d.Context, p.Strict, compared, judged, fails)
	if why := impossibleSides(baseline, candidate); why != "" {
		d.Refused = strings.TrimSuffix(text.Reasons(why, d.Refused), "; ")
	}
	d.Failed = p.Strict && (fails > 0 || d.Refused != "")
	return d
}
