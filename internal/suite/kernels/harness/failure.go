package harness

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/suite/kernels/evaluator"
)

// Kind describes what kind of failure ended a request.
type Kind string

// The kinds. A worker reports the first six; the others are what its caller saw.
const (
	Compile     Kind = "compile"     // the function could not be built
	Runtime     Kind = "runtime"     // it failed, or a request was wrong
	OutOfMemory Kind = "oom"         // of the device or the host
	WrongShape  Kind = "shape"       // outputs of another number or shape
	WrongDType  Kind = "dtype"       // outputs of another dtype
	Unsupported Kind = "unsupported" // this worker cannot do that at all: a language, a dtype

	TimedOut  Kind = "timeout"   // no reply in time
	Silent    Kind = "silent"    // no reply and no sign of life
	Died      Kind = "died"      // the process ended
	Broke     Kind = "protocol"  // what it wrote is not of the protocol
	Unwritten Kind = "unwritten" // an output was left as it was poisoned
	Corrupted Kind = "corrupted" // the device no longer computes
	Tampered  Kind = "tampered"  // saved outputs were changed
)

// Reported reports whether a worker may name this kind itself.
func (k Kind) Reported() bool {
	switch k {
	case Compile, Runtime, OutOfMemory, WrongShape, WrongDType, Unsupported:
		return true
	}
	return false
}

// Status returns the status of a case that failed in this way.
func (k Kind) Status() evaluator.Status {
	switch k {
	case Compile:
		return evaluator.CompileError
	case WrongShape:
		return evaluator.IncorrectShape
	case WrongDType:
		return evaluator.IncorrectDType
	case Unsupported:
		return evaluator.Skipped
	case TimedOut, Silent:
		return evaluator.Timeout
	case Unwritten:
		return evaluator.IncorrectNumerical
	case Tampered:
		return evaluator.Suspect
	}
	return evaluator.RuntimeError
}

// Failure is what a worker did wrong. It is an outcome of the case: the next
// one can be measured, with a new worker if Dead is set.
type Failure struct {
	Op      string // of the protocol
	Kind    Kind
	Message string // may quote the worker: untrusted, valid UTF-8 of bounded length
	Trace   string // the worker's own, as untrusted
	Log     string // the end of the worker's log
	Dead    bool   // the process was ended, or had ended
	// Signalled means that a signal ended the process, of the kind Died.
	Signalled bool
}

// Words are the log, and the trace where the log does not end like it: a compiler's
// words may be in either.
func (f *Failure) Words() string {
	trace := strings.TrimSpace(f.Trace)
	if last := trace[strings.LastIndexByte(trace, '\n')+1:]; !strings.Contains(f.Log, last) {
		return f.Log + "\n" + trace
	}
	return f.Log
}

func (f *Failure) Error() string {
	return fmt.Sprintf("%s: %s: %s", f.Op, f.Kind, f.Message)
}

// Cancelled means that a request was ended with its worker because ctx was done.
type Cancelled struct {
	Op    string // of the protocol
	Cause error  // of ctx
	Log   string // the end of the worker's log
}

func (c *Cancelled) Error() string { return fmt.Sprintf("request %s: %v", c.Op, c.Cause) }

func (c *Cancelled) Unwrap() error { return c.Cause }

const (
	maxMessage = 4 << 10
	maxTrace   = 64 << 10
)
