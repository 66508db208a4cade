package openai

import (
	"context"
	"errors"
	"fmt"
	"net/http"

	"github.com/accelgate/accelgate/internal/text"
)

// Expect is what an answer is held against; 0 expects nothing.
type Expect struct {
	OutputTokens int // that were asked for with ignore_eos
	// MaxTokens is the request's. A count above it is ignored, and how
	// much is read of an answer rests on it.
	MaxTokens int
	// PromptTokens are the least that the server must count in the prompt: with
	// fewer it was cut.
	PromptTokens int
	// Text keeps the content of the answer.
	Text bool
	// Accept returns what is wrong with the content of a complete answer; nil
	// takes all. It needs Text, and may be called by many goroutines at once.
	Accept func(text string) error
}

// Stream sends the request and reads the answer to its end, in the caller's
// goroutine. Whatever becomes of it is in the reply. When ctx ends, the reply
// is cancelled and holds what came until then.
func (c *Client) Stream(ctx context.Context, body Body, expect Expect) Reply {
	reply := noReply()
	watched, w := c.watch(ctx)
	resp := c.begin(ctx, watched, w, body, &reply)
	if resp == nil {
		return reply
	}
	c.answer(ctx, watched, w, resp, expect, &reply)
	return reply
}

// answer reads the body of an answer and classifies it.
func (c *Client) answer(caller, watched context.Context, w *watch, resp *http.Response, expect Expect, reply *Reply) {
	r := recordings.Get().(*recording)
	defer r.release()
	r.maxTokens = expect.MaxTokens
	err := r.read(resp.Body, c.options.Now, func() { w.progress(r) })
	reply.EOF = c.options.Now()
	open := err == errDone
	if open {
		err = nil
	}
	c.conclude(reply, r, expect, cause(caller, watched), err)
	c.nameEncoding(reply, resp.Header)
	if open {
		c.finish(resp.Body, w)
		return
	}
	_ = resp.Body.Close()
	w.stop()
}

// errCancelled means that the caller ended the request.
var errCancelled = errors.New("cancelled")

// cause returns which limit ended a request, nil if none did.
func cause(caller, watched context.Context) error {
	if watched.Err() == nil {
		return nil
	}
	if caller.Err() != nil {
		return errCancelled
	}
	return context.Cause(watched)
}

func (r *Reply) end(outcome Outcome, reason string) { r.Outcome, r.Reason = outcome, reason }

// conclude parses what was recorded and classifies it.
func (c *Client) conclude(reply *Reply, r *recording, expect Expect, cause, err error) {
	found := r.parse(reply, expect, err == nil)
	// What happens to the connection after [DONE] is no failure of the answer,
	// and how long it stays open is no latency of it.
	if reply.Done > 0 {
		err, reply.EOF = nil, reply.Done
	}
	if cause == errLinger {
		err = nil
	}
	reply.FinishReason = text.Clip(c.quote(reply.FinishReason), 40)
	switch {
	case err != nil && cause == errCancelled:
		reply.end(Cancelled, "cancelled while the answer came")
	case found.failure != nil:
		reply.end(ErrorInStream, "the server reports an error: "+c.quote(message(found.failure))+seeLog)
	case errors.Is(err, errTooLong):
		reply.end(BadJSON, err.Error()+": look at what the server sends, or ask for more with max_tokens")
	case err != nil && cause != nil:
		c.late(reply, cause)
	case err != nil:
		reply.end(ResetMidstream, "the connection ended within the answer: "+c.quote(err.Error())+seeLog)
	case found.bad != nil:
		reply.end(BadJSON, "a line is not JSON: "+c.quote(string(found.bad))+": look at the log of the server, or of a proxy before it")
	case found.twice != "":
		reply.end(BadJSON,
			fmt.Sprintf("the stream contradicts itself: the key %q occurs twice in one object: look at what the server sends", found.twice))
	case found.whole != nil:
		reply.end(BadJSON, "the answer is not a stream: "+c.quote(string(found.whole))+
			": ask a server that streams, or correct base_url or --base-url")
	case found.long:
		reply.end(BadJSON,
			fmt.Sprintf("%v: more than %d chunks: look at what the server sends, or ask for more with max_tokens", errTooLong,
				len(reply.Tokens)))
	default:
		reply.complete(expect, found.uncounted)
	}
	if reply.Outcome == OK && expect.Accept != nil {
		if err := expect.Accept(reply.Text); err != nil {
			reply.end(Invalid, c.quote(err.Error())+": "+c.quote(reply.Text)+reply.cut())
		}
	}
}

// cut returns what to do about an answer that ended at the length that was asked
// for.
func (r *Reply) cut() string {
	if r.FinishReason != "length" {
		return ""
	}
	return ": the answer was cut at its length: raise request.max_tokens"
}

// complete classifies an answer that came to its end. Without a usable count
// no answer is short: chunks are a lower bound.
func (r *Reply) complete(expect Expect, uncounted bool) {
	switch {
	case len(r.Tokens) == 0:
		r.end(Empty, "the answer holds no token: set request.ignore_eos, or look at the server's log")
	case r.FinishReason == "":
		r.end(Truncated, fmt.Sprintf("the answer ended without a finish reason after %s%s", text.Plural(r.Chunks, "chunk"), seeLog))
	case expect.OutputTokens > 0 && !uncounted && r.FinishReason != "length" && r.OutputTokens < expect.OutputTokens:
		r.end(Short, fmt.Sprintf("%d of %d tokens, finish reason %s: the server does not heed ignore_eos: set request.ignore_eos to false",
			r.OutputTokens, expect.OutputTokens, r.FinishReason))
	case expect.PromptTokens > 0 && r.PromptTokens >= 0 && r.PromptTokens < expect.PromptTokens:
		r.end(PromptTruncated, fmt.Sprintf("the server counts %d tokens in a prompt of %d at least: its context is too short: "+
			"raise the server's context length, or send shorter prompts", r.PromptTokens, expect.PromptTokens))
	default:
		r.end(OK, "")
	}
}
