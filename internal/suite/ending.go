package suite

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/worker"
)

// Conclude fills in how a measurement ended by how its child did. Passed means
// only that what the child printed may be read.
func Conclude(result *bench.Result, response worker.Response) {
	result.WallMS = float64(response.Wall.Microseconds()) / 1000
	result.Retries = response.Restarts // a process had died before it read the request
	used(result, response)
	result.Outcome, result.Reason = bench.Passed, ""
	switch {
	case response.End == worker.TimedOut:
		result.Outcome, result.Cause, result.Reason = bench.Timeout, bench.CauseTimeout, response.Reason()
	case response.End == worker.Silent:
		result.Outcome, result.Cause, result.Reason = bench.Timeout, bench.CauseSilent, response.Reason()
	case response.End == worker.Refused:
		Fail(result, cause(response), response.Reason()+": "+response.Message)
		if response.Contradicts {
			result.Outcome, result.Cause = bench.Incorrect, bench.CauseOutput
		}
	case !response.OK():
		Fail(result, cause(response), response.Reason())
	}
}

const (
	mib = 1 << 20
	// hidden is the caveat of a peak that is an upper bound.
	hidden = "it is at most this: the program was smaller than accelgate itself, whose memory the kernel counts for it"
)

// used notes the resources that the worker reports.
func used(result *bench.Result, response worker.Response) {
	u := response.Usage
	if u.CPU > 0 {
		result.Use(bench.CPUTime, u.CPU.Seconds(), "")
	}
	if u.Instructions > 0 {
		result.Use(bench.Instructions, float64(u.Instructions), "")
	}
	if u.PeakRSS > 0 {
		caveat := ""
		if u.Hidden {
			caveat = hidden
		}
		result.Use(bench.PeakRSS, float64(u.PeakRSS)/mib, caveat)
	}
	if u.Looked {
		result.Use(bench.CPUWait, u.Waited.Seconds(), "")
		result.Use(bench.OffCPU, u.Off.Seconds(), "")
		result.Use(bench.CPUThreads, u.Threads, "")
	}
	if response.Load > 0 {
		result.Use(bench.LoadTime, response.Load.Seconds(), "")
	}
}

// Fail makes the result that of a measurement without usable numbers.
func Fail(result *bench.Result, cause bench.Cause, reason string) {
	result.Outcome, result.Cause, result.Reason = bench.Failed, cause, reason
}

// Unusable makes the result that of a measurement whose output a reader refused:
// incorrect if err wraps [bench.ErrContradiction], else failed.
func Unusable(result *bench.Result, err error) {
	Fail(result, bench.CauseOutput, err.Error())
	if errors.Is(err, bench.ErrContradiction) {
		result.Outcome = bench.Incorrect
	}
}

// cause distinguishes the ends of a child that did not succeed apart.
func cause(response worker.Response) bench.Cause {
	switch {
	case response.OutOfMemory:
		return bench.CauseOOM
	case response.End == worker.NotStarted && errors.Is(response.StartErr, worker.ErrNotFound):
		return bench.CauseInput
	case response.End == worker.NotStarted:
		return bench.CauseStart
	case response.End == worker.Signalled, response.Crashed, response.Unanswered:
		return bench.CauseCrash
	}
	return bench.CauseExit
}

// NoProgram is the error of a suite all of whose cells start a program that
// does not exist; nil if the program was found.
func NoProgram(response worker.Response) error {
	if !errors.Is(response.StartErr, worker.ErrNotFound) {
		return nil
	}
	return fmt.Errorf(
		"%w: correct the first argument of command, or install it (the container action holds nothing but accelgate: use accelgate/native on a host that has it)",
		response.StartErr)
}

// Truncated is the reason of a measurement whose child printed more than its
// worker keeps.
var Truncated = fmt.Sprintf("printed more than the %d MiB that accelgate keeps, so numbers may be missing: let the program print less",
	worker.DefaultMaxStdout/mib)

// ReadResult reads a file of at most limit bytes that a program was asked to
// write. The name is what a user calls it, such as {output}. Where there is no
// file, the error is an [io/fs.ErrNotExist] and says nothing to users.
func ReadResult(path, name string, limit int64) ([]byte, error) {
	info, err := os.Lstat(path)
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() { // opening a pipe would block, a link lead elsewhere
		return nil, fmt.Errorf("the result at %s is not a regular file", name)
	}
	if info.Size() > limit {
		return nil, tooLarge(name, limit)
	}
	f, err := os.Open(path)
	if err != nil {
		return nil, fmt.Errorf("read the result at %s: %w", name, err)
	}
	defer f.Close()
	buffer := bytes.NewBuffer(make([]byte, 0, info.Size()+bytes.MinRead))
	_, err = buffer.ReadFrom(io.LimitReader(f, limit+1))
	data := buffer.Bytes()
	if err != nil {
		return nil, fmt.Errorf("read the result at %s: %w", name, err)
	}
	if int64(len(data)) > limit {
		return nil, tooLarge(name, limit)
	}
	return data, nil
}

func tooLarge(name string, limit int64) error {
	return fmt.Errorf("the result at %s is larger than %d bytes (%d MiB): let the program write less", name, limit, limit>>20)
}
