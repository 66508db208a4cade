package evaluator

import "github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"

// Status is what became of a solution on a workload. Evaluators themselves give
// the first four, and RuntimeError in mode Fib; the others are for those who
// build and run. How all of them are written for upstream's tools is
// [flashinfer.EncodeTrace]'s business.
type Status = flashinfer.Status

// The statuses.
const (
	Passed             = flashinfer.Passed
	IncorrectShape     = flashinfer.IncorrectShape
	IncorrectNumerical = flashinfer.IncorrectNumerical
	IncorrectDType     = flashinfer.IncorrectDType
	RuntimeError       = flashinfer.RuntimeError
	CompileError       = flashinfer.CompileError
	Timeout            = flashinfer.TimedOut
	Suspect            = flashinfer.Suspect
	Inconclusive       = flashinfer.Inconclusive
	Skipped            = flashinfer.Skipped
)

// rank orders what evaluators find, the gravest last.
func rank(s Status) int {
	switch s {
	case Passed:
		return 0
	case IncorrectNumerical:
		return 1
	case IncorrectDType:
		return 2
	case IncorrectShape:
		return 3
	}
	return 4
}
