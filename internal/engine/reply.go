package engine

import (
	"context"
	"net/http"
	"strconv"
)

// reply is a response to a request.
type reply struct {
	*api
	request
	w   http.ResponseWriter
	cut cutter

	id      string
	created int64
	tokens  int    // of the answer, until now
	finish  string // why it is complete; "" where it is not
}

func (a *api) newReply(w http.ResponseWriter, asked request) *reply {
	kind := "cmpl-"
	if asked.chat {
		kind = "chatcmpl-"
	}
	return &reply{api: a, request: asked, w: w, cut: cutter{stops: asked.stops},
		id: kind + strconv.FormatUint(a.ids.Add(1), 10), created: a.now().Unix()}
}

// each calls show with what can be shown after each token, and once more at
// the end if something was held back. It returns an error where the answer
// breaks off: that of the context where the client did.
func (a *reply) each(ctx context.Context, g *generation, show func(text []byte) error) error {
	for {
		select {
		case <-ctx.Done():
			return ctx.Err()
		case token, more := <-g.tokens:
			if !more {
				return a.last(g, show)
			}
			a.tokens++
			text, done := a.cut.next(token)
			if done {
				a.finish = finishStop
			}
			if err := show(text); done || err != nil {
				return err
			}
		}
	}
}

func (a *reply) last(g *generation, show func([]byte) error) error {
	if g.err != nil {
		return g.err
	}
	a.finish = finishLength
	if rest := a.cut.rest(); len(rest) > 0 {
		return show(rest)
	}
	return nil
}

// count keeps the books of requests.
func (a *reply) count(ctx context.Context, err error) {
	c := &a.counts
	switch {
	case err == nil && a.finish == finishStop:
		c.stop.Add(1)
	case err == nil:
		c.length.Add(1)
	case ctx.Err() != nil:
		c.cancelled.Add(1)
	default:
		c.failed.Add(1)
	}
}

type usageCounts struct {
	PromptTokens     int `json:"prompt_tokens"`
	CompletionTokens int `json:"completion_tokens"`
	TotalTokens      int `json:"total_tokens"`
}

func (a *reply) usageCounts() usageCounts {
	return usageCounts{len(a.prompt), a.tokens, len(a.prompt) + a.tokens}
}

// whole sends the answer as one object.
func (a *reply) whole(ctx context.Context, g *generation) {
	var text []byte
	err := a.each(ctx, g, func(more []byte) error {
		text = append(text, more...)
		return nil
	})
	a.count(ctx, err)
	switch {
	case ctx.Err() != nil: // the client is gone
	case err != nil:
		a.refusal(err).write(a.w)
	default:
		a.writeWhole(string(text))
	}
}

func (a *reply) writeWhole(text string) {
	object, choice := "text_completion", map[string]any{"index": 0, "finish_reason": a.finish, "logprobs": nil}
	if a.chat {
		object = "chat.completion"
		choice["message"] = map[string]string{"role": "assistant", "content": text}
	} else {
		choice["text"] = text
	}
	writeJSON(a.w, http.StatusOK, map[string]any{
		"id": a.id, "object": object, "created": a.created, "model": a.model.name,
		"choices": []any{choice}, "usage": a.usageCounts(),
	})
}
