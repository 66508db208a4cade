package engine

import (
	"bytes"
	"strings"
)

// The reasons for which an answer is complete.
const (
	finishLength = "length" // as many tokens as were asked for
	finishStop   = "stop"   // a stop string came
)

// cutter ends an answer before the first of its stop strings. What may be the
// beginning of one is held back until that is clear.
type cutter struct {
	stops []string // none is empty
	held  []byte
}

// next takes a byte of the answer and returns what can be shown, until the
// next call; done says that a stop string is complete.
func (c *cutter) next(b byte) (shown []byte, done bool) {
	c.held = append(c.held, b)
	longest, open := 0, 0
	for _, stop := range c.stops {
		if bytes.HasSuffix(c.held, []byte(stop)) {
			longest = max(longest, len(stop))
		}
		open = max(open, overlap(c.held, stop))
	}
	if longest > 0 {
		return c.held[:len(c.held)-longest], true
	}
	shown = c.held[:len(c.held)-open]
	c.held = c.held[len(shown):]
	return shown, false
}

// rest returns what is held back at the end of the answer.
func (c *cutter) rest() []byte { return c.held }

// overlap returns the length of the longest beginning of stop, short of all of
// it, that text ends with.
func overlap(text []byte, stop string) int {
	for n := min(len(text), len(stop)-1); n > 0; n-- {
		if strings.HasPrefix(stop, string(text[len(text)-n:])) {
			return n
		}
	}
	return 0
}
