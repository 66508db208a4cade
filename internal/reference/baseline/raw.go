package baseline

import (
	"bytes"
	"encoding/json"
)

func (r *reader) skip() { r.scratch = r.compact(r.scratch[:0]) }

// raw reads any value and returns it in compact form.
func (r *reader) raw() json.RawMessage {
	r.skip()
	return bytes.Clone(r.scratch)
}

// compact reads any value and appends it to b as the encoder would write it on
// one line.
func (r *reader) compact(b []byte) []byte {
	switch c := r.peek(); {
	case c == '{' || c == '[':
		return r.compactItems(b, c)
	case c == '"':
		return appendString(b, string(r.str()))
	case literalByte(c):
		lit := r.literal()
		if !json.Valid(lit) {
			r.note(r.pos, "%s is not a JSON value: write a number, true, false or null, or put it in quotes", clip(string(lit)))
		}
		r.pos += len(lit)
		return append(b, lit...)
	}
	r.unexpected("a value")
	return b
}

func (r *reader) compactItems(b []byte, opening byte) []byte {
	if !r.enter() {
		return b
	}
	closing := opening + 2 // in ASCII, for both kinds
	b = append(b, opening)
	for first := true; r.more(closing, first); first = false {
		if !first {
			b = append(b, ", "...)
		}
		if opening == '{' {
			b = appendString(b, string(r.str()))
			if r.peek() != ':' {
				r.unexpected("a colon")
				return b
			}
			r.pos++
			b = append(b, ": "...)
		}
		b = r.compact(b)
	}
	r.depth--
	return append(b, closing)
}
