package evaluator

import (
	"errors"
	"fmt"
	"slices"

	"github.com/accelgate/accelgate/internal/tensor"
)

// Elementwise holds each output of candidate against the one of reference that
// has its name, element by element. The outputs of reference are in the order
// of the definition; those of candidate may be in any.
//
// In Strict mode
//   - a missing or additional output, or another shape, is IncorrectShape,
//     another format IncorrectDType; all outputs are looked at, and the gravest
//     finding is the status.
//   - an element passes if it passes upstream's rule, and if
//     |x-y| <= atol + rtol |y| in float64. The defaults
//     follow from the format, the mean magnitude m of the reference output and
//     [Params].Reduction: |x-y| <= r |y| + (s + 4 sqrt(reduction) u) m, where r
//     and s are both 2^-6 for bfloat16, 2^-9 for float16, 2^-19 for
//     float32, 2^-40 for float64, 2^-3 and 2^-4 for float8_e4m3fn, 2^-2 and 2^-3
//     for float8_e5m2, 2^-1 and 2^-2 for float4_e2m1, and u is 2^-24, or 2^-53 for
//     float64, because a float32 sum rounds so many times by 2^-24, at random. Zeros never pass for a reference that is not zero, however
//     small it is. Parts of an output that are much smaller than its mean are
//     looked at less closely: give an atol where that matters.
//   - the errors of a bfloat16 or float16 output as a whole may be no larger than
//     roundings explain, if no tolerance was set: the root of the mean squared
//     error is at most about sqrt(2) u of that of the reference, u being 2^-8 or
//     2^-11. An approximation is off by less than the tolerance of an element,
//     but not at random.
//   - integers and truth values must be equal, unless [Params].Outputs has a
//     tolerance for them.
//   - NaN stands for NaN alone, and only where the reference has one, an
//     infinity for itself. A mismatch of either is an infinite error.
//   - all elements must pass, unless RequiredMatchedRatio says otherwise.
//
// In Fib mode everything is as upstream does it: float32 throughout, an element
// fails if |x-y| > atol and |x-y| / (|y| + 1e-8) > rtol, both 1e-2 by default,
// the first other shape or format ends it, as does the first NaN or infinity of
// the candidate; comparisons with those of the reference come out false, so
// that such elements pass. A wrong number of outputs is RuntimeError, and the
// total errors ignore NaN.
//
// An error says that the reference or p are unusable. Outputs of any content
// are safe to judge. The result does not depend on the number of cores.
func Elementwise(reference, candidate []Output, p Params) (Result, error) {
	return elementwise(reference, candidate, p, 1, "")
}

// lowBitRatio is the RequiredMatchedRatio of [LowBit] if none is set.
const lowBitRatio = 0.95

// LowBit is [Elementwise] for kernels that compute in few bits: 95 % of the
// elements have to match by default. Extra has the lowest matched ratio.
func LowBit(reference, candidate []Output, p Params) (Result, error) {
	r, err := elementwise(reference, candidate, p, lowBitRatio, "")
	if err != nil || rank(r.Status) > rank(IncorrectNumerical) || p.Mode == Fib && r.stops() {
		return r, err
	}
	lowest := 1.0
	for _, o := range r.Outputs {
		lowest = min(lowest, o.MatchedRatio)
	}
	r.Extra = &Extra{MatchedRatio: &lowest}
	return r, nil
}

// elementwise judges with a default ratio; the output called optional may be
// missing.
func elementwise(reference, candidate []Output, p Params, ratio float64, optional string) (Result, error) {
	p, err := p.valid()
	if err != nil {
		return Result{}, err
	}
	if err := usable(reference, p); err != nil {
		return Result{}, err
	}
	r := Result{Outputs: make([]OutputResult, 0, len(reference))}
	if p.Mode == Fib && len(candidate) != len(reference) && (optional == "" || len(candidate) != len(reference)-1) {
		r.Status, r.Log = RuntimeError, countMessage(reference, candidate)
		return r, nil
	}
	for _, want := range reference {
		at := slices.IndexFunc(candidate, func(o Output) bool { return o.Name == want.Name })
		if at < 0 && want.Name == optional {
			continue
		}
		o := OutputResult{Name: want.Name, WorstFlat: -1}
		if at < 0 {
			o.Status, o.Message = IncorrectShape, "it is missing: return "+describe(want.Tensor)
		} else {
			o.judge(want.Tensor, candidate[at].Tensor, p, ratio)
		}
		r.Outputs = append(r.Outputs, o)
		if p.Mode == Fib && (Result{Status: o.Status, Outputs: []OutputResult{o}}).stops() {
			return r.stopped(o), nil
		}
	}
	if p.Mode == Strict {
		r.additional(reference, candidate)
	}
	r.finish()
	return r, nil
}

// stopped ends r as upstream does at output o, whose errors are reported alone.
func (r Result) stopped(o OutputResult) Result {
	r.Status = o.Status
	r.Log = fmt.Sprintf("output %q: %s", o.Name, o.Message)
	if o.Status == IncorrectNumerical {
		r.MaxAbsoluteError, r.MaxRelativeError = infinite, infinite
		if o.NonFinite.CandidateInf == 0 {
			r.MaxAbsoluteError, r.MaxRelativeError = notANumber, notANumber
		}
	}
	return r
}

// additional adds a finding if candidate has outputs that reference has not, or
// one of them twice.
func (r *Result) additional(reference, candidate []Output) {
	seen := map[string]bool{}
	for _, o := range reference {
		seen[o.Name] = true
	}
	for _, o := range candidate {
		if !seen[o.Name] {
			r.Status, r.Log = IncorrectShape, countMessage(reference, candidate)
			return
		}
		seen[o.Name] = false
	}
}

const listed = 32 // names in a message

func countMessage(reference, candidate []Output) string {
	names := func(outputs []Output) []string {
		var all []string
		for _, o := range outputs[:min(len(outputs), listed)] {
			all = append(all, o.Name)
		}
		return all
	}
	return fmt.Sprintf("%d outputs %.1000q, want %d %.1000q: return exactly those of the definition",
		len(candidate), names(candidate), len(reference), names(reference))
}

// usable returns why nothing can be judged by reference.
func usable(reference []Output, p Params) error {
	if len(reference) == 0 {
		return errors.New("the reference has no outputs: run it again")
	}
	known := map[string]bool{}
	for _, o := range reference {
		if err := o.Tensor.Validate(); err != nil {
			return fmt.Errorf("reference output %q: %w: run the reference again", o.Name, err)
		}
		if known[o.Name] {
			return fmt.Errorf("reference output %q occurs twice: rename one", o.Name)
		}
		known[o.Name] = true
	}
	for _, name := range sortedKeys(p.Outputs) {
		if !known[name] {
			return fmt.Errorf("a tolerance is set for output %q, which does not exist: correct its name", name)
		}
	}
	return nil
}

func describe(t tensor.Tensor) string { return fmt.Sprintf("%s %v", t.DType, t.Shape) }

// judge compares x with the reference y and fills in the rest of o.
func (o *OutputResult) judge(y, x tensor.Tensor, p Params, ratio float64) {
	switch err := x.Validate(); {
	case !slices.Equal(x.Shape, y.Shape):
		o.Status, o.Message = IncorrectShape, fmt.Sprintf("shape is %v, want %v: return that", brief(x.Shape), y.Shape)
	case x.DType != y.DType:
		o.Status, o.Message = IncorrectDType, fmt.Sprintf("format is %.40q, want %s: convert before returning", x.DType, y.DType)
	case err != nil:
		o.Status, o.Message = IncorrectShape, err.Error()+": save the whole output"
	default:
		o.compare(y, x, p, ratio)
	}
}

func brief(shape []int) []int { return shape[:min(len(shape), listed)] }
