// Package worker runs child processes: one request in, one response out. A
// worker bounds what a child may cost (time, memory of its output), keeps
// secrets from it, and leaves nothing of it behind. It is the only package
// that starts processes, and it never judges what a child printed.
//
// [Isolated] starts one process per request. Workers that keep a process, or
// that run it in a container, are further implementations of [Worker]: a
// caller sees the same Request and Response.
package worker

import (
	"context"
	"errors"
	"fmt"
	"time"
)

// A Worker runs requests. Implementations are safe for concurrent use.
type Worker interface {
	// Do runs one request and blocks until nothing of it is left. Whatever
	// happens to the child is in the Response; an error means that ctx was
	// done or that no further request can be served. The Response is filled
	// as far as it is known then, too.
	Do(ctx context.Context, req Request) (Response, error)
	// Close releases what the worker holds. No Do may follow or run.
	Close() error
}

// Request describes one child.
type Request struct {
	// Args is the argument vector; no shell sees it. A name without a path
	// separator is looked up in the absolute folders of the child's own PATH;
	// a relative path starts at Dir.
	Args []string
	// Dir is the working directory; empty means that of this process.
	Dir string
	// Env holds NAME=VALUE entries set on top of the worker's environment.
	// Names that [Withheld] reports are dropped here as well.
	Env []string
	// Unset names variables that the child does not inherit. Env may set them
	// all the same.
	Unset []string
	// Timeout bounds the wall time of the child; zero means no bound.
	Timeout time.Duration
}

// End says how a child came to its end. Exactly one applies.
type End string

// The ends of a child.
const (
	Exited     End = "exited"      // of its own accord; see Response.ExitCode
	Signalled  End = "signalled"   // by a signal that the worker did not send; see Response.Signal
	TimedOut   End = "timed out"   // stopped by the worker at Request.Timeout
	Cancelled  End = "cancelled"   // stopped by the worker because ctx was done; Do returned an error as well
	NotStarted End = "not started" // see Response.StartErr
)

// Response is what became of one child. All of its output is untrusted.
type Response struct {
	End End
	// ExitCode is the child's own exit code, and -1 where it has none: it was
	// not started, or a signal ended it. A child that was stopped by the
	// worker may still have exited with a code.
	ExitCode int
	// Signal names the signal that ended the child ("killed", "segmentation
	// fault"), whoever sent it. With End == Signalled, "killed" is what an
	// out-of-memory kill looks like.
	Signal string
	// StartErr says why there was no child; it wraps [ErrNotFound] where the
	// program does not exist. It is set if and only if End is NotStarted.
	StartErr error

	// Stdout is the beginning of the standard output.
	Stdout []byte
	// StdoutTruncated says that more was printed than Stdout holds.
	StdoutTruncated bool
	// Stderr is the end of the standard error.
	Stderr []byte
	// Log is the last lines of both streams as valid UTF-8, mixed in the order
	// in which they were read. Long lines are cut.
	Log string
	// Wall is the time from starting the child to its end. It does not count
	// waiting for what the child left behind.
	Wall time.Duration
}

// ErrNotFound says that a program to start does not exist.
var ErrNotFound = errors.New("executable file not found")

// OK reports whether the child exited of its own accord with code 0.
func (r Response) OK() bool { return r.End == Exited && r.ExitCode == 0 }

// Reason says for people why the child did not succeed; it is empty if it
// did. It holds nothing that the child printed.
func (r Response) Reason() string {
	switch r.End {
	case NotStarted:
		return fmt.Sprintf("did not start: %v", r.StartErr)
	case TimedOut, Cancelled:
		return fmt.Sprintf("%s after %v", r.End, r.Wall.Round(time.Millisecond))
	case Signalled:
		return "ended by signal: " + r.Signal + outOfMemory(r.Signal)
	}
	if r.ExitCode == 0 {
		return ""
	}
	return fmt.Sprintf("exit code %d", r.ExitCode) + shellSignal(r.ExitCode)
}

func outOfMemory(signal string) string {
	if signal != killed {
		return ""
	}
	return " (by the system, which may have run out of memory: look at dmesg)"
}

// shellSignal explains the codes by which a shell says that a signal ended
// its child.
func shellSignal(code int) string {
	name := signalName(code - 128)
	if name == "" {
		return ""
	}
	return fmt.Sprintf(" (a shell's way to say: ended by signal %s)", name) + outOfMemory(name)
}
