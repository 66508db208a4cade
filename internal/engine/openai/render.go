package openai

import (
	"encoding/json"
	"fmt"
	"strconv"
)

// Usage is the tokens of a request. Cached is a part of Prompt, Reasoning of
// Completion; where they are 0 nothing is said about them.
type Usage struct{ Prompt, Completion, Cached, Reasoning int }

func (u *Usage) append(b []byte) []byte {
	number := func(key string, n int) { b = strconv.AppendInt(append(b, key...), int64(n), 10) }
	number(`,"usage":{"prompt_tokens":`, u.Prompt)
	number(`,"total_tokens":`, u.Prompt+u.Completion)
	number(`,"completion_tokens":`, u.Completion)
	if u.Cached > 0 {
		number(`,"prompt_tokens_details":{"cached_tokens":`, u.Cached)
		b = append(b, '}')
	}
	if u.Reasoning > 0 {
		number(`,"completion_tokens_details":{"reasoning_tokens":`, u.Reasoning)
		b = append(b, '}')
	}
	return append(b, '}')
}

// Renderer appends the objects of one answer: an event for each piece of a
// stream, or the one object of an answer as a whole. What they have in common
// is rendered once; an object costs a few copies.
type Renderer struct {
	Field, End string // what the line of an event begins with and a line ends in; both are empty for a whole answer
	NullUsage  bool   // objects without a usage say so, as in OpenAI's API where usage is wanted

	chat, stream bool
	head         string // of each object, up to its choices
}

// NewRenderer returns the renderer of the answer to a request. Created is in
// seconds since 1970.
func NewRenderer(q *Request, number int, model string, created int64) *Renderer {
	r := &Renderer{chat: q.Chat, stream: q.Stream}
	id, object := "cmpl-", "text_completion"
	if q.Chat {
		id, object = "chatcmpl-", "chat.completion"
	}
	if q.Stream {
		r.Field, r.End = "data: ", "\n"
		if q.Chat {
			object += ".chunk"
		}
	}
	quoted, _ := json.Marshal(model) // a string has no error
	r.head = fmt.Sprintf(`{"id":"%s%d","object":"%s","created":%d,"model":%s,"choices":[`, id, number, object, created, quoted)
	return r
}

// Open appends an object up to the text of its choice, or whatever else the choice has.
func (r *Renderer) Open(b []byte) []byte {
	return append(append(append(b, r.Field...), r.head...), `{"index":0,`...)
}

// Around returns what stands around a text in a choice. The key is that of a
// chat's, such as "content".
func (r *Renderer) Around(key string) (before, after string) {
	switch {
	case !r.chat:
		return `"text":"`, `","logprobs":null`
	case r.stream:
		return `"delta":{"` + key + `":"`, `"}`
	}
	return `"message":{"role":"assistant","` + key + `":"`, `"}`
}

// Close appends the rest of an object after its choice: why the answer ended,
// "" if it goes on, further members, and the usage unless it is nil.
func (r *Renderer) Close(b []byte, reason, members string, u *Usage) []byte {
	b = append(b, `,"finish_reason":`...)
	if reason == "" {
		b = append(b, "null}]"...)
	} else {
		b = append(append(append(b, '"'), reason...), `"}]`...)
	}
	return r.close(append(b, members...), u)
}

func (r *Renderer) close(b []byte, u *Usage) []byte {
	switch {
	case u != nil:
		b = u.append(b)
	case r.NullUsage:
		b = append(b, `,"usage":null`...)
	}
	return append(append(append(b, '}'), r.End...), r.End...)
}

// Role appends the event that opens a chat.
func (r *Renderer) Role(b []byte, u *Usage) []byte {
	return r.Close(append(r.Open(b), `"delta":{"role":"assistant","content":""}`...), "", "", u)
}

// Finish appends the event that says why a stream ended.
func (r *Renderer) Finish(b []byte, reason, members string, u *Usage) []byte {
	b = r.Open(b)
	if r.chat {
		b = append(b, `"delta":{}`...)
	} else {
		b = append(b, `"text":"","logprobs":null`...)
	}
	return r.Close(b, reason, members, u)
}

// Usage appends the event with the usage alone.
func (r *Renderer) Usage(b []byte, u *Usage) []byte {
	return r.close(append(append(append(b, r.Field...), r.head...), ']'), u)
}

// Event appends an event with any payload. The last of a stream is "[DONE]".
func (r *Renderer) Event(b []byte, payload string) []byte {
	return append(append(append(append(b, r.Field...), payload...), r.End...), r.End...)
}
