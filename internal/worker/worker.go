// Package worker runs child processes: one request in, one response out. A
// worker bounds what a child may cost (time, memory of its output), keeps
// secrets from it, and leaves nothing of it behind. It is the only package
// that starts processes, and it never judges what a child printed.
//
// [Isolated] starts one process per request, [Persistent] keeps one that serves
// many, and a container may stand around either: a caller sees the same
// Request and Response.
//
// # What is left of a child
//
// On every system a child leads a process group of its own, which is killed
// when the child has ended or is stopped. On Linux the first start also makes
// this process the subreaper of its descendants (PR_SET_CHILD_SUBREAPER in
// prctl(2)): whatever loses its parent becomes a child of this process instead
// of process 1's, however it left the group, and is killed and reaped before a
// request counts as finished. Several requests may run at once; the orphans of
// each are distinguished by their process group and by a random value in the
// variable [Cell] of their environment. An orphan that shows neither is killed
// with the last of the requests that it can belong to, by the time it started.
//
// Out of reach are: what another service was asked to start (docker, systemd,
// cron, at); an orphan of another user whom this process may not signal, which
// makes Do return an error; one that hides its environment and also joins the
// group of this process; and, where /proc is not mounted or hides other users'
// processes, what it does not show. In its own group this process touches only
// orphans with the variable, because children of other code stand there too;
// such code must not move them to groups of their own.
//
// A visible effect is that getppid(2) of an orphan is this process and not 1.
//
// If this process is killed itself, the kernel kills its children on Linux,
// and their descendants are left to a surrounding service manager.
package worker

import (
	"context"
	"encoding/json"
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
	// Timeout bounds the wall time of the child, or of one request to a
	// persistent one; zero means no bound.
	Timeout time.Duration
	// Params is the JSON object that a persistent child is asked about; empty
	// means {}. A worker that starts a process per request refuses it.
	Params json.RawMessage
	// Transcript is how many bytes to keep in Response.Transcript; zero keeps none.
	// Only [Isolated] keeps one.
	Transcript int
	// NoOutput bounds the time in which the child prints nothing, from its start or, where it
	// is persistent, from the request on; zero means no bound.
	NoOutput time.Duration
	// Heard returns when the child last gave another sign of life than its output, in
	// nanoseconds since the epoch, which then counts as output. Nil means that there is none.
	// Only [Isolated] asks it; it may be called by any goroutine.
	Heard func() int64
	// Dump asks for the stacks of a child that is stopped at Timeout or NoOutput, in
	// Response.Log.
	Dump bool
}

// End describes how a child came to its end. Exactly one applies.
type End string

// The ends of a child.
const (
	Exited     End = "exited"      // of its own accord; see Response.ExitCode
	Signalled  End = "signalled"   // by a signal that the worker did not send; see Response.Signal
	TimedOut   End = "timed out"   // stopped by the worker at Request.Timeout
	Silent     End = "silent"      // stopped by the worker at Request.NoOutput
	Cancelled  End = "cancelled"   // stopped by the worker because ctx was done; Do returned an error as well
	NotStarted End = "not started" // or not ready for requests; see Response.StartErr
	Refused    End = "refused"     // a persistent child gave no result; see Response.Message
)

// Response is what became of one child. All of its output is untrusted.
type Response struct {
	End End
	// ExitCode is the child's own exit code, and -1 where it has none: it was
	// not started, or a signal ended it. A child that was stopped by the
	// worker may still have exited with a code.
	ExitCode int
	// Signal names the signal that ended the child ("killed", "segmentation
	// fault"), whoever sent it.
	Signal string
	// OutOfMemory means that the child was killed (or a shell says so of its
	// child, by code 137) while the kernel counted an out-of-memory kill: in
	// the control group of this process where it has one (memory.events), else
	// on the whole host (/proc/vmstat), where the victim may have been another
	// process. It is false where no counter exists, as elsewhere than on Linux.
	OutOfMemory bool
	// StartErr is why there was no child; it wraps [ErrNotFound] where the
	// program does not exist. It is set if and only if End is NotStarted.
	StartErr error
	// Crashed means that ExitCode is 128+n, and n a signal by which programs crash, where the
	// end of a program by a signal shows in no other way: of the first process of a container.
	Crashed bool
	// Unanswered means that a persistent child ended in the middle of a
	// request, which is a crash whatever its exit code.
	Unanswered bool
	// Message is why End is Refused: the child's own words or, where it
	// broke the protocol, ours. It is valid UTF-8 of bounded length and
	// untrusted.
	Message string
	// Contradicts means that End is Refused because a key of the answer occurs twice.
	Contradicts bool
	// Restarts counts how often a persistent child had to be started again for
	// this request because it had died, or did not respond, without a request
	// to blame. The log says why.
	Restarts int

	// Stdout is the beginning of the standard output, or the whole result of a
	// request to a persistent child.
	Stdout []byte
	// StdoutTruncated means that more was printed than Stdout holds.
	StdoutTruncated bool
	// Stderr is the end of the standard error. Of a persistent child it holds
	// what came since the previous request.
	Stderr []byte
	// Log is the last lines of both streams as valid UTF-8, mixed in the order
	// in which they were read. Long lines are cut.
	Log string
	// Usage is what the child used in its life.
	Usage Usage
	// Load is the time from the start of the persistent child that served the request
	// to the answer to its first ping; 0 without one.
	Load time.Duration
	// Transcript is the beginning and the end of both streams, mixed in the order in
	// which they were read, as valid UTF-8. A line between them names what is left out.
	Transcript string
	// Quiet is Request.NoOutput where End is Silent.
	Quiet time.Duration
	// Wall is the time from starting the child to its end, or from sending a
	// request to its answer. It does not count waiting for what the child left
	// behind, nor starting a persistent one.
	Wall time.Duration
}

// ErrNotFound means that a program to start does not exist.
var ErrNotFound = errors.New("executable file not found")

// OK reports whether the child exited of its own accord with code 0, or
// answered a request with a result.
func (r Response) OK() bool { return r.End == Exited && r.ExitCode == 0 && !r.Unanswered }

// Reason returns, as text, why the child did not succeed; it is empty if it
// did. It holds nothing that the child printed.
func (r Response) Reason() string {
	switch r.End {
	case NotStarted:
		return fmt.Sprintf("did not start: %v", r.StartErr)
	case TimedOut, Cancelled:
		return fmt.Sprintf("%s after %v", r.End, r.Wall.Round(time.Millisecond))
	case Silent:
		return fmt.Sprintf("printed nothing for %v and was stopped: look at its stacks, or raise no_output", r.Quiet)
	case Refused:
		return "gave no result: look at its message at the end of the log"
	}
	if r.OK() {
		return ""
	}
	return r.ending() + r.unanswered()
}

// ending describes an end that the worker did not bring about.
func (r Response) ending() string {
	if r.End == Signalled {
		return "ended by signal: " + r.Signal + r.outOfMemory(r.Signal)
	}
	name := signalName(r.ExitCode - 128) // the code by which a shell says that a signal ended its child
	if name == "" {
		return fmt.Sprintf("exit code %d", r.ExitCode)
	}
	return fmt.Sprintf("exit code %d (a shell's code for: ended by signal %s)", r.ExitCode, name) + r.outOfMemory(name)
}

func (r Response) outOfMemory(signal string) string {
	switch {
	case signal != killed:
		return ""
	case r.OutOfMemory:
		return " (by the kernel, because memory ran out: make the cell smaller, or raise the memory limit)"
	}
	return " (by the system, which may have run out of memory: look at dmesg)"
}

func (r Response) unanswered() string {
	if !r.Unanswered {
		return ""
	}
	return " in the middle of a request: look at the log; a persistent child must answer and wait for the next request"
}
