package history

import (
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
)

// cursor goes through JSON that is known to be valid, without making anything of
// it: package json takes ten times as long for lists of short lists.
type cursor struct {
	data []byte
	at   int
}

// next skips white space and returns the byte after it.
func (c *cursor) next() byte {
	for {
		switch b := c.data[c.at]; b {
		case ' ', '\t', '\r', '\n':
			c.at++
		default:
			return b
		}
	}
}

// object calls each with every key; it must consume the value. The key is valid
// until the next one.
func (c *cursor) object(each func(key []byte) error) error {
	return c.list('{', '}', "an object", func() error {
		key, err := c.text()
		if err != nil {
			return err
		}
		c.next()
		c.at++ // the colon
		return each(key)
	})
}

// array calls each at every element; it must consume it.
func (c *cursor) array(each func() error) error { return c.list('[', ']', "a list", each) }

func (c *cursor) list(start, end byte, what string, each func() error) error {
	if c.next() != start {
		return fmt.Errorf("has something else where %s belongs", what)
	}
	c.at++
	for {
		switch c.next() {
		case end:
			c.at++
			return nil
		case ',':
			c.at++
			c.next()
		}
		if err := each(); err != nil {
			return err
		}
	}
}

// text returns a string.
func (c *cursor) text() ([]byte, error) {
	quoted := c.raw()
	for _, b := range quoted {
		if b == '\\' {
			var s string
			err := json.Unmarshal(quoted, &s)
			return []byte(s), err
		}
	}
	return quoted[1 : len(quoted)-1], nil
}

// number returns a number.
func (c *cursor) number() (float64, error) {
	if b := c.next(); b != '-' && (b < '0' || b > '9') {
		return 0, errors.New("has something else where a number belongs")
	}
	v, err := strconv.ParseFloat(string(c.raw()), 64)
	if err != nil {
		return 0, errors.New("has a number that is too large")
	}
	return v, nil
}

// raw returns the text of a value and goes on behind it.
func (c *cursor) raw() []byte {
	c.next()
	from, depth := c.at, 0
	for {
		switch c.data[c.at] {
		case '"':
			c.skipText()
		case '{', '[':
			depth++
			c.at++
		case '}', ']':
			if depth == 0 {
				return c.data[from:c.at] // of a number or a word
			}
			depth--
			c.at++
		case ',', ' ', '\t', '\r', '\n', ':':
			if depth == 0 {
				return c.data[from:c.at]
			}
			c.at++
			continue
		default:
			c.at++
			continue
		}
		if depth == 0 {
			return c.data[from:c.at]
		}
	}
}

// skipText goes behind a string.
func (c *cursor) skipText() {
	for c.at++; c.data[c.at] != '"'; c.at++ {
		if c.data[c.at] == '\\' {
			c.at++
		}
	}
	c.at++
}
