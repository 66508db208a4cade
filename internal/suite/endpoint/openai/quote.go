package openai

import (
	"encoding/json"
	"net/url"
	"slices"
	"strings"
	"unicode"

	"github.com/accelgate/accelgate/internal/text"
)

// maxQuote bounds what is quoted of a server, in bytes.
const maxQuote = 300

const redacted = "***"

// minSecret is the length of a key, in bytes, from which on it is taken out
// of a server's text. Shorter ones, such as EMPTY and vllm, are written
// where a server demands any key at all: they are words, and a text without them
// would say something else. No key of any length is shown by ourselves.
const minSecret = 6

// spellings are the ways in which a server may echo the key.
func spellings(key string) []string {
	if len(key) < minSecret {
		return nil
	}
	text, _ := json.Marshal(key)
	return []string{key, strings.Trim(string(text), `"`), url.QueryEscape(key), url.PathEscape(key), strings.ReplaceAll(key, "/", `\/`)}
}

// quote makes a server's text fit to be shown: printable, on one line,
// bounded, without the key.
func (c *Client) quote(s string) string {
	// A key across the cut would survive in part: more is cleaned than is shown.
	if room := 8*maxQuote + 8*len(c.options.APIKey); len(s) > room {
		s = s[:room]
	}
	s = strings.Join(strings.Fields(strings.Map(printable, strings.ToValidUTF8(s, "?"))), " ")
	for _, secret := range c.secrets {
		s = strings.ReplaceAll(s, secret, redacted)
	}
	return text.Clip(s, maxQuote)
}

// holdsKey reports whether a text that is not changed may not be shown.
func (c *Client) holdsKey(s string) bool {
	return slices.ContainsFunc(c.secrets, func(secret string) bool { return strings.Contains(s, secret) })
}

func printable(r rune) rune {
	if unicode.IsSpace(r) {
		return ' '
	}
	if !unicode.IsPrint(r) {
		return '?'
	}
	return r
}

// message takes out of an error body what it says, whatever its shape:
// {"error":{"message":""}}, {"error":""}, {"message":""}, {"detail":""}; else
// the body itself.
func message(body []byte) string {
	var object map[string]json.RawMessage
	var alone string
	if json.Unmarshal(body, &alone) == nil {
		return alone
	}
	if json.Unmarshal(body, &object) != nil {
		return string(body)
	}
	for _, key := range []string{"error", "message", "detail"} {
		var text string
		value := object[key]
		if json.Unmarshal(value, &text) == nil && text != "" {
			return text
		}
		if len(value) > 0 && value[0] == '{' && len(value) < len(body) {
			return message(value)
		}
	}
	return string(body)
}
