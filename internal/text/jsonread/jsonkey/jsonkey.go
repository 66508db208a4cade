// Package jsonkey finds keys that occur twice in one object of a JSON text.
// Readers disagree on which of the two values counts, so a result that has such
// a key reports two numbers under one name. It is pure and decodes no values.
package jsonkey

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// ErrContradiction is wrapped by the error for an input that reports two
// numbers under one name.
var ErrContradiction = errors.New("the result contradicts itself")

// Check returns an error that wraps [ErrContradiction] and names the key
// if a key occurs twice in one object of data, at any depth. Keys are compared
// byte by byte, after their escapes are decoded. data should be valid JSON, or
// several values one after another; in other text Check finds what it can. It
// takes O(n log n) time for n keys and does not change data.
func Check(data []byte) error { return check(data, func(key []byte) []byte { return key }) }

// CheckFold is [Check] for readers that ignore the letter case of keys, as
// encoding/json does with fields and System.Text.Json with its option.
func CheckFold(data []byte) error { return check(data, bytes.ToLower) }

func check(data []byte, form func([]byte) []byte) error {
	var keys [][]byte // of all open objects
	var open []int    // where the keys of each open value start
	for i := 0; i < len(data); i++ {
		switch data[i] {
		case '"':
			end := closing(data, i)
			if len(open) > 0 && isKey(data, end) {
				keys = append(keys, form(decoded(data[i:min(end+1, len(data))])))
			}
			i = end
		case '{', '[':
			open = append(open, len(keys))
		case '}', ']':
			if len(open) == 0 {
				continue
			}
			first := open[len(open)-1]
			if key, found := repeated(keys[first:]); found {
				return fmt.Errorf("%w: the key %.80q occurs twice in one object; print it once", ErrContradiction, key)
			}
			open, keys = open[:len(open)-1], keys[:first]
		}
	}
	return nil
}

// closing returns the index of the quote that ends the string at i, or the
// length of data.
func closing(data []byte, i int) int {
	for i++; i < len(data) && data[i] != '"'; i++ {
		if data[i] == '\\' {
			i++
		}
	}
	return min(i, len(data))
}

// isKey reports whether a colon follows the string that ends at end.
func isKey(data []byte, end int) bool {
	for i := end + 1; i < len(data); i++ {
		switch data[i] {
		case ' ', '\t', '\r', '\n':
		default:
			return data[i] == ':'
		}
	}
	return false
}

// decoded returns the text of a quoted string; text that is no JSON string
// stays as it is.
func decoded(quoted []byte) []byte {
	if bytes.IndexByte(quoted, '\\') >= 0 || !utf8.Valid(quoted) {
		var s string
		if json.Unmarshal(quoted, &s) == nil {
			return []byte(s)
		}
	}
	return bytes.Trim(quoted, `"`)
}

// fewKeys is the number of keys up to which comparing each pair is faster than
// sorting.
const fewKeys = 16

// repeated returns a key that occurs twice. It changes the order of keys.
func repeated(keys [][]byte) (key []byte, found bool) {
	if len(keys) > fewKeys {
		slices.SortFunc(keys, bytes.Compare)
		for i := 1; i < len(keys); i++ {
			if bytes.Equal(keys[i-1], keys[i]) {
				return keys[i], true
			}
		}
		return nil, false
	}
	for i, key := range keys {
		if slices.ContainsFunc(keys[:i], func(k []byte) bool { return bytes.Equal(k, key) }) {
			return key, true
		}
	}
	return nil, false
}
