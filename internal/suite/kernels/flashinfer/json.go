package flashinfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text/jsonread"
)

// The limits of one document, far above every real one: two bytes of input
// must not become a value of a hundred bytes by the million.
const (
	maxDepth  = 50
	maxValues = 1 << 20
)

type (
	value  = jsonread.Value
	member = jsonread.Member
)

// describe returns what a value is, for a message.
func describe(v value) string {
	switch v.Kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "the text " + quote(v.Text)
	case '0':
		return "the number " + plain(v.Text[:min(len(v.Text), 40)])
	case 't':
		return "true"
	case 'f':
		return "false"
	}
	return "null"
}

// syntaxError is why a text is no JSON document.
type syntaxError struct {
	line    int
	cutOff  bool // it is the beginning of a document
	message string
}

// parse reads one document, whose first line is the given one of its file.
func parse(text []byte, line int) (value, *syntaxError) {
	if at := invalid(text); at < len(text) {
		cutOff := !utf8.FullRune(text[at:]) && beginning(text[:at])
		return value{}, &syntaxError{line + bytes.Count(text[:at], newline), cutOff, "is not UTF-8; save it as UTF-8"}
	}
	r := jsonread.New(text)
	v, err := r.Tree(line, maxDepth, maxValues)
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, jsonread.ErrTooLarge):
		at := line + bytes.Count(text[:r.Next()], newline)
		return value{}, &syntaxError{at, false, fmt.Sprintf("nests deeper than %d, or holds more than %d values; make it smaller", maxDepth, maxValues)}
	}
	return value{}, noJSON(text, line, json.Unmarshal(text, new(json.RawMessage)))
}

var newline = []byte("\n")

// invalid returns the index of the first byte that is not UTF-8, or the length.
func invalid(text []byte) (at int) {
	if utf8.Valid(text) {
		return len(text)
	}
	for at < len(text) {
		r, size := utf8.DecodeRune(text[at:])
		if r == utf8.RuneError && size == 1 {
			break
		}
		at += size
	}
	return at
}

// beginning reports whether a text that is no document could be made one by
// writing more behind it.
func beginning(text []byte) bool {
	err := json.NewDecoder(bytes.NewReader(text)).Decode(new(json.RawMessage))
	return errors.Is(err, io.ErrUnexpectedEOF) || errors.Is(err, io.EOF)
}

// noJSON returns in our words what encoding/json has found.
func noJSON(text []byte, line int, err error) *syntaxError {
	at := len(text)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = min(max(int(syntax.Offset)-1, 0), len(text))
	}
	e := &syntaxError{line: line + bytes.Count(text[:at], newline)}
	switch rest := text[at:]; {
	case bytes.HasPrefix(text, []byte("\ufeff")):
		e.message = "starts with a byte order mark; save it as UTF-8 without one"
	case beginning(text):
		e.cutOff, e.message = true, "ends too early; write the rest, or restore the file"
	case bytes.HasPrefix(rest, []byte("N")) || bytes.HasPrefix(rest, []byte("I")):
		e.message = `NaN and Infinity are no JSON; write "NaN" or "Infinity" with quotes`
	default:
		e.message = fmt.Sprintf("is not JSON (%s); correct it, or restore the file", plain(err.Error()))
	}
	return e
}
