package casefile

import (
	"strings"

	"github.com/accelgate/accelgate/internal/text/jsonread"
)

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
	r.json.Open(r.data)
	root, err := r.value(r.json.Token())
	r.root = root
	return err == nil && r.json.End() == nil
}

// value reads the value that begins with a token.
func (r *reader) value(token []byte, err error) (v value, _ error) {
	if err != nil {
		return v, err
	}
	v.end = int(r.json.InputOffset())
	v.at, v.kind = v.end-len(token), token[0]
	switch {
	case v.kind == '{' || v.kind == '[':
		v.members, err = r.list(v.kind)
		v.end = int(r.json.InputOffset())
	case v.kind == '"':
		v.text = r.unquoted(v.at, v.end)
	default:
		if v.text = r.text[v.at:v.end]; v.kind < 'A' {
			v.kind = '0'
		}
	}
	return v, err
}

// list reads the members up to the closing bracket. They are gathered on a stack,
// because a member may have members itself, and then kept side by side.
func (r *reader) list(kind byte) ([]member, error) {
	first := len(r.stack)
	for {
		var m member
		token, err := r.json.Token()
		if err == nil && (token[0] == '}' || token[0] == ']') {
			return r.keep(first), nil
		}
		if err == nil && kind == '{' {
			m.end = int(r.json.InputOffset())
			m.at = m.end - len(token)
			m.key = r.unquoted(m.at, m.end)
			token, err = r.json.Token()
		}
		if m.value, err = r.value(token, err); err != nil {
			return nil, err
		}
		r.stack = append(r.stack, m)
	}
}

func (r *reader) keep(first int) []member {
	start := len(r.kept)
	r.kept = append(r.kept, r.stack[first:]...)
	r.stack = r.stack[:first]
	return r.kept[start:len(r.kept):len(r.kept)]
}

// unquoted returns what a string says.
func (r *reader) unquoted(at, end int) string {
	if s := r.text[at+1 : end-1]; strings.IndexByte(s, '\\') < 0 {
		return s
	}
	said, _ := jsonread.Unquote(r.data[at:end])
	return string(said)
}
