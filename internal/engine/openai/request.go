package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
)

// MaxName bounds the name of a model, in bytes.
const MaxName = 1 << 10

// Request is what a client asks for. What is not named here is taken and ignored.
// See https://platform.openai.com/docs/api-reference/chat/create.
type Request struct {
	Chat          bool `json:"-"`
	Model         string
	Messages      Messages // of a chat: at least one
	Prompt        *Prompt  // of any other request
	Stop          Words
	Stream        bool
	StreamOptions StreamOptions `json:"-"`
	MaxTokens     int           `json:"-"` // max_completion_tokens or max_tokens; 0 if not given
	Temperature   *float64      // from 0 to 2; nil if not given
	IgnoreEOS     bool          `json:"ignore_eos"` // of vLLM, SGLang and llama.cpp
}

// StreamOptions are about the usage in a stream: at its end, or in every event as vLLM has it.
type StreamOptions struct {
	IncludeUsage    bool `json:"include_usage"`
	ContinuousUsage bool `json:"continuous_usage_stats"`
}

// Parse reads a request for a chat or for the continuation of a prompt.
func Parse(data []byte, chat bool) (*Request, *Error) {
	var b struct {
		Request
		MaxTokens           *int `json:"max_tokens"`
		MaxCompletionTokens *int `json:"max_completion_tokens"`
		N                   *int
		StreamOptions       *StreamOptions `json:"stream_options"`
	}
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return nil, Invalid("invalid_json", "the body is not a JSON object: send one")
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return nil, Invalid("invalid_json", "the body is not understood: %v: send what OpenAI's API documents", err)
	}
	r := &b.Request
	r.Chat = chat
	limit := b.MaxTokens
	if b.MaxCompletionTokens != nil {
		limit = b.MaxCompletionTokens
	}
	switch {
	case len(r.Model) > MaxName:
		return nil, Invalid("invalid_value", "the model's name has %d bytes: at most %d are served", len(r.Model), MaxName)
	case b.N != nil && *b.N != 1:
		return nil, Invalid("unsupported_value", "n is %d: ask for one answer at a time", *b.N)
	case limit != nil && *limit < 1:
		return nil, Invalid("invalid_value", "max_tokens is %d: ask for 1 at least", *limit)
	case b.StreamOptions != nil && !r.Stream:
		return nil, Invalid("invalid_value", "stream_options are only allowed when stream is true: set stream")
	}
	if limit != nil {
		r.MaxTokens = *limit
	}
	if b.StreamOptions != nil {
		r.StreamOptions = *b.StreamOptions
	}
	return r, r.check()
}

func (r *Request) check() *Error {
	switch {
	case r.Temperature != nil && (*r.Temperature < 0 || *r.Temperature > 2):
		return Invalid("invalid_value", "temperature is %v: choose 0 to 2", *r.Temperature)
	case !r.Chat && r.Prompt == nil:
		return Invalid("missing_prompt", "the prompt is absent: send a text or a list of token ids")
	case r.Chat && r.Messages == nil:
		return Invalid("missing_messages", "messages are absent: send at least one")
	case r.Chat && len(r.Messages) == 0:
		return Invalid("missing_messages", "messages are empty: send at least one")
	}
	for i, m := range r.Messages {
		if m.Role == "" && r.Chat {
			return Invalid("invalid_value", "message %d: its role is absent: send one such as user", i)
		}
	}
	return nil
}

// Messages are a chat.
type Messages []Message

// UnmarshalJSON names the part of a request that is wrong.
func (m *Messages) UnmarshalJSON(data []byte) error {
	if err := json.Unmarshal(data, (*[]Message)(m)); err != nil {
		return fmt.Errorf("messages are not understood: %w", err)
	}
	return nil
}

// Message is one of a chat.
type Message struct {
	Role    string
	Content Content
}

// Content is that of a message: a text, or parts. Null is the empty text, which the messages of tool calls have.
type Content struct {
	Texts   []string // of the parts, in order
	Foreign string   // type of the first part that is not text, "" without one
}

// UnmarshalJSON reads either form.
func (c *Content) UnmarshalJSON(data []byte) error {
	var text string
	if json.Unmarshal(data, &text) == nil {
		*c = Content{Texts: []string{text}}
		return nil
	}
	var parts []struct{ Type, Text string }
	if json.Unmarshal(data, &parts) != nil {
		return errors.New("the content of a message is neither a text nor a list of parts")
	}
	*c = Content{}
	for _, p := range parts {
		c.Texts = append(c.Texts, p.Text)
		if p.Type != "text" && c.Foreign == "" {
			c.Foreign = p.Type
		}
	}
	return nil
}

// Prompt is that of a completion: a text, which may come as a list of one, or tokens.
type Prompt struct {
	Text   string
	Tokens []int // nil where there is a text
}

// UnmarshalJSON reads each of the forms.
func (p *Prompt) UnmarshalJSON(data []byte) error {
	*p = Prompt{}
	var texts []string
	switch {
	case json.Unmarshal(data, &p.Text) == nil:
		return nil
	case json.Unmarshal(data, &texts) == nil && len(texts) == 1:
		p.Text = texts[0]
		return nil
	case json.Unmarshal(data, &p.Tokens) == nil && len(p.Tokens) > 0:
		return nil
	}
	return errors.New("the prompt is neither a text nor a list of token ids: send one prompt")
}

// Words is a string or a list of strings.
type Words []string

// UnmarshalJSON reads either form.
func (s *Words) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		return json.Unmarshal(data, (*[]string)(s))
	}
	*s = Words{""}
	return json.Unmarshal(data, &(*s)[0])
}
