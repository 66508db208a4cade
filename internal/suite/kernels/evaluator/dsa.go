package evaluator

import "errors"

// SparseAttention is [Elementwise] for the sparse attention of DSA, whose second
// output, lse, a candidate may leave out. The reference must have both.
func SparseAttention(reference, candidate []Output, p Params) (Result, error) {
	if len(reference) != 2 {
		return Result{}, errors.New("the reference of sparse attention has two outputs, output and lse: correct the definition")
	}
	if n := len(candidate); p.Mode == Fib && n != 1 && n != 2 {
		return Result{Status: IncorrectShape, Outputs: []OutputResult{}, Log: countMessage(reference, candidate)}, nil
	}
	return elementwise(reference, candidate, p, 1, reference[1].Name)
}
