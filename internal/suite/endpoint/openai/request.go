package openai

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"unicode/utf8"
)

// Message is one message of a chat.
type Message struct {
	Role    string `json:"role"`
	Content string `json:"content"`
}

// Request is what is asked for. It is always asked for as a stream with the
// server's own count of tokens at its end.
type Request struct {
	// Chat asks /v1/chat/completions; else /v1/completions is asked.
	Chat  bool
	Model string
	// Prompt is the text; in a chat the user's only message, after System if
	// that is not "". Messages replace both.
	Prompt, System string
	Messages       []Message
	// Image is the URL of an image that the last message shows; "" is none.
	Image string

	MaxTokens int // 0 leaves it to the server
	// IgnoreEOS asks for exactly MaxTokens tokens. vLLM, SGLang and llama.cpp
	// know it.
	IgnoreEOS   bool
	Temperature *float64
	Stop        []string
	// Extra are further fields, as JSON. They may not repeat what the request
	// says itself.
	Extra map[string]json.RawMessage
}

// Body is a request that is ready to be sent, any number of times and at once.
type Body struct {
	path string
	mime string // "" is JSON
	data []byte
	// Of a request whose answer comes as a whole: how many inputs it has, and
	// what checks an answer to so many and returns the tokens that were counted.
	inputs int
	check  func(answer []byte, inputs int) (tokens int, err error)
}

// Bytes are what is sent. They must not be changed.
func (b Body) Bytes() []byte { return b.data }

const (
	chatPath = "/v1/chat/completions"
	textPath = "/v1/completions"
)

// Path is where it is sent, below the server's root.
func (b Body) Path() string { return b.path }

// Streams reports whether the answer is a stream, see [Client.Stream] and
// [Client.Whole].
func (b Body) Streams() bool { return b.check == nil }

// Encode writes the request with its fields sorted, so that equal requests
// are equal bytes.
func Encode(r Request) (Body, error) {
	if err := r.check(); err != nil {
		return Body{}, err
	}
	fields := r.fields()
	for name, value := range r.Extra {
		if _, said := fields[name]; said || name == "n" {
			return Body{}, fmt.Errorf("extra field %.80q is set by accelgate itself: leave it out", name)
		}
		if !json.Valid(value) {
			return Body{}, fmt.Errorf("extra field %.80q is not JSON: correct it", name)
		}
		fields[name] = value
	}
	var b bytes.Buffer
	encoder := json.NewEncoder(&b)
	encoder.SetEscapeHTML(false)
	if err := encoder.Encode(fields); err != nil {
		return Body{}, fmt.Errorf("encode the request: %w", err)
	}
	path := textPath
	if r.Chat {
		path = chatPath
	}
	return Body{path: path, data: bytes.TrimSuffix(b.Bytes(), []byte("\n"))}, nil
}

func (r Request) check() error {
	switch {
	case r.Model == "":
		return errors.New("a request without a model: name one that the server serves")
	case !r.Chat && (len(r.Messages) > 0 || r.System != ""):
		return errors.New("messages or a system text without chat: use the chat endpoint, or give a prompt")
	case len(r.Messages) > 0 && (r.Prompt != "" || r.System != ""):
		return errors.New("a request with messages and a prompt: give one of them")
	case r.Image != "" && !r.Chat:
		return errors.New("an image without chat: use the chat endpoint")
	case len(r.Messages) == 0 && r.Prompt == "":
		return errors.New("a request without a prompt: give one")
	case r.MaxTokens < 0:
		return errors.New("a negative number of tokens: use 0 to leave it to the server")
	case r.IgnoreEOS && r.MaxTokens == 0:
		return errors.New("ignore_eos without max_tokens would never end: set max_tokens")
	case r.Temperature != nil && (math.IsNaN(*r.Temperature) || math.IsInf(*r.Temperature, 0)):
		return errors.New("the temperature is not a number: correct it")
	}
	// The encoder would replace such bytes, and another prompt be measured.
	for _, text := range append([]string{r.Model, r.Prompt, r.System}, r.Stop...) {
		if !utf8.ValidString(text) {
			return fmt.Errorf("text %.40q is not UTF-8: correct the dataset", text)
		}
	}
	for _, m := range r.Messages {
		if !utf8.ValidString(m.Content) || !utf8.ValidString(m.Role) {
			return fmt.Errorf("message %.40q is not UTF-8: correct the dataset", m.Content)
		}
	}
	return nil
}

func (r Request) fields() map[string]any {
	f := map[string]any{"model": r.Model, "stream": true, "stream_options": map[string]bool{"include_usage": true}}
	switch {
	case !r.Chat:
		f["prompt"] = r.Prompt
	case len(r.Messages) > 0:
		f["messages"] = r.Messages
	case r.System != "":
		f["messages"] = []Message{{"system", r.System}, {"user", r.Prompt}}
	default:
		f["messages"] = []Message{{"user", r.Prompt}}
	}
	if messages, chat := f["messages"].([]Message); chat && r.Image != "" {
		f["messages"] = withImage(messages, r.Image)
	}
	if r.MaxTokens > 0 {
		f["max_tokens"] = r.MaxTokens
	}
	if r.IgnoreEOS {
		f["ignore_eos"] = true
	}
	if r.Temperature != nil {
		f["temperature"] = *r.Temperature
	}
	if len(r.Stop) > 0 {
		f["stop"] = r.Stop
	}
	return f
}

// withImage returns the messages, the last of which is a list of parts: its text
// and the image.
func withImage(messages []Message, url string) []any {
	all := make([]any, len(messages))
	for i, m := range messages {
		all[i] = m
	}
	last := messages[len(messages)-1]
	all[len(all)-1] = map[string]any{"role": last.Role, "content": []any{
		map[string]string{"type": "text", "text": last.Content},
		map[string]any{"type": "image_url", "image_url": map[string]string{"url": url}}}}
	return all
}
