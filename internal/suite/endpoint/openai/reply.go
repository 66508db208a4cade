// Package openai is the client's side of servers with an OpenAI-compatible API,
// for measuring them: it streams completions and says of each when what came,
// how it ended and what the server counted. It sends what it is given, once;
// when to send, and what the times amount to, is for others.
package openai

import "time"

// Outcome describes how one request ended. Exactly one applies.
type Outcome string

// The outcomes of requests.
const (
	OK              Outcome = "ok"
	HTTP4xx         Outcome = "http_4xx"
	HTTP5xx         Outcome = "http_5xx"
	RateLimited     Outcome = "rate_limited_429"
	Connect         Outcome = "connect"           // no connection, TLS included
	ResetReused     Outcome = "conn_reset_reused" // a reused connection failed before any byte, and so did the retry
	ResetMidstream  Outcome = "reset_midstream"
	TimeoutFirst    Outcome = "timeout_first" // no token in time
	TimeoutIdle     Outcome = "timeout_idle"  // no further line in time
	TimeoutTotal    Outcome = "timeout_total"
	BadJSON         Outcome = "bad_json"
	ErrorInStream   Outcome = "error_in_stream" // an error object behind status 200
	Empty           Outcome = "empty"           // 200 without a token
	Truncated       Outcome = "truncated"       // ended without a finish reason
	Short           Outcome = "short"           // stopped before the length that was asked for under ignore_eos
	PromptTruncated Outcome = "prompt_truncated"
	Invalid         Outcome = "invalid_output"      // complete, and not what Expect.Accept takes
	Cancelled       Outcome = "cancelled_by_window" // by the caller, at the end of the window
)

// Known reports whether an outcome is one of these.
func (o Outcome) Known() bool {
	switch o {
	case OK, HTTP4xx, HTTP5xx, RateLimited, Connect, ResetReused, ResetMidstream, TimeoutFirst, TimeoutIdle, TimeoutTotal,
		BadJSON, ErrorInStream, Empty, Truncated, Short, PromptTruncated, Invalid, Cancelled:
		return true
	}
	return false
}

// Where a count of output tokens comes from.
const (
	FromUsage  = "usage"  // the server's own count
	FromChunks = "chunks" // one for each chunk with content: a lower bound
)

// Reply is what became of one request. Times are since the epoch that the
// caller gave, by a monotonic clock; 0 means that the event did not happen.
// Unreported counts are -1.
type Reply struct {
	Outcome Outcome
	Reason  string // why not OK, for people, bounded; it quotes the server and is untrusted
	Status  int    // of HTTP; 0 without an answer

	Send         time.Duration // the request is handed to the transport
	Conn         time.Duration // a connection was got
	Headers      time.Duration // the status line was read
	FirstChunk   time.Duration // first data line with a choice, whatever is in it
	First        time.Duration // first delta with content, text, a refusal, reasoning, tool or function calls
	FirstContent time.Duration // first delta with content, text or a refusal
	Last         time.Duration // last such delta as First is the first of
	Finish       time.Duration // finish_reason
	Usage        time.Duration // last usage
	Done         time.Duration // [DONE]
	EOF          time.Duration // Done where there is one, else the end of the body or of the attempt

	Chunks int // data lines with a choice
	// Tokens are the times of the deltas that First and Last bound, in order:
	// one for each line. Reads tells for each which read from the connection
	// brought it: equal numbers were coalesced on the way and their distance
	// says nothing.
	Tokens []time.Duration
	Reads  []int32

	PromptTokens int
	OutputTokens int // by Source
	// StreamedTokens are those of OutputTokens that came as chunks. Hidden
	// reasoning and calls that are held back are counted and not streamed.
	// It is OutputTokens unless the two differ by more than a tenth
	// and by more than two.
	StreamedTokens int
	CachedTokens   int // of the prompt, from the server's cache
	Source         string
	// Note is which of the server's counts cannot be and were ignored,
	// "" if none. It is no failure, and fit to be shown.
	Note         string
	FinishReason string
	// Text is the content that came, if Expect.Text asked for it. It is the
	// server's as it is, and untrusted.
	Text string

	Reused  bool // the connection served an earlier request
	Retried bool // a reused connection failed before any byte, and a fresh one was taken

	// ServerPromptMS and ServerDecodeMS are llama.cpp's own timings, NaN where absent.
	ServerPromptMS, ServerDecodeMS float64
}
