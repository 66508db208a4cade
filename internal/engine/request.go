package engine

import (
	"encoding/json"
	"net/http"
	"slices"
	"strings"
)

// The limits of a request.
const (
	maxBody       = 1 << 20
	defaultAnswer = 128 // tokens
	maxStops      = 4   // as OpenAI's API
	maxStop       = 256 // bytes of one
)

// request is what a client asks for, checked.
type request struct {
	chat   bool
	prompt []int
	limit  int // tokens of the answer, at least 1
	stops  []string
	stream bool
	usage  bool // wanted at the end of the stream
}

// body is a request as it comes. What is not named here is taken and ignored,
// as are temperature, seed and ignore_eos: answers are greedy, and there is no
// token that ends them.
type body struct {
	Model               string
	Messages            []message
	Prompt              promptText
	MaxTokens           *int      `json:"max_tokens"`
	MaxCompletionTokens *int      `json:"max_completion_tokens"`
	N                   *int      `json:"n"`
	Stop                stopWords `json:"stop"`
	Stream              bool
	StreamOptions       struct {
		IncludeUsage bool `json:"include_usage"`
	} `json:"stream_options"`
	Temperature *float64
}

// parseRequest reads a request to the named model, of which a sequence has so
// many tokens of context. A prompt is never cut to fit.
func parseRequest(data []byte, chat bool, model string, context int) (request, *apiError) {
	var b body
	if err := json.Unmarshal(data, &b); err != nil {
		return request{}, invalid("invalid_json", "the body is not a request: %v: send what OpenAI's API documents", err)
	}
	r := request{chat: chat, stops: b.Stop, stream: b.Stream, usage: b.Stream && b.StreamOptions.IncludeUsage}
	if err := b.check(model); err != nil {
		return r, err
	}
	text := string(b.Prompt)
	if chat {
		if err := checkMessages(b.Messages); err != nil {
			return r, err
		}
		text = chatPrompt(b.Messages)
	}
	if text == "" {
		return r, invalid("missing_prompt", "there is no prompt: give some text")
	}
	if len(text) >= context {
		return r, tooLong(len(text), 1, context)
	}
	r.prompt = encode(text)
	return r, r.setLimit(&b, context)
}

func (b *body) check(model string) *apiError {
	switch {
	case b.Model != "" && b.Model != model:
		return refusal(http.StatusNotFound, "model_not_found", "there is no model %.64q: ask for %q", b.Model, model)
	case b.N != nil && *b.N != 1:
		return invalid("unsupported_value", "n is %d: ask for one answer at a time", *b.N)
	case b.Temperature != nil && *b.Temperature < 0:
		return invalid("invalid_value", "temperature is %v: give 0 or more", *b.Temperature)
	case len(b.Stop) > maxStops:
		return invalid("invalid_value", "%d stop strings: give at most %d", len(b.Stop), maxStops)
	case slices.ContainsFunc(b.Stop, func(s string) bool { return s == "" || len(s) > maxStop }):
		return invalid("invalid_value", "a stop string has 1 to %d bytes: leave out or shorten the others", maxStop)
	}
	return nil
}

func (r *request) setLimit(b *body, context int) *apiError {
	limit := b.MaxTokens
	if b.MaxCompletionTokens != nil {
		limit = b.MaxCompletionTokens
	}
	switch {
	case limit == nil:
		r.limit = min(defaultAnswer, context-len(r.prompt))
		return nil
	case *limit < 1:
		return invalid("invalid_value", "max_tokens is %d: ask for 1 at least", *limit)
	case *limit > context-len(r.prompt):
		return tooLong(len(r.prompt), *limit, context)
	}
	r.limit = *limit
	return nil
}

func tooLong(prompt, answer, context int) *apiError {
	return invalid(
		"context_length_exceeded",
		"a prompt of %d tokens and an answer of %d are more than the context of %d: shorten one of them, or start the server with a larger --context",
		prompt,
		answer,
		context,
	)
}

// message is one of a chat.
type message struct {
	Role    string
	Content contentText
}

var roles = []string{"system", "developer", "user", "assistant", "tool"}

func checkMessages(messages []message) *apiError {
	if len(messages) == 0 {
		return invalid("missing_messages", "there are no messages: give one of role user at least")
	}
	for _, m := range messages {
		if !slices.Contains(roles, m.Role) {
			return invalid("invalid_value", "there is no role %.64q: choose one of %s", m.Role, strings.Join(roles, ", "))
		}
	}
	return nil
}

// chatPrompt writes a chat as one prompt: a line "role: content" for each
// message, and then "assistant: " for the answer to follow.
func chatPrompt(messages []message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Role + ": " + string(m.Content) + "\n")
	}
	b.WriteString("assistant: ")
	return b.String()
}
