package optrace

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"

	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// cursor reads a JSON text from front to back, at several times the speed of
// encoding/json, which matters for traces of 100 MB. Unread members are
// passed over and not checked, so that a NaN of Python in it does no harm; what
// encoding/json accepts is read as encoding/json reads it.
type cursor struct {
	data []byte
	at   int
}

var errCutOff = errors.New("the JSON is cut off: see in the program's log why it ended early")

// peek returns the next byte that is not space, and 0 at the end.
func (c *cursor) peek() byte {
	for c.at < len(c.data) {
		switch b := c.data[c.at]; b {
		case ' ', '\n', '\t', '\r':
			c.at++
		default:
			return b
		}
	}
	return 0
}

// invalid is the error for what stands at the cursor.
func (c *cursor) invalid() error {
	if c.at >= len(c.data) {
		return errCutOff
	}
	return fmt.Errorf("line %d of the JSON is not what this format has there: see what else was written into it",
		1+bytes.Count(c.data[:c.at], []byte{'\n'}))
}

// object calls member for each member; member takes the value. The key is valid
// until member returns.
func (c *cursor) object(member func(key []byte) error) error {
	return c.list('{', '}', func() error {
		key, err := c.key()
		if err != nil {
			return err
		}
		return member(key)
	})
}

// list calls element for each element between two brackets; element takes it.
func (c *cursor) list(open, end byte, element func() error) error {
	if c.peek() != open {
		return c.invalid()
	}
	c.at++
	if c.peek() == end {
		c.at++
		return nil
	}
	for {
		if err := element(); err != nil {
			return err
		}
		switch c.peek() {
		case ',':
			c.at++
		case end:
			c.at++
			return nil
		default:
			return c.invalid()
		}
	}
}

func (c *cursor) key() ([]byte, error) {
	if c.peek() != '"' {
		return nil, c.invalid()
	}
	raw, err := c.value()
	if err != nil {
		return nil, err
	}
	if c.peek() != ':' {
		return nil, c.invalid()
	}
	c.at++
	return decode(raw)
}

// value takes a value of any kind and returns it as it is written. It is not
// empty.
func (c *cursor) value() (raw []byte, err error) {
	first, start := c.peek(), c.at
	switch first {
	case '"':
		err = c.skipString()
	case '{', '[':
		err = c.skipNested()
	default:
		c.skipWord()
		if c.at == start {
			err = c.invalid()
		}
	}
	return c.data[start:c.at], err
}

// skipString passes over the string at the cursor.
func (c *cursor) skipString() error {
	for at := c.at + 1; ; at++ {
		n := bytes.IndexByte(c.data[at:], '"')
		if n < 0 {
			c.at = len(c.data)
			return errCutOff
		}
		at += n
		slashes := 0
		for c.data[at-1-slashes] == '\\' {
			slashes++
		}
		if slashes%2 == 0 {
			c.at = at + 1
			return nil
		}
	}
}

// skipNested passes over the object or array at the cursor.
func (c *cursor) skipNested() error {
	for depth := 0; c.at < len(c.data); {
		switch c.data[c.at] {
		case '"':
			if err := c.skipString(); err != nil {
				return err
			}
			continue
		case '{', '[':
			depth++
		case '}', ']':
			depth--
		}
		if c.at++; depth == 0 {
			return nil
		}
	}
	return errCutOff
}

// skipWord passes over a number or a word.
func (c *cursor) skipWord() {
	for ; c.at < len(c.data); c.at++ {
		switch c.data[c.at] {
		case ',', ':', '"', '{', '}', '[', ']', ' ', '\n', '\t', '\r':
			return
		}
	}
}

// end reports an error unless only space follows.
func (c *cursor) end() error {
	if c.peek() != 0 || c.at < len(c.data) {
		return c.invalid()
	}
	return nil
}

// decode returns the text of a JSON string.
func decode(raw []byte) ([]byte, error) {
	if len(raw) >= 2 && raw[0] == '"' && bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	if len(raw) == 0 {
		return nil, fmt.Errorf("%w: see whether the output is what this format is for", errMissing)
	}
	var s string
	if raw[0] != '"' || json.Unmarshal(raw, &s) != nil {
		return nil, fmt.Errorf("%s is not a string: see whether the output is what this format is for", quote(raw))
	}
	return []byte(s), nil
}

func isNull(raw []byte) bool { return string(raw) == "null" }

// document returns the JSON object that text is, or else its last line that is
// one, so that a program may log before and after.
func document(text []byte) ([]byte, error) {
	whole := bytes.TrimSpace(bytes.TrimPrefix(text, []byte("\ufeff")))
	if isObject(whole) {
		return whole, nil
	}
	for rest := whole; len(rest) > 0; {
		start := bytes.LastIndexByte(rest, '\n') + 1
		if line := bytes.TrimSpace(rest[start:]); isObject(line) {
			return line, nil
		}
		rest = rest[:max(start-1, 0)]
	}
	if len(whole) > 0 && whole[0] == '{' {
		c := cursor{data: whole}
		if _, err := c.value(); err != nil {
			return nil, err
		}
		return nil, c.invalid()
	}
	return nil, fmt.Errorf("the output %w: no line of it is a JSON object; print one", ErrNone)
}

// result returns the [document] of a program that reports its result in one. A
// key that occurs twice in one of its objects wraps [bench.ErrContradiction].
func result(text []byte) ([]byte, error) {
	found, err := document(text)
	if err != nil {
		return nil, err
	}
	return found, jsonkey.Check(found)
}

func isObject(text []byte) bool {
	c := cursor{data: text}
	if c.peek() != '{' {
		return false
	}
	_, err := c.value()
	return err == nil && c.end() == nil
}
