package engine

import (
	"net/http"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// The limits of a request.
const (
	defaultAnswer = 128 // tokens
	maxStops      = 4   // as OpenAI's API
	maxStop       = 256 // bytes of one
)

// request is what a client asks for, checked. Temperature, seed and ignore_eos
// are ignored: answers are greedy, and there is no token that ends them.
type request struct {
	*openai.Request
	prompt []int
	limit  int // tokens of the answer, at least 1
}

// parseRequest reads a request to the named model, of which a sequence has so
// many tokens of context. A prompt is never cut to fit.
func parseRequest(data []byte, chat bool, model string, context int) (request, *openai.Error) {
	asked, refused := openai.Parse(data, chat)
	if refused != nil {
		return request{}, refused
	}
	r := request{Request: asked}
	if refused := r.check(model); refused != nil {
		return r, refused
	}
	if chat {
		r.prompt = encode(chatPrompt(r.Messages))
	} else if r.prompt = r.Prompt.Tokens; r.prompt == nil {
		r.prompt = encode(r.Prompt.Text)
	}
	if len(r.prompt) == 0 {
		return r, openai.Invalid("missing_prompt", "there is no prompt: give some text")
	}
	return r, r.setLimit(context)
}

func (r *request) check(model string) *openai.Error {
	switch {
	case r.Model != "" && r.Model != model:
		return openai.Refusal(http.StatusNotFound, "model_not_found", "there is no model %.64q: ask for %q", r.Model, model)
	case len(r.Stop) > maxStops:
		return openai.Invalid("invalid_value", "%d stop strings: give at most %d", len(r.Stop), maxStops)
	case slices.ContainsFunc(r.Stop, func(s string) bool { return s == "" || len(s) > maxStop }):
		return openai.Invalid("invalid_value", "a stop string has 1 to %d bytes: leave out or shorten the others", maxStop)
	case r.Chat:
		return checkMessages(r.Messages)
	}
	for _, token := range r.Prompt.Tokens {
		if token < 0 || token >= vocabulary {
			return openai.Invalid("invalid_json", "token %d is not in [0, %d]", token, vocabulary-1)
		}
	}
	return nil
}

func (r *request) setLimit(context int) *openai.Error {
	free := context - len(r.prompt)
	r.limit = r.MaxTokens
	if r.limit == 0 {
		r.limit = min(defaultAnswer, max(1, free))
	}
	if r.limit > free {
		const advice = "a prompt of %d tokens and an answer of %d are more than the context of %d: " +
			"shorten one of them, or start the server with a larger --context"
		return openai.Invalid("context_length_exceeded", advice, len(r.prompt), r.limit, context)
	}
	return nil
}

var roles = []string{"system", "developer", "user", "assistant", "tool"}

func checkMessages(messages []openai.Message) *openai.Error {
	for _, m := range messages {
		if !slices.Contains(roles, m.Role) {
			return openai.Invalid("invalid_value", "there is no role %.64q: choose one of %s", m.Role, strings.Join(roles, ", "))
		}
		if m.Content.Foreign != "" {
			return openai.Invalid("invalid_json", "content of type %.64q: only text is understood", m.Content.Foreign)
		}
	}
	return nil
}

// chatPrompt writes a chat as one prompt: a line "role: content" for each
// message, and then "assistant: " for the answer to follow.
func chatPrompt(messages []openai.Message) string {
	var b strings.Builder
	for _, m := range messages {
		b.WriteString(m.Role + ": " + strings.Join(m.Content.Texts, "") + "\n")
	}
	b.WriteString("assistant: ")
	return b.String()
}
