package inferencebench

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"unicode/utf16"
	"unicode/utf8"
)

// kind is what a JSON value is.
type kind byte

const (
	null kind = iota
	boolean
	number
	str
	array
	object
)

func (k kind) String() string {
	return [...]string{"null", "true or false", "a number", "a text", "a list", "an object"}[k]
}

// value is a JSON value that forgets nothing which the hash depends on:
// encoding/json turns 20.0 into 20, and surrogates without a partner into
// U+FFFD, both of which Python keeps.
type value struct {
	kind kind
	// text is a number as it is spelled, true or false, or a decoded string, in
	// which a surrogate without a partner is three bytes as if it were a
	// character. Comparing bytes so compares code points, as Python does.
	text  string
	keys  []string // of an object, in the order of the file
	items []value  // of an array, or an object's values
}

// The limits of a document: a file from elsewhere must not fill the memory.
const (
	maxBytes  = 16 << 20
	maxDepth  = 64
	maxValues = 1 << 20
	maxDigits = 4300 // of a number; Python refuses longer integers
)

// reader reads JSON as Python's json module does: with NaN, Infinity and
// -Infinity. Unlike Python it refuses keys that stand twice.
type reader struct {
	data          []byte
	pos           int
	depth, values int
}

// read reads one value that is all of data.
func read(data []byte) (value, error) {
	if len(data) > maxBytes {
		return value{}, fmt.Errorf("%d bytes are more than %d, which no envelope has: see whether this is the right file", len(data), maxBytes)
	}
	r := reader{data: bytes.TrimPrefix(data, []byte("\ufeff"))}
	if !utf8.Valid(r.data) {
		return value{}, errors.New("is not UTF-8: save it as UTF-8 without changing anything else")
	}
	v, err := r.value()
	if err == nil && r.peek() != 0 {
		err = r.bad("more text follows the document")
	}
	if err == nil && r.pos < len(r.data) {
		err = r.bad("a zero byte follows the document")
	}
	return v, err
}

func (r *reader) bad(format string, args ...any) error {
	line := 1 + bytes.Count(r.data[:min(r.pos, len(r.data))], []byte("\n"))
	return fmt.Errorf("line %d: %s: restore the file, or measure again", line, fmt.Sprintf(format, args...))
}

// peek moves over white space and returns the next byte, 0 at the end.
func (r *reader) peek() byte {
	for ; r.pos < len(r.data); r.pos++ {
		switch c := r.data[r.pos]; c {
		case ' ', '\t', '\r', '\n':
		default:
			return c
		}
	}
	return 0
}

func (r *reader) value() (value, error) {
	if r.values++; r.values > maxValues {
		return value{}, r.bad("more than %d values", maxValues)
	}
	switch r.peek() {
	case '{', '[':
		if r.depth++; r.depth > maxDepth {
			return value{}, r.bad("values are nested more than %d deep", maxDepth)
		}
		defer func() { r.depth-- }()
		if r.data[r.pos] == '[' {
			return r.array()
		}
		return r.object()
	case '"':
		s, err := r.text()
		return value{kind: str, text: s}, err
	}
	return r.literal()
}

// more moves to the next item and reports whether there is one; if not, it
// moves behind the closing byte.
func (r *reader) more(closing byte, first bool) (bool, error) {
	c := r.peek()
	switch {
	case c == closing:
		r.pos++
		return false, nil
	case first:
		return true, nil
	case c == ',':
		r.pos++
		if r.peek() != closing {
			return true, nil
		}
	}
	return false, r.bad("expected a comma and a value, or %q", string(closing))
}

func (r *reader) array() (value, error) {
	v := value{kind: array}
	r.pos++
	for first := true; ; first = false {
		if more, err := r.more(']', first); err != nil || !more {
			return v, err
		}
		item, err := r.value()
		if err != nil {
			return v, err
		}
		v.items = append(v.items, item)
	}
}

func (r *reader) object() (value, error) {
	v := value{kind: object}
	seen := map[string]bool{}
	r.pos++
	for first := true; ; first = false {
		if more, err := r.more('}', first); err != nil || !more {
			return v, err
		}
		key, err := r.text()
		switch {
		case err != nil:
			return v, err
		case seen[key]:
			return v, r.bad("%.100q stands twice in one object", key)
		case r.peek() != ':':
			return v, r.bad("expected a colon behind %.100q", key)
		}
		r.pos++
		item, err := r.value()
		if err != nil {
			return v, err
		}
		seen[key] = true
		v.keys, v.items = append(v.keys, key), append(v.items, item)
	}
}

func (r *reader) literal() (value, error) {
	start := r.pos
	for r.pos < len(r.data) && literalByte(r.data[r.pos]) {
		r.pos++
	}
	lit := string(r.data[start:r.pos])
	switch {
	case lit == "null":
		return value{}, nil
	case lit == "true" || lit == "false":
		return value{kind: boolean, text: lit}, nil
	case lit == "NaN" || lit == "Infinity" || lit == "-Infinity":
		return value{kind: number, text: lit}, nil
	case len(lit) > maxDigits:
		return value{}, r.bad("a number has more than %d digits", maxDigits)
	case numeric.MatchString(lit):
		return value{kind: number, text: lit}, nil
	case lit == "":
		return value{}, r.bad("expected a value, found %.20q", r.data[start:min(start+20, len(r.data))])
	}
	return value{}, r.bad("%.40q is not a value of JSON", lit)
}

func literalByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.'
}

func (r *reader) text() (string, error) {
	if r.peek() != '"' {
		return "", r.bad("expected a text in quotes")
	}
	r.pos++
	var out []byte
	for start := r.pos; r.pos < len(r.data); {
		switch c := r.data[r.pos]; {
		case c == '"':
			out = append(out, r.data[start:r.pos]...)
			r.pos++
			return string(out), nil
		case c < ' ':
			return "", r.bad("a text holds an unescaped control character")
		case c == '\\':
			out = append(out, r.data[start:r.pos]...)
			escape, err := r.escape()
			if err != nil {
				return "", err
			}
			out = appendCodePoint(out, escape)
			start = r.pos
		default:
			r.pos++
		}
	}
	return "", r.bad("a text is not closed")
}

// escape reads an escape, and two where they are the halves of one character.
func (r *reader) escape() (rune, error) {
	if r.pos+1 < len(r.data) {
		if i := bytes.IndexByte([]byte(`"\/bfnrt`), r.data[r.pos+1]); i >= 0 {
			r.pos += 2
			return rune("\"\\/\b\f\n\r\t"[i]), nil
		}
	}
	c, ok := r.hex()
	if !ok {
		return 0, r.bad("a text has an escape that JSON does not have")
	}
	r.pos += 6
	if low, ok := r.hex(); ok {
		if pair := utf16.DecodeRune(c, low); pair != utf8.RuneError {
			r.pos += 6
			return pair, nil
		}
	}
	return c, nil
}

// hex reads the \uXXXX that stands next, and does not move.
func (r *reader) hex() (rune, bool) {
	rest := r.data[r.pos:]
	if len(rest) < 6 || rest[0] != '\\' || rest[1] != 'u' {
		return 0, false
	}
	c, err := strconv.ParseUint(string(rest[2:6]), 16, 16)
	return rune(c), err == nil
}

// appendCodePoint is utf8.AppendRune that keeps surrogates.
func appendCodePoint(out []byte, c rune) []byte {
	if utf16.IsSurrogate(c) {
		return append(out, 0xe0|byte(c>>12), 0x80|byte(c>>6)&0x3f, 0x80|byte(c)&0x3f)
	}
	return utf8.AppendRune(out, c)
}

// codePoint undoes appendCodePoint for the first code point of s.
func codePoint(s string) (c rune, size int) {
	c, size = utf8.DecodeRuneInString(s)
	if size == 1 && len(s) >= 3 && s[0] == 0xed {
		return rune(s[0]&0x0f)<<12 | rune(s[1]&0x3f)<<6 | rune(s[2]&0x3f), 3
	}
	return c, size
}
