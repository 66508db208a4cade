package dataset

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// jsonl adds the prompt of a line such as
//
//	{"prompt": "Say hello.", "output_tokens": 16}
//	{"messages": [{"role": "user", "content": "Say hello."}], "max_tokens": 16}
//
// The first is also what vLLM's custom datasets look like. Other keys are
// passed over, because recorded requests have many.
func (c *collector) jsonl(o object) error {
	it := item{}
	var err error
	switch {
	case o.has("prompt") && o.has("messages"):
		return errors.New("the line has prompt and messages: keep one of the two")
	case o.has("prompt"):
		err = it.setPrompt(o)
	case o.has("messages"):
		it.messages, err = readMessages(o["messages"])
		for _, m := range it.messages {
			it.length += countWords(m.Content)
		}
	default:
		return missingPrompt(o)
	}
	if err == nil {
		it.output, err = outputTokens(o)
	}
	if err != nil {
		return err
	}
	return c.add(it)
}

func (it *item) setPrompt(o object) error {
	text, err := o.text("prompt")
	if err != nil {
		return err
	}
	if it.length = countWords(text); it.length == 0 {
		return errors.New("prompt is empty: write a text or remove the line")
	}
	it.parts = []part{{text: text}}
	return nil
}

func missingPrompt(o object) error {
	const next = `write {"prompt": "..."} or {"messages": [...]}`
	for _, key := range slices.Sorted(maps.Keys(o)) {
		if near := text.Nearest(strings.ToLower(key), []string{"prompt", "messages"}); near != "" && !o.has(near) && key != near {
			return fmt.Errorf("the line has neither prompt nor messages but %.40q: did you mean %s? Otherwise %s", key, near, next)
		}
	}
	return errors.New("the line has neither prompt nor messages: " + next)
}

// maxMessages bounds the turns of a conversation.
const maxMessages = 10_000

var roles = []string{"system", "developer", "user", "assistant", "tool"}

func readMessages(raw json.RawMessage) ([]Message, error) {
	var list []object
	if err := json.Unmarshal(raw, &list); err != nil {
		return nil, fmt.Errorf(`messages is %s and not a list of objects: write [{"role": "user", "content": "..."}]`, excerpt(raw))
	}
	if len(list) > maxMessages {
		return nil, fmt.Errorf("messages has %d turns and may have %d: shorten it", len(list), maxMessages)
	}
	var all []Message
	said := false
	for i, o := range list {
		m, err := readMessage(o)
		if err != nil {
			return nil, fmt.Errorf("message %d: %w", i+1, err)
		}
		said = said || strings.TrimSpace(m.Content) != ""
		all = append(all, m)
	}
	if !said {
		return nil, errors.New("messages has no content: write a message with content, or remove the line")
	}
	return all, nil
}

func readMessage(o object) (m Message, err error) {
	if m.Role, err = o.text("role"); err != nil {
		return m, err
	}
	if !slices.Contains(roles, m.Role) {
		return m, unknown("role", m.Role, roles...)
	}
	m.Content, err = o.text("content")
	return m, err
}

// outputTokens returns what a line says of its answer's length, 0 if nothing.
func outputTokens(o object) (n int, err error) {
	for _, key := range []string{"output_tokens", "max_tokens"} {
		if !o.has(key) {
			continue
		}
		v, err := o.count(key, MaxOutput)
		if err != nil {
			return 0, err
		}
		if n != 0 && n != v {
			return 0, fmt.Errorf("output_tokens is %d and max_tokens %d: keep one of the two", n, v)
		}
		n = v
	}
	return n, nil
}
