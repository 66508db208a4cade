package engine

import (
	"encoding/json"
	"errors"
	"fmt"
)

// contentText is the content of a message: a string, or parts of type text.
type contentText string

// UnmarshalJSON reads either form. Null is the empty text, which the messages
// of tool calls have.
func (c *contentText) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return json.Unmarshal(data, (*string)(c))
	}
	var parts []struct{ Type, Text string }
	if err := json.Unmarshal(data, &parts); err != nil {
		return err
	}
	var text []byte
	for _, p := range parts {
		if p.Type != "text" {
			return fmt.Errorf("content of type %.64q: only text is understood", p.Type)
		}
		text = append(text, p.Text...)
	}
	*c = contentText(text)
	return nil
}

// promptText is the prompt of a completion: a string, a list of one string, or
// a list of tokens, which are bytes.
type promptText string

// UnmarshalJSON reads each of the forms.
func (p *promptText) UnmarshalJSON(data []byte) error {
	if data[0] != '[' {
		return json.Unmarshal(data, (*string)(p))
	}
	var texts []string
	if json.Unmarshal(data, &texts) == nil {
		if len(texts) != 1 {
			return fmt.Errorf("%d prompts: send one in a request", len(texts))
		}
		*p = promptText(texts[0])
		return nil
	}
	var tokens []int
	if json.Unmarshal(data, &tokens) != nil {
		return errors.New("a prompt is a text, a list of one text, or a list of tokens")
	}
	text := make([]byte, len(tokens))
	for i, token := range tokens {
		if token < 0 || token >= vocabulary {
			return fmt.Errorf("token %d is not in [0, %d]", token, vocabulary-1)
		}
		text[i] = byte(token)
	}
	*p = promptText(text)
	return nil
}

// stopWords is a string or a list of strings.
type stopWords []string

// UnmarshalJSON reads either form.
func (s *stopWords) UnmarshalJSON(data []byte) error {
	if data[0] != '"' {
		return json.Unmarshal(data, (*[]string)(s))
	}
	*s = stopWords{""}
	return json.Unmarshal(data, &(*s)[0])
}
