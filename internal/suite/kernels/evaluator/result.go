package evaluator

import (
	"cmp"
	"encoding/json"
	"fmt"
	"math"
	"slices"
	"strings"
)

// Number is a float64 whose JSON may also be "NaN", "Infinity" or "-Infinity",
// as in upstream's traces.
type Number float64

// MarshalJSON writes finite numbers as numbers and others as text.
func (n Number) MarshalJSON() ([]byte, error) {
	switch f := float64(n); {
	case math.IsNaN(f):
		return []byte(`"NaN"`), nil
	case math.IsInf(f, 1):
		return []byte(`"Infinity"`), nil
	case math.IsInf(f, -1):
		return []byte(`"-Infinity"`), nil
	default:
		return json.Marshal(f)
	}
}

// UnmarshalJSON reads what MarshalJSON writes.
func (n *Number) UnmarshalJSON(text []byte) error {
	switch string(text) {
	case `"NaN"`:
		*n = Number(math.NaN())
	case `"Infinity"`:
		*n = Number(math.Inf(1))
	case `"-Infinity"`:
		*n = Number(math.Inf(-1))
	default:
		return json.Unmarshal(text, (*float64)(n))
	}
	return nil
}

// Result is the verdict of an evaluator.
type Result struct {
	Status           Status         `json:"status"`
	MaxAbsoluteError Number         `json:"max_absolute_error"`
	MaxRelativeError Number         `json:"max_relative_error"`
	Outputs          []OutputResult `json:"outputs"`
	Extra            *Extra         `json:"extra,omitempty"`
	Log              string         `json:"log,omitempty"`
}

// OutputResult describes how far an output is off.
type OutputResult struct {
	Name    string `json:"name"`
	Status  Status `json:"status"`
	Message string `json:"message,omitempty"` // why not Passed

	Elements         int     `json:"elements"`
	MaxAbsoluteError Number  `json:"max_absolute_error"` // max |x-y|
	MaxRelativeError Number  `json:"max_relative_error"` // max |x-y| / (|y| + 1e-8), y being the reference
	MatchedRatio     float64 `json:"matched_ratio"`      // share of elements that are accepted

	// WorstIndex is where the error is largest relative to the error allowed
	// there, the first such place; WorstFlat is the same in the flattened
	// output, -1 if the outputs are equal or were not compared.
	WorstIndex []int `json:"worst_index"`
	WorstFlat  int   `json:"worst_flat_index"`

	NonFinite NonFinite `json:"nonfinite"`

	// Histogram counts elements by |x-y| in units in the last place of y, in
	// the output's format: [0] equal, [1] below 2, [2] below 4, [3] below 8, ...;
	// the last one holds all beyond. Whole numbers count in ones. Elements
	// that are not finite on both sides are not in it.
	Histogram Histogram `json:"histogram"`

	Tolerance Tolerance `json:"tolerance"` // the one that was applied, defaults filled in

	// RMSError is the root of the mean squared error by that of the reference's
	// mean square, and RMSLimit what roundings explain of it, where that was judged.
	RMSError float64 `json:"rms_error,omitempty"`
	RMSLimit float64 `json:"rms_limit,omitempty"`
}

// Histogram counts elements by powers of two of their error.
type Histogram [17]int64

// NonFinite counts elements that are NaN or infinite.
type NonFinite struct {
	ReferenceNaN int `json:"reference_nan"`
	ReferenceInf int `json:"reference_inf"`
	CandidateNaN int `json:"candidate_nan"`
	CandidateInf int `json:"candidate_inf"`
	Mismatched   int `json:"mismatched"` // elements where the two differ in kind or sign
}

// Extra is what single evaluators report in addition. Its first three members
// are upstream's.
type Extra struct {
	MatchedRatio *float64  `json:"matched_ratio,omitempty"`   // LowBit: lowest of all outputs
	TVD          *float64  `json:"tvd,omitempty"`             // Sampling: largest of all rows
	TVDs         []float64 `json:"tvds_per_batch,omitempty"`  // Sampling: by row
	TVDFloor     *float64  `json:"tvd_noise_floor,omitempty"` // Sampling: what a right sampler is expected to have, largest of all rows
	PValue       *float64  `json:"p_value,omitempty"`         // Sampling: lowest of all rows, not corrected for their number
}

// pythonMax is Python's max(a, b), which keeps a where b is NaN.
func pythonMax(a, b Number) Number {
	if b > a {
		return b
	}
	return a
}

// Combine joins the results of several trials on one workload, in their order.
// There must be at least one. In mode Fib the first result that upstream would
// have stopped at is returned; otherwise the errors are the largest, the ratios
// the lowest, and each output is that of its worst trial.
func Combine(mode Mode, trials ...Result) Result {
	total := trials[0]
	for _, r := range trials[1:] {
		if mode == Fib && total.stops() {
			return total
		}
		if mode == Fib && r.stops() {
			return r
		}
		total = combine(total, r)
	}
	return total
}

// stops reports whether upstream would not have looked at further trials.
func (r Result) stops() bool {
	return rank(r.Status) > rank(IncorrectNumerical) || slices.ContainsFunc(r.Outputs, func(o OutputResult) bool {
		return o.NonFinite.CandidateNaN+o.NonFinite.CandidateInf > 0
	})
}

func combine(a, b Result) Result {
	worse := a
	if rank(b.Status) > rank(a.Status) {
		worse = b
	}
	worse.MaxAbsoluteError = pythonMax(a.MaxAbsoluteError, b.MaxAbsoluteError)
	worse.MaxRelativeError = pythonMax(a.MaxRelativeError, b.MaxRelativeError)
	worse.Outputs = make([]OutputResult, len(a.Outputs))
	for i, o := range a.Outputs {
		worse.Outputs[i] = o
		if i < len(b.Outputs) && b.Outputs[i].worseThan(o) {
			worse.Outputs[i] = b.Outputs[i]
		}
	}
	if a.Extra != nil && b.Extra != nil && a.Extra.MatchedRatio != nil && b.Extra.MatchedRatio != nil {
		worse.Extra = &Extra{MatchedRatio: new(min(*a.Extra.MatchedRatio, *b.Extra.MatchedRatio))}
	}
	return worse
}

func (o OutputResult) worseThan(p OutputResult) bool {
	if a, b := rank(o.Status), rank(p.Status); a != b {
		return a > b
	}
	if o.MatchedRatio != p.MatchedRatio {
		return o.MatchedRatio < p.MatchedRatio
	}
	return o.MaxAbsoluteError > p.MaxAbsoluteError
}

// finish sums up the outputs and writes the log, unless an earlier finding has
// decided.
func (r *Result) finish() {
	var log []string
	if r.Log != "" {
		log = append(log, r.Log)
	}
	for _, o := range r.Outputs {
		if rank(o.Status) > rank(r.Status) || r.Status == "" {
			r.Status = o.Status
		}
		r.MaxAbsoluteError = pythonMax(r.MaxAbsoluteError, o.MaxAbsoluteError)
		r.MaxRelativeError = pythonMax(r.MaxRelativeError, o.MaxRelativeError)
		if o.Message != "" {
			log = append(log, fmt.Sprintf("output %q: %s", o.Name, o.Message))
		}
	}
	r.Status = cmp.Or(r.Status, Passed)
	r.Log = strings.Join(log, "\n")
}
