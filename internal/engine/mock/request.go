package mock

import (
	"strings"

	"github.com/accelgate/accelgate/internal/engine/openai"
)

// maxBody bounds a request, in bytes.
const maxBody = 32 << 20

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

	openai.Request     // without its texts
	PromptTokens   int // words of the prompt, or its token ids where it is given as such
}

// readRequest understands a request or says what is wrong with it.
func readRequest(data []byte, chat bool) (Request, *openai.Error) {
	in, refused := openai.Parse(data, chat)
	switch {
	case refused != nil:
		return Request{}, refused
	case in.MaxTokens > maxTokens:
		return Request{}, openai.Invalid("invalid_value", "max_tokens is %d: choose 1 to %d", in.MaxTokens, maxTokens)
	}
	r := Request{Request: *in}
	r.Messages, r.Prompt, r.Stop = nil, nil, nil
	if !chat {
		r.PromptTokens = len(in.Prompt.Tokens) + words(in.Prompt.Text)
		return r, nil
	}
	for _, m := range in.Messages {
		for _, text := range m.Content.Texts {
			r.PromptTokens += words(text)
		}
	}
	return r, nil
}

func words(text string) int { return len(strings.Fields(text)) }
