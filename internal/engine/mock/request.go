package mock

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
)

// maxBody bounds a request and maxName the name of a model, in bytes.
const (
	maxBody = 32 << 20
	maxName = 1 << 10
)

// Request is what the server understood of one request for an answer. Nothing
// of its text is kept.
type Request struct {
	Number int    // from 1, in the order of arrival; 0 of an invalid one, which no fault counts
	Conn   int    // number of its connection, from 1
	Path   string // "/v1/chat/completions"
	Proto  string // "HTTP/1.1"
	Status int    // what it was answered with
	Faults []Kind // what it met, in the order of [Kinds]

	BodySHA256 string // hexadecimal
	AuthSHA256 string // of the whole Authorization header; "" without one

	Model           string
	Chat            bool
	Stream          bool
	IncludeUsage    bool // stream_options.include_usage
	ContinuousUsage bool // stream_options.continuous_usage_stats, of vLLM
	IgnoreEOS       bool
	MaxTokens       int      // max_tokens or max_completion_tokens; 0 if not given
	Temperature     *float64 // nil if not given
	PromptTokens    int      // words of the prompt, or its token ids where it is given as such
}

// body is the part of OpenAI's requests that the server reads; see
// https://platform.openai.com/docs/api-reference/chat/create. ignore_eos is of
// vLLM, SGLang and llama.cpp.
type body struct {
	Model               string          `json:"model"`
	Messages            json.RawMessage `json:"messages"`
	Prompt              json.RawMessage `json:"prompt"`
	Stream              bool            `json:"stream"`
	MaxTokens           *int            `json:"max_tokens"`
	MaxCompletionTokens *int            `json:"max_completion_tokens"`
	Temperature         *float64        `json:"temperature"`
	IgnoreEOS           bool            `json:"ignore_eos"`
	N                   *int            `json:"n"`
	StreamOptions       *struct {
		IncludeUsage    bool `json:"include_usage"`
		ContinuousUsage bool `json:"continuous_usage_stats"`
	} `json:"stream_options"`
}

// readRequest understands a request or says what is wrong with it.
func readRequest(data []byte, chat bool) (Request, error) {
	var b body
	if !bytes.HasPrefix(bytes.TrimLeft(data, " \t\r\n"), []byte("{")) {
		return Request{}, errors.New("the body is not a JSON object: send one")
	}
	if err := json.Unmarshal(data, &b); err != nil {
		return Request{}, fmt.Errorf("the body is not understood: %w", err)
	}
	limit, err := b.limit()
	if err != nil {
		return Request{}, err
	}
	r := Request{Chat: chat, Model: b.Model, Stream: b.Stream, IgnoreEOS: b.IgnoreEOS, MaxTokens: limit, Temperature: b.Temperature}
	switch {
	case len(b.Model) > maxName:
		return Request{}, fmt.Errorf("the model's name has %d bytes: at most %d are served", len(b.Model), maxName)
	case b.N != nil && *b.N != 1:
		return r, fmt.Errorf("n is %d: only 1 is served", *b.N)
	case b.Temperature != nil && (*b.Temperature < 0 || *b.Temperature > 2):
		return r, fmt.Errorf("temperature is %g: choose 0 to 2", *b.Temperature)
	case b.StreamOptions != nil && !b.Stream:
		return r, errors.New("stream_options are only allowed when stream is true: set stream")
	}
	if b.StreamOptions != nil {
		r.IncludeUsage, r.ContinuousUsage = b.StreamOptions.IncludeUsage, b.StreamOptions.ContinuousUsage
	}
	if chat {
		r.PromptTokens, err = countMessages(b.Messages)
	} else {
		r.PromptTokens, err = countPrompt(b.Prompt)
	}
	return r, err
}

// limit returns the wanted number of tokens, 0 for none.
func (b *body) limit() (int, error) {
	limit := b.MaxCompletionTokens
	if limit == nil {
		limit = b.MaxTokens
	}
	if limit == nil {
		return 0, nil
	}
	if *limit < 1 || *limit > maxTokens {
		return 0, fmt.Errorf("max_tokens is %d: choose 1 to %d", *limit, maxTokens)
	}
	return *limit, nil
}

// countMessages counts the words of all messages. Content is a text, a list of
// parts, or null.
func countMessages(data json.RawMessage) (int, error) {
	var messages []struct {
		Role    string          `json:"role"`
		Content json.RawMessage `json:"content"`
	}
	if data == nil {
		return 0, errors.New("messages are absent: send at least one")
	}
	if err := json.Unmarshal(data, &messages); err != nil {
		return 0, fmt.Errorf("messages are not understood: %w", err)
	}
	if len(messages) == 0 {
		return 0, errors.New("messages are empty: send at least one")
	}
	total := 0
	for i, m := range messages {
		n, err := countContent(m.Content)
		if m.Role == "" {
			err = errors.New("its role is absent")
		}
		if err != nil {
			return 0, fmt.Errorf("message %d: %w", i, err)
		}
		total += n
	}
	return total, nil
}

func countContent(data json.RawMessage) (int, error) {
	var text *string
	if len(data) == 0 || json.Unmarshal(data, &text) == nil {
		return words(text), nil
	}
	var parts []struct {
		Type string  `json:"type"`
		Text *string `json:"text"`
	}
	if err := json.Unmarshal(data, &parts); err != nil {
		return 0, errors.New("its content is neither a text nor a list of parts")
	}
	total := 0
	for _, p := range parts {
		total += words(p.Text)
	}
	return total, nil
}

// countPrompt counts the words of a text, or the ids of a list of tokens.
func countPrompt(data json.RawMessage) (int, error) {
	var text string
	var ids []int
	switch {
	case data == nil || string(data) == "null":
		return 0, errors.New("the prompt is absent: send a text or a list of token ids")
	case json.Unmarshal(data, &text) == nil:
		return words(&text), nil
	case json.Unmarshal(data, &ids) == nil && len(ids) > 0:
		return len(ids), nil
	}
	return 0, errors.New("the prompt is neither a text nor a list of token ids: send one prompt")
}

func words(text *string) int {
	if text == nil {
		return 0
	}
	return len(strings.Fields(*text))
}
