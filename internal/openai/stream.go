package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
	"strings"
)

// Expect is what an answer is held against; 0 expects nothing.
type Expect struct {
	OutputTokens int // that were asked for with ignore_eos
	PromptTokens int // that were sent: a server that counts fewer cut the prompt
}

// Stream sends the request and reads the answer to its end, in the caller's
// goroutine. Whatever becomes of it is in the reply. When ctx ends, the reply
// is cancelled and holds what came until then.
func (c *Client) Stream(ctx context.Context, body Body, expect Expect) Reply {
	reply := Reply{PromptTokens: -1, OutputTokens: -1, CachedTokens: -1, ServerPromptMS: math.NaN(), ServerDecodeMS: math.NaN()}
	reply.Send = c.options.Now()
	watched, w := c.watch(ctx)
	defer w.stop()
	resp, a, err := c.send(watched, body, &reply)
	if err != nil {
		reply.EOF = c.options.Now()
		c.unanswered(&reply, a, cause(ctx, watched), err)
		return reply
	}
	defer resp.Body.Close()
	reply.Headers, reply.Status = c.options.Now(), resp.StatusCode
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		c.refused(&reply, resp)
		reply.EOF = c.options.Now()
		return reply
	}
	r := recordings.Get().(*recording)
	defer r.release()
	err = r.read(resp.Body, c.options.Now, func() { w.progress(r) })
	reply.EOF = c.options.Now()
	c.conclude(&reply, r, expect, cause(ctx, watched), err)
	return reply
}

// errCancelled says that the caller ended the request.
var errCancelled = errors.New("cancelled")

// cause says which limit ended a request, nil if none did.
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

// unanswered classifies a request without an answer.
func (c *Client) unanswered(reply *Reply, a *attempt, cause, err error) {
	reason := c.quote(err.Error())
	switch {
	case cause == errCancelled:
		reply.end(Cancelled, "cancelled before the answer began")
	case cause != nil && reply.Conn == 0:
		reply.end(Connect, "no connection to "+c.root+" in time")
	case cause != nil:
		c.late(reply, cause)
	case reply.Retried && !a.answered.Load():
		reply.end(ResetReused, "a reused connection failed, and so did a fresh one: "+reason)
	case reply.Conn == 0:
		reply.end(Connect, "no connection to "+c.root+": "+reason)
	case strings.Contains(err.Error(), "malformed HTTP"): // net/http has no type for it
		reply.end(Connect, "the server does not speak HTTP: "+reason)
	default:
		reply.end(ResetMidstream, "the connection ended before the answer: "+reason)
	}
}

func (c *Client) late(reply *Reply, cause error) {
	switch cause {
	case errFirst:
		reply.end(TimeoutFirst, fmt.Sprintf("no token within %s", c.options.First))
	case errIdle:
		reply.end(TimeoutIdle, fmt.Sprintf("no further line within %s", c.options.Idle))
	default:
		reply.end(TimeoutTotal, fmt.Sprintf("not finished within %s", c.options.Total))
	}
}

// maxRefusal bounds what is read of a body behind a status of failure.
const maxRefusal = 64 << 10

func (c *Client) refused(reply *Reply, resp *http.Response) {
	text, _ := io.ReadAll(io.LimitReader(resp.Body, maxRefusal))
	reason := fmt.Sprintf("HTTP %d: %s", resp.StatusCode, c.quote(message(text)))
	switch {
	case resp.StatusCode == http.StatusTooManyRequests:
		if wait := resp.Header.Get("Retry-After"); wait != "" {
			reason += " (retry after " + clip(c.quote(wait), 40) + ")"
		}
		reply.end(RateLimited, reason)
	case resp.StatusCode >= 500:
		reply.end(HTTP5xx, reason)
	case resp.StatusCode < 400:
		reply.end(HTTP4xx, fmt.Sprintf("HTTP %d: redirects are not followed, the server points to %s: give the server's own URL",
			resp.StatusCode, c.quote(resp.Header.Get("Location"))))
	default:
		reply.end(HTTP4xx, reason)
	}
}

// conclude parses what was recorded and classifies it.
func (c *Client) conclude(reply *Reply, r *recording, expect Expect, cause, err error) {
	found := r.parse(reply, err == nil)
	if reply.Done > 0 { // what happens to the connection after [DONE] is no failure of the answer
		err = nil
	}
	reply.FinishReason = clip(c.quote(reply.FinishReason), 40)
	if cause == errLinger && reply.Done > 0 {
		reply.EOF = reply.Done
	}
	switch {
	case err != nil && cause == errCancelled:
		reply.end(Cancelled, "cancelled while the answer came")
	case found.failure != nil:
		reply.end(ErrorInStream, "the server reports an error: "+c.quote(message(found.failure)))
	case errors.Is(err, errLongLine) || errors.Is(err, errLongBody):
		reply.end(BadJSON, "the answer is too long: "+err.Error())
	case err != nil && cause != nil:
		c.late(reply, cause)
	case err != nil:
		reply.end(ResetMidstream, "the connection ended within the answer: "+c.quote(err.Error()))
	case found.bad != nil:
		reply.end(BadJSON, "a line is no JSON: "+c.quote(string(found.bad)))
	case found.whole != nil:
		reply.end(BadJSON, "the answer is no stream: "+c.quote(string(found.whole)))
	default:
		reply.complete(expect)
	}
}

// complete classifies an answer that came to its end.
func (r *Reply) complete(expect Expect) {
	switch {
	case len(r.Tokens) == 0:
		r.end(Empty, "the answer holds no token")
	case r.FinishReason == "":
		r.end(Truncated, fmt.Sprintf("the answer ended without a finish reason after %d chunks", r.Chunks))
	case expect.OutputTokens > 0 && r.FinishReason != "length" && r.OutputTokens < expect.OutputTokens:
		r.end(Short, fmt.Sprintf("%d of %d tokens, finish reason %s: the server does not heed ignore_eos",
			r.OutputTokens, expect.OutputTokens, r.FinishReason))
	case expect.PromptTokens > 0 && r.PromptTokens >= 0 && r.PromptTokens < expect.PromptTokens:
		r.end(PromptTruncated, fmt.Sprintf("the server counts %d tokens in a prompt of %d: its context is too short",
			r.PromptTokens, expect.PromptTokens))
	default:
		r.end(OK, "")
	}
}
