package flashinfer

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"unicode/utf8"
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

// describe says what a value is, for a message.
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
	if !json.Valid(text) {
		return value{}, noJSON(text, line, json.Unmarshal(text, new(json.RawMessage)))
	}
	p := parser{text: text, decoder: json.NewDecoder(bytes.NewReader(text)), line: line}
	p.decoder.UseNumber()
	v, err := p.value(0)
	if err != nil {
		return value{}, &syntaxError{p.line, false, err.Error()}
	}
	return v, nil
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

// noJSON says in our words what encoding/json has found.
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
		e.message = fmt.Sprintf("is no JSON (%s); correct it, or restore the file", plain(err.Error()))
	}
	return e
}

// parser builds the tree of a text that is known to be JSON.
type parser struct {
	text    []byte
	decoder *json.Decoder
	line    int // of the byte at counted
	counted int
	values  int
}

func (p *parser) value(depth int) (v value, err error) {
	token, err := p.decoder.Token()
	if err != nil {
		return v, err
	}
	if p.values++; depth > maxDepth || p.values > maxValues {
		return v, fmt.Errorf("nests deeper than %d, or holds more than %d values; make it smaller", maxDepth, maxValues)
	}
	v.line = p.lineHere()
	switch token := token.(type) {
	case json.Delim:
		return p.members(v, byte(token), depth)
	case string:
		v.kind, v.text = '"', token
	case json.Number:
		v.kind, v.text = '0', token.String()
	case bool:
		v.kind = 'f'
		if token {
			v.kind = 't'
		}
	default:
		v.kind = 'n'
	}
	return v, nil
}

// members reads what an object or a list holds, and its end.
func (p *parser) members(v value, kind byte, depth int) (value, error) {
	v.kind = kind
	start := p.decoder.InputOffset() - 1
	for p.decoder.More() {
		var m member
		var err error
		if kind == '{' {
			if m.key, err = p.key(); err != nil {
				return v, err
			}
		}
		if m.value, err = p.value(depth + 1); err != nil {
			return v, err
		}
		v.members = append(v.members, m)
	}
	if _, err := p.decoder.Token(); err != nil {
		return v, err
	}
	v.raw = p.text[start:p.decoder.InputOffset()]
	return v, nil
}

func (p *parser) key() (string, error) {
	token, err := p.decoder.Token()
	key, _ := token.(string)
	return key, err
}

// lineHere returns the line that the last token ends on, and so stands on: no
// token has a line break in it.
func (p *parser) lineHere() int {
	here := int(p.decoder.InputOffset())
	p.line += bytes.Count(p.text[p.counted:here], newline)
	p.counted = here
	return p.line
}
