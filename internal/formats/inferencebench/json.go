package inferencebench

import (
	"bytes"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf16"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text/jsonread"
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

// reader makes values of JSON as Python's json module reads it: with NaN, Infinity and
// -Infinity. Unlike Python it refuses keys that stand twice.
type reader struct{ data []byte }

// read reads one value that is all of data.
func read(data []byte) (value, error) {
	if len(data) > maxBytes {
		return value{}, fmt.Errorf("%d bytes are more than %d, which no envelope has: see whether this is the right file", len(data),
			maxBytes)
	}
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	if !utf8.Valid(data) {
		return value{}, errors.New("is not UTF-8: save it as UTF-8 without changing anything else")
	}
	r := reader{data}
	text := jsonread.New(finite(data))
	root, err := text.Tree(1, maxDepth, maxValues)
	at := text.Next()
	line := 1 + bytes.Count(data[:at], []byte("\n"))
	switch {
	case err == nil:
		return r.value(root)
	case errors.Is(err, jsonread.ErrTooLarge):
		return value{}, bad(line, "values are nested more than %d deep, or more than %d", maxDepth, maxValues)
	case !jsonread.Malformed(err):
		return value{}, err
	case at == len(data):
		return value{}, bad(line, "the document ends too early")
	}
	return value{}, bad(line, "%.20q is not JSON here", data[at:min(at+20, len(data))])
}

// finite returns data with numbers as long as the words in place of those that are
// not finite.
func finite(data []byte) []byte {
	nan, infinity := []byte("NaN"), []byte("Infinity")
	if !bytes.Contains(data, nan) && !bytes.Contains(data, infinity) {
		return data
	}
	out := bytes.Clone(data)
	inside := false // of a string
	for i := 0; i < len(out); i++ {
		switch rest := out[i:]; {
		case rest[0] == '"':
			inside = !inside
		case inside && rest[0] == '\\':
			i++
		case !inside && bytes.HasPrefix(rest, nan):
			copy(rest, "0e0")
		case !inside && bytes.HasPrefix(rest, infinity):
			copy(rest, "0e000000")
		}
	}
	return out
}

func bad(line int, format string, args ...any) error {
	return fmt.Errorf("line %d: %s: restore the file, or measure again", line, fmt.Sprintf(format, args...))
}

// kinds are those of values but numbers, by their first byte.
var kinds = map[byte]kind{'n': null, 't': boolean, 'f': boolean, '"': str, '[': array, '{': object}

func (r *reader) value(read jsonread.Value) (v value, err error) {
	v.kind = kinds[read.Kind]
	switch read.Kind {
	case 'n':
	case 't', 'f':
		v.text = read.Text
	case '"':
		v.text = unquote(string(r.data[read.At:read.End]))
	case '[', '{':
		seen := map[string]bool{}
		for _, m := range read.Members {
			if read.Kind == '{' {
				key := unquote(string(r.data[m.KeyAt:m.KeyEnd]))
				if seen[key] {
					return v, bad(m.Line, "%.100q occurs twice in one object", key)
				}
				seen[key] = true
				v.keys = append(v.keys, key)
			}
			item, err := r.value(m.Value)
			if err != nil {
				return v, err
			}
			v.items = append(v.items, item)
		}
	default:
		lit := string(r.data[read.At:read.End])
		v.kind, v.text = number, lit
		switch {
		case len(lit) > maxDigits:
			return v, bad(read.Line, "a number has more than %d digits", maxDigits)
		case lit != "NaN" && lit != "Infinity" && lit != "-Infinity" && lit != read.Text:
			return v, bad(read.Line, "%.40q is not a value of JSON", lit)
		}
	}
	return v, nil
}

// unquote decodes a string of JSON.
func unquote(s string) string {
	s = s[1 : len(s)-1]
	i := strings.IndexByte(s, '\\')
	if i < 0 {
		return s
	}
	var out []byte
	for ; i >= 0; i = strings.IndexByte(s, '\\') {
		c, size := escape(s[i:])
		out = appendCodePoint(append(out, s[:i]...), c)
		s = s[i+size:]
	}
	return string(append(out, s...))
}

// escape decodes an escape, and two where they are the halves of one character.
func escape(s string) (c rune, size int) {
	if i := strings.IndexByte(`"\/bfnrt`, s[1]); i >= 0 {
		return rune("\"\\/\b\f\n\r\t"[i]), 2
	}
	c = codeUnit(s)
	if len(s) >= 12 && s[6:8] == `\u` {
		if pair := utf16.DecodeRune(c, codeUnit(s[6:])); pair != utf8.RuneError {
			return pair, 12
		}
	}
	return c, 6
}

// codeUnit decodes \uXXXX.
func codeUnit(s string) rune {
	c, _ := strconv.ParseUint(s[2:6], 16, 16)
	return rune(c)
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
