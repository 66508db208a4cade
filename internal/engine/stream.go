package engine

import (
	"context"
	"encoding/json"
	"fmt"
	"net/http"
	"time"
)

// stream sends the answer as server-sent events, one for each token. Most of
// an event is the same each time and is made once.
func (a *reply) stream(ctx context.Context, g *generation) {
	e := a.newEvents()
	e.begin()
	err := a.each(ctx, g, func(text []byte) error {
		if len(text) == 0 {
			return nil // the beginning of a stop string, it may be
		}
		e.content(text)
		if len(g.tokens) > 0 {
			return nil // whoever reads slowly gets several at once
		}
		return e.flush()
	})
	if err == nil {
		e.end()
		err = e.flush()
	} else if ctx.Err() == nil {
		e.fail(a.refusal(err))
		_ = e.flush() // the answer has failed already
	}
	a.count(ctx, err)
}

// events renders an answer and sends it.
type events struct {
	*reply
	control    *http.ResponseController
	buffer     []byte
	head       string // of every event, up to its choices
	open, shut string // around the text
	tail       string // of every event, after its choices
	last       string // the choice that says why the answer is complete
	role       string // the choice that begins a chat, or ""
}

func (a *reply) newEvents() *events {
	e := &events{reply: a, control: http.NewResponseController(a.w)}
	object := "text_completion"
	e.open, e.shut = `{"index":0,"text":"`, `","logprobs":null,"finish_reason":null}`
	e.last = `{"index":0,"text":"","logprobs":null,"finish_reason":%q}`
	if a.chat {
		object = "chat.completion.chunk"
		e.open, e.shut = `{"index":0,"delta":{"content":"`, `"},"finish_reason":null}`
		e.last = `{"index":0,"delta":{},"finish_reason":%q}`
		e.role = `{"index":0,"delta":{"role":"assistant","content":""},"finish_reason":null}`
	}
	e.head = fmt.Sprintf(`data: {"id":%q,"object":%q,"created":%d,"model":%q,"choices":[`, a.id, object, a.created, a.model.name)
	e.tail = "]}\n\n"
	if a.usage {
		e.tail = "],\"usage\":null}\n\n" // as OpenAI's API does where usage is wanted
	}
	return e
}

// begin sends the headers, so that the client sees before its turn that it is
// served, and prepares the role, which goes with the first token.
func (e *events) begin() {
	e.w.Header().Set("Content-Type", "text/event-stream")
	e.w.Header().Set("Cache-Control", "no-cache")
	e.w.WriteHeader(http.StatusOK)
	_ = e.control.Flush() // the first token shows whether the client is there
	if e.role != "" {
		e.choice(e.role)
	}
}

func (e *events) choice(choice string) {
	e.buffer = append(e.buffer, e.head...)
	e.buffer = append(e.buffer, choice...)
	e.buffer = append(e.buffer, e.tail...)
}

func (e *events) content(text []byte) {
	e.buffer = append(e.buffer, e.head...)
	e.buffer = append(e.buffer, e.open...)
	e.buffer = appendEscaped(e.buffer, text)
	e.buffer = append(e.buffer, e.shut...)
	e.buffer = append(e.buffer, e.tail...)
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

func (e *events) end() {
	e.choice(fmt.Sprintf(e.last, e.finish))
	if e.usage {
		u := e.usageCounts()
		e.buffer = append(e.buffer, e.head...)
		e.buffer = fmt.Appendf(e.buffer, `],"usage":{"prompt_tokens":%d,"completion_tokens":%d,"total_tokens":%d}}`+"\n\n",
			u.PromptTokens, u.CompletionTokens, u.TotalTokens)
	}
	e.buffer = append(e.buffer, "data: [DONE]\n\n"...)
}

// fail ends the stream with an error in place of a finish reason.
func (e *events) fail(why *apiError) {
	object, err := json.Marshal(why.object())
	if err != nil {
		return // a struct of strings
	}
	e.buffer = fmt.Appendf(e.buffer, "data: %s\n\n", object)
}

// flush sends what was rendered with one write.
func (e *events) flush() error {
	_ = e.control.SetWriteDeadline(time.Now().Add(writeTimeout))
	_, err := e.w.Write(e.buffer)
	e.buffer = e.buffer[:0]
	if err != nil {
		return err
	}
	return e.control.Flush()
}
