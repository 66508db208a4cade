package openai

import "strconv"

// cursor walks over one JSON value without decoding skipped members.
// It is as strict as encoding/json about what JSON is; bad is set, and stays,
// where the text is none.
type cursor struct {
	b     []byte
	i     int
	depth int
	bad   bool
}

// maxDepth is that of encoding/json.
const maxDepth = 10000

func (c *cursor) fail() { c.bad, c.i = true, len(c.b) }

// peek is the next byte that is no space, 0 at the end.
func (c *cursor) peek() byte {
	for ; c.i < len(c.b); c.i++ {
		switch b := c.b[c.i]; b {
		case ' ', '\t', '\r', '\n':
		default:
			return b
		}
	}
	return 0
}

// enter goes into an object or an array. Any other value it skips.
func (c *cursor) enter(bracket byte) bool {
	if c.peek() != bracket {
		c.skip()
		return false
	}
	c.i++
	if c.depth++; c.depth > maxDepth {
		c.fail()
	}
	return !c.bad
}

// more reports whether an object or an array that was entered has a member
// after the first n, and leaves it after its last.
func (c *cursor) more(bracket byte, n int) bool {
	next := c.peek()
	switch {
	case c.bad:
		return false
	case next == bracket:
		c.i++
		c.depth--
		return false
	case n == 0:
		return true
	case next != ',':
		c.fail()
		return false
	}
	c.i++
	if c.peek() == bracket {
		c.fail()
	}
	return !c.bad
}

// key reads a member's name and the colon. Names with escapes stay as they
// are written.
func (c *cursor) key() []byte {
	name := c.text()
	if c.peek() != ':' {
		c.fail()
		return nil
	}
	c.i++
	return name
}

// text reads a string and returns what is between the quotes, as written.
func (c *cursor) text() []byte {
	if c.peek() != '"' {
		c.fail()
		return nil
	}
	c.i++
	for start := c.i; c.i < len(c.b); c.i++ {
		switch b := c.b[c.i]; {
		case b == '"':
			c.i++
			return c.b[start : c.i-1]
		case b < ' ':
			c.fail()
		case b == '\\':
			c.escape()
		}
	}
	c.fail()
	return nil
}

// escape reads an escape but for its last byte.
func (c *cursor) escape() {
	c.i++
	if c.i >= len(c.b) {
		c.fail()
		return
	}
	switch c.b[c.i] {
	case '"', '\\', '/', 'b', 'f', 'n', 'r', 't':
	case 'u':
		for range 4 {
			if c.i++; c.i >= len(c.b) || !hexadecimal(c.b[c.i]) {
				c.fail()
				return
			}
		}
	default:
		c.fail()
	}
}

func hexadecimal(b byte) bool {
	return '0' <= b && b <= '9' || 'a' <= b && b <= 'f' || 'A' <= b && b <= 'F'
}

// skip reads any value and returns it as it is written.
func (c *cursor) skip() []byte {
	first := c.peek()
	start := c.i
	switch {
	case first == '"':
		c.text()
	case first == '{':
		if c.enter('{') {
			for n := 0; c.more('}', n); n++ {
				c.key()
				c.skip()
			}
		}
	case first == '[':
		if c.enter('[') {
			for n := 0; c.more(']', n); n++ {
				c.skip()
			}
		}
	case first == 't':
		c.literal("true")
	case first == 'f':
		c.literal("false")
	case first == 'n':
		c.literal("null")
	default:
		c.number()
	}
	if c.bad {
		return nil
	}
	return c.b[start:c.i]
}

func (c *cursor) literal(word string) {
	if len(c.b)-c.i < len(word) || string(c.b[c.i:c.i+len(word)]) != word {
		c.fail()
		return
	}
	c.i += len(word)
}

func (c *cursor) number() {
	c.accept('-', '-')
	switch {
	case c.accept('0', '0'):
	case !c.digits():
		c.fail()
	}
	if c.accept('.', '.') && !c.digits() {
		c.fail()
	}
	if c.accept('e', 'e') || c.accept('E', 'E') {
		_ = c.accept('+', '+') || c.accept('-', '-')
		if !c.digits() {
			c.fail()
		}
	}
}

// accept reads one byte if it is in a range.
func (c *cursor) accept(low, high byte) bool {
	if c.i < len(c.b) && low <= c.b[c.i] && c.b[c.i] <= high {
		c.i++
		return true
	}
	return false
}

func (c *cursor) digits() bool {
	start := c.i
	for c.accept('0', '9') {
	}
	return c.i > start
}

// float reads a number; ok is false for any other value.
func (c *cursor) float() (f float64, ok bool) {
	raw := c.skip()
	if len(raw) == 0 || raw[0] != '-' && (raw[0] < '0' || raw[0] > '9') {
		return 0, false
	}
	f, err := strconv.ParseFloat(string(raw), 64)
	return f, err == nil
}

// maxCount bounds the tokens that a server may claim.
const maxCount = 1 << 31

// count reads a number of tokens into n. Any other value leaves n
// as it is.
func (c *cursor) count(n *int) {
	if f, ok := c.float(); ok && f >= 0 && f < maxCount {
		*n = int(f)
	}
}
