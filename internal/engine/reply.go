package engine

import (
	"context"
	"net/http"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// reply is a response to a request.
type reply struct {
	*api
	request
	*openai.Renderer
	w   *openai.Response
	cut cutter

	buffer       []byte // rendered and not sent
	open, closed string // around a text
	tokens       int    // of the answer, until now
	finish       string // why it is complete; "" where it is not
}

func (a *api) newReply(w *openai.Response, asked request) *reply {
	r := &reply{api: a, request: asked, w: w, cut: cutter{stops: asked.Stop}}
	r.Renderer = openai.NewRenderer(asked.Request, int(a.ids.Add(1)), a.model.name, a.now().Unix())
	r.NullUsage = asked.StreamOptions.IncludeUsage
	r.open, r.closed = r.Around("content")
	return r
}

// each calls show with what can be shown after each token and at the end. It
// returns an error where the answer breaks off: that of the context where the
// client did.
func (r *reply) each(ctx context.Context, g *generation, show func(text []byte) error) error {
	for {
		var text []byte
		select {
		case <-ctx.Done():
			return ctx.Err()
		case token, more := <-g.tokens:
			switch done := false; {
			case more:
				r.tokens++
				if text, done = r.cut.next(token); done {
					r.finish = finishStop
				}
			case g.err != nil:
				return g.err
			default:
				text, r.finish = r.cut.rest(), finishLength
			}
		}
		if err := show(text); r.finish != "" || err != nil {
			return err
		}
	}
}

// count keeps the books of requests.
func (r *reply) count(ctx context.Context, err error) {
	c := &r.counts
	switch {
	case err == nil && r.finish == finishStop:
		c.stop.Add(1)
	case err == nil:
		c.length.Add(1)
	case ctx.Err() != nil:
		c.cancelled.Add(1)
	default:
		c.failed.Add(1)
	}
}

func (r *reply) used() *openai.Usage {
	return &openai.Usage{Prompt: len(r.prompt), Completion: r.tokens}
}

// whole sends the answer as one object.
func (r *reply) whole(ctx context.Context, g *generation) {
	body := append(r.Open(nil), r.open...)
	err := r.each(ctx, g, func(text []byte) error {
		body = appendEscaped(body, text)
		return nil
	})
	r.count(ctx, err)
	switch {
	case ctx.Err() != nil: // the client is gone
	case err != nil:
		r.web.Fail(r.w, r.web.Refuse(err))
	default:
		body = r.Close(append(body, r.closed...), r.finish, "", r.used())
		_ = r.w.SendWhole(append(body, '\n')) // nothing follows
	}
}

// stream sends the answer as server-sent events, one for each token. The
// headers go ahead, the role goes with the first token.
func (r *reply) stream(ctx context.Context, g *generation) {
	r.w.Header().Set("Content-Type", "text/event-stream")
	r.w.Header().Set("Cache-Control", "no-cache")
	r.w.WriteHeader(http.StatusOK)
	_ = r.flush() // the first token shows whether the client is there
	if r.Chat {
		r.buffer = r.Role(r.buffer, nil)
	}
	err := r.each(ctx, g, func(text []byte) error {
		if len(text) == 0 {
			return nil // the beginning of a stop string, it may be
		}
		r.buffer = append(appendEscaped(append(r.Open(r.buffer), r.open...), text), r.closed...)
		r.buffer = r.Close(r.buffer, "", "", nil)
		if len(g.tokens) > 0 {
			return nil // whoever reads slowly gets several at once
		}
		return r.flush()
	})
	if err == nil {
		r.end()
		err = r.flush()
	} else if ctx.Err() == nil {
		r.buffer = r.Event(r.buffer, string(r.web.Refuse(err).JSON()))
		_ = r.flush() // the answer has failed already
	}
	r.count(ctx, err)
}

func (r *reply) end() {
	r.buffer = r.Finish(r.buffer, r.finish, "", nil)
	if r.StreamOptions.IncludeUsage {
		r.buffer = r.Usage(r.buffer, r.used())
	}
	r.buffer = r.Event(r.buffer, "[DONE]")
}

// flush sends what was rendered with one write.
func (r *reply) flush() error {
	err := r.w.Send(r.buffer)
	r.buffer = r.buffer[:0]
	return err
}

// appendEscaped appends text, which is of tokens that [sampled] allows, as the
// inside of a JSON string.
func appendEscaped(b, text []byte) []byte {
	for _, c := range text {
		switch c {
		case '\n':
			b = append(b, `\n`...)
		case '"', '\\':
			b = append(b, '\\', c)
		default:
			b = append(b, c)
		}
	}
	return b
}
