package formats

import (
	"bytes"
	"encoding/json"
	"fmt"
	"math"

	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// object is a JSON object whose members are decoded when they are read:
// results carry arrays with a number for each token, which no metric needs.
type object map[string]json.RawMessage

// has reports whether o has all of the members.
func (o object) has(names ...string) bool {
	for _, name := range names {
		if _, ok := o[name]; !ok {
			return false
		}
	}
	return true
}

// number returns the number of a member. A null counts as missing.
func (o object) number(name string) (v float64, ok bool, err error) {
	raw, ok := o[name]
	if !ok {
		return 0, false, nil
	}
	dec := json.NewDecoder(bytes.NewReader(raw))
	dec.UseNumber()
	var value any
	if err := dec.Decode(&value); err != nil {
		return 0, true, fmt.Errorf("value at %s: %w", name, err)
	}
	if word, _ := value.(string); notFinite[word] {
		return 0, true, fmt.Errorf("value at %s is %s", name, word)
	}
	return (&Document{root: map[string]any{name: value}}).Number(field(name))
}

// count returns a member that counts something.
func (o object) count(name string) (n int64, ok bool, err error) {
	v, ok, err := o.number(name)
	if err == nil && (v < 0 || v > 1<<53 || v != math.Trunc(v)) {
		err = fmt.Errorf("value at %s is %v, which is not a count", name, v)
	}
	if err != nil {
		return 0, ok, fmt.Errorf("%w: see whether the output is this program's", err)
	}
	return int64(v), ok, nil
}

// objects returns the JSON objects in text that stand alone or in an array.
// JSON starts at the beginning of a line or after other JSON; anything else is
// taken for a log. Python and C++ print numbers that are not finite as words
// that JSON does not have: they become strings.
//
// broken is why JSON over several lines was not understood, which matters
// where nothing else was found. JSON that is cut off at the end of the text,
// or too large, is an error, and so is a key that occurs twice in one object.
func objects(text []byte) (found []object, broken, err error) {
	size := 0
	for at := len(text) - len(bytes.TrimPrefix(text, []byte("\ufeff"))); at < len(text); {
		if c := text[at]; c != '{' && c != '[' {
			at = nextLine(text, at)
			continue
		}
		value, length, ok := span(text[at:])
		if !ok && at+length == len(text) {
			return nil, nil, fmt.Errorf("the JSON that starts on line %d is cut off: see in the log why the program ended early",
				line(text, at))
		}
		if size += values(value); size > maxValues {
			return nil, nil, fmt.Errorf("output holds no JSON result: %w", errTooLarge)
		}
		list, jsonErr := unpack(value)
		if !ok || jsonErr != nil {
			if broken == nil && bytes.IndexByte(text[at:at+length], '\n') >= 0 {
				broken = fmt.Errorf("the JSON that starts on line %d is not valid: see what the program printed in the middle of it",
					line(text, at))
			}
			at = nextLine(text, at)
			continue
		}
		if err := jsonkey.Check(value); err != nil {
			return nil, nil, err
		}
		found = append(found, list...)
		at += length
		if rest := bytes.TrimLeft(text[at:], " \t\r"); len(rest) > 0 && (rest[0] == '{' || rest[0] == '[') {
			at = len(text) - len(rest)
			continue
		}
		at = nextLine(text, at)
	}
	return found, broken, nil
}

// nextLine returns where the line after the one at starts.
func nextLine(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

func line(text []byte, at int) int { return 1 + bytes.Count(text[:at], []byte{'\n'}) }

// unpack returns the object that value is, or the objects in the array that it
// is.
func unpack(value []byte) ([]object, error) {
	if len(value) == 0 {
		return nil, errNoJSON
	}
	if value[0] == '{' {
		var o object
		err := json.Unmarshal(value, &o)
		return []object{o}, err
	}
	var items []json.RawMessage
	if err := json.Unmarshal(value, &items); err != nil {
		return nil, err
	}
	var list []object
	for _, item := range items {
		if item[0] != '{' {
			continue
		}
		var o object
		if err := json.Unmarshal(item, &o); err != nil {
			return nil, err
		}
		list = append(list, o)
	}
	return list, nil
}

// maxNesting bounds the time that finding JSON takes: a byte is looked at once
// for each bracket that is open before it.
const maxNesting = 16

// span returns the JSON array or object that text starts with, words for
// numbers that are not finite replaced by strings. It reports where it stopped
// and ok == false at what cannot be part of JSON, or at the end of the text;
// what it accepts may still not be JSON. In JSON no string holds a line break,
// so a quotation mark in a log does not swallow what follows.
func span(text []byte) (value []byte, length int, ok bool) {
	depth, kept := 0, 0
	for i := 0; i < len(text); {
		token := 1
		switch classes[text[i]] {
		case opening:
			if depth++; depth > maxNesting {
				return nil, i, false
			}
		case closing:
			if depth--; depth > 0 {
				break
			}
			if value == nil {
				return text[:i+1], i + 1, true
			}
			return append(value, text[kept:i+1]...), i + 1, true
		case quote:
			if token = stringLength(text[i:]); token == 0 {
				return nil, i, false
			}
		case letter:
			token = wordLength(text[i:])
			switch word := text[i : i+token]; {
			case notFinite[string(word)]:
				value = append(value, text[kept:i]...)
				value = append(append(append(value, '"'), word...), '"')
				kept = i + token
			case !inJSON[string(word)] && i+token < len(text):
				return nil, i, false
			}
		case foreign:
			return nil, i, false
		}
		i += token
	}
	return nil, len(text), false
}

// The classes of bytes outside of strings. Numbers are only passed over.
const (
	foreign = iota
	passed
	opening
	closing
	quote
	letter // starts a word, as a sign may
)

var classes = func() (c [256]byte) {
	for class, bytes := range map[byte]string{passed: " \t\r\n,:0123456789.+", opening: "{[", closing: "}]", quote: `"`, letter: "-"} {
		for _, b := range []byte(bytes) {
			c[b] = class
		}
	}
	for b := byte('a'); b <= 'z'; b++ {
		c[b], c[b-'a'+'A'] = letter, letter
	}
	return c
}()

// notFinite are the words of Python's json and of C++'s to_string; inJSON are
// JSON's own and the pieces of numbers that hold a sign or an exponent.
var (
	notFinite = map[string]bool{"NaN": true, "Infinity": true, "-Infinity": true, "nan": true, "-nan": true, "inf": true, "-inf": true}
	inJSON    = map[string]bool{"true": true, "false": true, "null": true, "-": true, "e": true, "E": true, "e-": true, "E-": true}
)

func wordLength(text []byte) int {
	n := 1
	for n < len(text) && classes[text[n]] == letter {
		n++
	}
	return n
}

func stringLength(text []byte) int {
	for i := 1; i < len(text); i++ {
		switch text[i] {
		case '"':
			return i + 1
		case '\\':
			if i++; i < len(text) && text[i] == '\n' {
				return 0
			}
		case '\n':
			return 0
		}
	}
	return len(text)
}
