package openai

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"net/http"
)

// noReply is a reply of which nothing is known.
func noReply() Reply {
	return Reply{
		PromptTokens:   -1,
		OutputTokens:   -1,
		StreamedTokens: -1,
		CachedTokens:   -1,
		ServerPromptMS: math.NaN(),
		ServerDecodeMS: math.NaN(),
	}
}

// begin sends a request and returns its answer, and nil if the reply is complete
// without one.
func (c *Client) begin(ctx, watched context.Context, w *watch, body Body, reply *Reply) *http.Response {
	reply.Send = c.options.Now()
	resp, a, err := c.send(watched, body, reply)
	if err != nil {
		reply.EOF = c.options.Now()
		c.unanswered(reply, a, cause(ctx, watched), err)
		w.stop()
		return nil
	}
	reply.Headers, reply.Status = c.options.Now(), resp.StatusCode
	if resp.StatusCode < 200 || resp.StatusCode > 299 {
		c.refused(reply, resp)
		reply.EOF = c.options.Now()
		_ = resp.Body.Close()
		w.stop()
		return nil
	}
	if c.options.Heard != nil {
		c.options.Heard()
		resp.Body = heardBody{resp.Body, c.options.Heard}
	}
	return resp
}

// heardBody reports each part of a body that comes.
type heardBody struct {
	io.ReadCloser
	heard func()
}

func (b heardBody) Read(p []byte) (int, error) {
	n, err := b.ReadCloser.Read(p)
	if n > 0 {
		b.heard()
	}
	return n, err
}

// Whole sends a request whose answer comes as a whole, such as [Embeddings],
// and checks the answer. Of the limits, Total alone counts. The reply has no
// times of tokens.
func (c *Client) Whole(ctx context.Context, body Body) Reply {
	reply := noReply()
	watched, w := c.watch(ctx)
	defer w.stop()
	if w.first != nil {
		w.first.Stop()
	}
	resp := c.begin(ctx, watched, w, body, &reply)
	if resp == nil {
		return reply
	}
	defer resp.Body.Close()
	data, err := io.ReadAll(io.LimitReader(resp.Body, maxBody+1))
	reply.EOF = c.options.Now()
	switch ended := cause(ctx, watched); {
	case err != nil && ended == errCancelled:
		reply.end(Cancelled, "cancelled while the answer came")
	case err != nil && ended != nil:
		c.late(&reply, ended)
	case err != nil:
		reply.end(ResetMidstream, "the connection ended within the answer: "+c.quote(err.Error())+seeLog)
	case len(data) > maxBody:
		reply.end(BadJSON, fmt.Sprintf("%v: more than %d bytes: ask for fewer inputs at once", errTooLong, maxBody))
	default:
		c.checkWhole(&reply, body, data)
	}
	c.nameEncoding(&reply, resp.Header)
	return reply
}

// errNotJSON means that an answer is no JSON object of the expected form.
var errNotJSON = errors.New("the answer is not what this kind of request gets")

func (c *Client) checkWhole(reply *Reply, body Body, data []byte) {
	reply.end(OK, "")
	if k, ok := parseChunk(data); ok && k.failure != nil {
		reply.end(ErrorInStream, "the server reports an error: "+c.quote(message(k.failure))+seeLog)
		return
	}
	tokens, err := body.check(data, body.inputs)
	switch {
	case errors.Is(err, errNotJSON):
		reply.end(BadJSON, c.quote(err.Error()+": "+string(data[:min(len(data), 8*maxQuote)]))+": correct request.api or --base-url")
	case err != nil:
		reply.end(Invalid, c.quote(err.Error())+seeLog)
	case tokens > 0:
		reply.PromptTokens = tokens
	}
}
