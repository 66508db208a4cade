package mock

import (
	"cmp"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Kind is one way in which a server, or the network before it, misbehaves, or
// merely differs from the others.
type Kind string

// The kinds. What After, N and For mean to each stands beside it; where they
// are not named they mean nothing.
const (
	// The connection.
	Split           Kind = "split"             // a line in N writes (default 2): all but the last go out early, the last when the token is due
	Coalesce        Kind = "coalesce"          // N lines (default 2) in one write, when the last of them is due
	SlowHeaders     Kind = "slow-headers"      // the status line comes after For (default 1s)
	Stall           Kind = "stall"             // nothing for For after After tokens; For 0 is until the client leaves
	ResetMidstream  Kind = "reset-midstream"   // the connection is reset after After tokens
	CloseAfterReply Kind = "close-after-reply" // closed after the answer, though keep-alive was promised: llama-server's habit
	CloseOnReuse    Kind = "close-on-reuse"    // closed without a byte when the connection's next request comes
	Die             Kind = "die"               // after After tokens the server listens no more and resets every connection

	// The status.
	RateLimit   Kind = "rate-limit"  // 429 with Retry-After: For, in whole seconds (default 1s)
	ServerError Kind = "http-500"    // 500 with an error object
	BadRequest  Kind = "http-400"    // 400 with an error object
	ErrorBody   Kind = "error-body"  // 200 and a JSON error object in place of a stream
	ErrorLine   Kind = "error-line"  // an error object as a data line after After tokens, then [DONE]
	BadJSON     Kind = "bad-json"    // a data line that is cut short after After tokens
	Empty       Kind = "empty"       // 200 and no line at all
	NoDone      Kind = "no-done"     // no [DONE]
	NoFinish    Kind = "no-finish"   // no finish_reason
	Short       Kind = "short"       // After tokens (default half of them), finish_reason "stop"
	PromptCut   Kind = "prompt-cut"  // usage.prompt_tokens is half of the true number
	PromptZero  Kind = "prompt-zero" // usage.prompt_tokens is 0
	NoSpace     Kind = "no-space"    // "data:{" without a space
	CRLF        Kind = "crlf"        // lines end in \r\n
	Pings       Kind = "pings"       // a ": keepalive" line before each token, as soon as the one before it is out
	MultiToken  Kind = "multi-token" // N tokens (default 2) in a chunk, when the last of them is due

	// Usage and deltas.
	NoUsage       Kind = "no-usage"        // none, though asked for
	UsageOnFinish Kind = "usage-on-finish" // on the chunk with the finish reason, asked for or not
	UsageOnEvery  Kind = "usage-on-every"  // the count so far on every chunk
	NoRole        Kind = "no-role"         // no first chunk with the role
	Reasoning     Kind = "reasoning"       // the first After tokens (default half of them) are reasoning
	ToolCalls     Kind = "tool-calls"      // all tokens are arguments of a tool call
	Hidden        Kind = "hidden"          // the first After tokens of a chat's stream (default half of them) are reasoning that is counted and not sent
)

// kinds lists every kind.
func kinds() []Kind {
	return []Kind{
		Split, Coalesce, SlowHeaders, Stall, ResetMidstream, CloseAfterReply, CloseOnReuse, Die,
		RateLimit, ServerError, BadRequest, ErrorBody, ErrorLine, BadJSON, Empty, NoDone, NoFinish, Short, PromptCut, PromptZero,
		NoSpace, CRLF, Pings, MultiToken, NoUsage, UsageOnFinish, UsageOnEvery, NoRole, Reasoning, ToolCalls, Hidden,
	}
}

// Fault makes some requests meet a kind: the At-th, every Every-th, or all.
// Only valid requests for an answer count, from 1, in the order of their
// arrival.
type Fault struct {
	Kind  Kind
	At    int
	Every int
	After int           // tokens
	N     int           // parts, lines or tokens; 0 is the kind's default
	For   time.Duration // 0 is the kind's default
}

const maxParts = 1000

func (f Fault) check() error {
	switch {
	case !slices.Contains(kinds(), f.Kind):
		return fmt.Errorf("fault %q: choose one of %s", f.Kind, join(kinds()))
	case f.At < 0 || f.Every < 0 || f.After < 0 || f.After > maxTokens:
		return fmt.Errorf("fault %s: a count is out of range: choose at, every and after from 0, and after to %d", f.Kind, maxTokens)
	case f.At > 0 && f.Every > 0:
		return fmt.Errorf("fault %s: at and every exclude each other: give the fault twice", f.Kind)
	case f.N < 0 || f.N > maxParts:
		return fmt.Errorf("fault %s: n is %d: choose 0 to %d", f.Kind, f.N, maxParts)
	case f.For < 0 || f.For > maxWait:
		return fmt.Errorf("fault %s: for is %v: choose 0 to %v", f.Kind, f.For, maxWait)
	}
	return nil
}

func (f Fault) hits(number int) bool {
	switch {
	case f.At > 0:
		return number == f.At
	case f.Every > 0:
		return number%f.Every == 0
	}
	return true
}

// parseFault reads a fault from its kind and settings, as in
// "reset-midstream:after=3,every=5" or "stall:at=2,for=300ms".
func parseFault(text string) (Fault, error) {
	kind, settings, some := strings.Cut(text, ":")
	f := Fault{Kind: Kind(kind)}
	if some {
		for setting := range strings.SplitSeq(settings, ",") {
			if err := f.set(setting); err != nil {
				return Fault{}, fmt.Errorf("fault %q: %w", text, err)
			}
		}
	}
	return f, f.check()
}

func (f *Fault) set(setting string) (err error) {
	key, value, _ := strings.Cut(setting, "=")
	if key == "for" {
		if f.For, err = time.ParseDuration(value); err != nil {
			return fmt.Errorf("%w: write a duration as in for=300ms", err)
		}
		return nil
	}
	into, known := map[string]*int{"at": &f.At, "every": &f.Every, "after": &f.After, "n": &f.N}[key]
	if !known {
		return fmt.Errorf("setting %q: choose of at=K, every=N, after=TOKENS, n=COUNT, for=DURATION", setting)
	}
	if *into, err = strconv.Atoi(value); err != nil {
		return fmt.Errorf("%w: write a whole number as in %s=3", err, key)
	}
	return nil
}

// script is the faults of one request, by kind.
type script map[Kind]Fault

// scriptOf returns what the request of a number meets. Of two faults of a kind
// the later one counts.
func scriptOf(faults []Fault, number int) script {
	s := script{}
	for _, f := range faults {
		if f.hits(number) {
			s[f.Kind] = f
		}
	}
	return s
}

func (s script) has(k Kind) bool {
	_, ok := s[k]
	return ok
}

// count returns the N of a kind, 1 if the request does not meet it.
func (s script) count(k Kind) int {
	if f, ok := s[k]; ok {
		return cmp.Or(f.N, 2)
	}
	return 1
}

// wait returns the For of a kind, or else a default.
func (s script) wait(k Kind, otherwise time.Duration) time.Duration {
	return cmp.Or(s[k].For, otherwise)
}

// kinds returns the names in order, for the log.
func (s script) kinds() []Kind {
	var all []Kind
	for _, k := range kinds() {
		if s.has(k) {
			all = append(all, k)
		}
	}
	return all
}
