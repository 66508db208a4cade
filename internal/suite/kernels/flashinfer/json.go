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

// value is a JSON value and the line that it stands on: encoding/json neither
// says where a value stands, nor keeps the order of keys, nor reports a key
// that is given twice. Its kind is its first byte, '0' for all numbers.
type value struct {
	kind    byte // '{', '[', '"', '0', 't', 'f' or 'n'
	line    int
	text    string   // of a string what it says, of a number how it is written
	raw     []byte   // of an object or a list, how it is written
	members []member // of an object, and without keys those of a list
}

type member struct {
	key string
	value
}

// describe returns what a value is, for a message.
func (v value) describe() string {
	switch v.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "the text " + quote(v.text)
	case '0':
		return "the number " + plain(v.text[:min(len(v.text), 40)])
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
	p := parser{Reader: jsonread.New(text), text: text, line: line}
	v, err := p.value(0)
	if err == nil {
		err = p.End()
	}
	switch {
	case err == nil:
		return v, nil
	case errors.Is(err, errTooLarge):
		return value{}, &syntaxError{p.line, false, err.Error()}
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

// parser builds the tree of a text.
type parser struct {
	*jsonread.Reader
	text    []byte
	line    int // of the byte at counted
	counted int
	values  int
}

var errTooLarge = fmt.Errorf("nests deeper than %d, or holds more than %d values; make it smaller", maxDepth, maxValues)

func (p *parser) value(depth int) (v value, err error) {
	start := p.Next()
	p.line += bytes.Count(p.text[p.counted:start], newline)
	p.counted = start
	if p.values++; depth > maxDepth || p.values > maxValues {
		return v, errTooLarge
	}
	add := func(key []byte) error {
		m, err := p.value(depth + 1)
		v.members = append(v.members, member{string(key), m})
		return err
	}
	v.line, v.kind = p.line, byte(p.PeekKind())
	switch v.kind {
	case '{':
		err = p.Object(add)
	case '[':
		err = p.List(func() error { return add(nil) })
	case '"':
		text, err := p.Text()
		v.text = string(text)
		return v, err
	default:
		raw, err := p.ReadValue()
		if v.kind == '0' {
			v.text = string(raw)
		}
		return v, err
	}
	v.raw = p.text[start:p.InputOffset()]
	return v, err
}
