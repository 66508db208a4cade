package casefile

import "encoding/json"

// maxDepth is how deep encoding/json lets values nest.
const maxDepth = 10_000

// value is a JSON value and its place in the file. Its kind is its first byte,
// '0' for all numbers.
type value struct {
	at, end int
	kind    byte     // '{', '[', '"', '0', 't', 'f' or 'n'
	text    string   // of a string what it says, of other scalars how they are written
	members []member // of an object, and without keys those of a list
}

// member is a key and its value. In a list only the value counts.
type member struct {
	at, end int // of the key, with its quotes
	key     string
	value   value
}

// scan reads the whole text into root, and reports whether it is valid JSON:
// exactly what encoding/json takes for it. The text is known to be UTF-8.
//
// The tree is our own, because encoding/json neither says where a value stands
// nor reports keys that are given twice; and it is checked while it is built,
// because checking first costs more than all the rest. Baselines have a reader
// of their own, which streams 100,000 entries and keeps no tree.
func (r *reader) scan() bool {
	root, ok := r.value(0)
	r.space()
	r.root = root
	return ok && r.pos == len(r.text)
}

// value reads a value at the given depth.
func (r *reader) value(depth int) (v value, ok bool) {
	r.space()
	v.at, v.kind = r.pos, r.peek()
	switch v.kind {
	case '{':
		v.members, ok = r.list('}', depth+1)
	case '[':
		v.members, ok = r.list(']', depth+1)
	case '"':
		v.text, ok = r.str()
	case 't':
		v.text, ok = r.word("true")
	case 'f':
		v.text, ok = r.word("false")
	case 'n':
		v.text, ok = r.word("null")
	default:
		v.kind, ok = '0', r.number()
		v.text = r.text[v.at:r.pos]
	}
	v.end = r.pos
	return v, ok
}

// list reads the members up to the closing byte. They are gathered on a stack,
// because a member may have members itself, and then kept side by side.
func (r *reader) list(closing byte, depth int) ([]member, bool) {
	first := len(r.stack)
	r.pos++
	if r.space(); r.accept(closing) {
		return nil, depth <= maxDepth
	}
	for depth <= maxDepth {
		var m member
		ok := closing == ']' || r.key(&m)
		if ok {
			m.value, ok = r.value(depth)
		}
		if !ok {
			break
		}
		r.stack = append(r.stack, m)
		if r.space(); r.accept(closing) {
			start := len(r.kept)
			r.kept = append(r.kept, r.stack[first:]...)
			r.stack = r.stack[:first]
			return r.kept[start:len(r.kept):len(r.kept)], true
		}
		if !r.accept(',') {
			break
		}
	}
	return nil, false
}

// key reads the key of a member and its colon.
func (r *reader) key(m *member) (ok bool) {
	r.space()
	if m.at = r.pos; r.peek() != '"' {
		return false
	}
	m.key, ok = r.str()
	m.end = r.pos
	r.space()
	return ok && r.accept(':')
}

// str reads a string, whose first quote is known to be there.
func (r *reader) str() (string, bool) {
	start := r.pos + 1
	for i := start; i < len(r.text); i++ {
		switch c := r.text[i]; {
		case c == '"':
			r.pos = i + 1
			return r.text[start:i], true
		case c == '\\':
			return r.escaped(i)
		case c < ' ':
			return "", false
		}
	}
	return "", false
}

// escaped reads the string whose first backslash is known.
func (r *reader) escaped(i int) (s string, ok bool) {
	for ; i < len(r.text) && r.text[i] != '"'; i++ {
		if r.text[i] == '\\' {
			i++
		}
	}
	if i >= len(r.text) {
		return "", false
	}
	quoted := r.text[r.pos : i+1]
	r.pos = i + 1
	return s, json.Unmarshal([]byte(quoted), &s) == nil
}

func (r *reader) word(word string) (string, bool) {
	if rest := r.text[r.pos:]; len(rest) < len(word) || rest[:len(word)] != word {
		return "", false
	}
	r.pos += len(word)
	return word, true
}

// number skips a number. What may not follow it, such as a digit after a
// leading zero, is noticed by who expects a comma there.
func (r *reader) number() bool {
	r.accept('-')
	if !r.accept('0') && !r.digits() {
		return false
	}
	if r.accept('.') && !r.digits() {
		return false
	}
	if r.accept('e') || r.accept('E') {
		_ = r.accept('+') || r.accept('-')
		return r.digits()
	}
	return true
}

// digits skips digits, of which there must be one.
func (r *reader) digits() bool {
	start := r.pos
	for c := r.peek(); '0' <= c && c <= '9'; c = r.peek() {
		r.pos++
	}
	return r.pos > start
}

func (r *reader) space() {
	for r.pos < len(r.text) {
		switch r.text[r.pos] {
		case ' ', '\n', '\r', '\t':
			r.pos++
		default:
			return
		}
	}
}

func (r *reader) accept(c byte) bool {
	if r.peek() != c {
		return false
	}
	r.pos++
	return true
}

// peek returns the next byte, or 0, which is no part of JSON, at the end.
func (r *reader) peek() byte {
	if r.pos == len(r.text) {
		return 0
	}
	return r.text[r.pos]
}
