package jsonread

import (
	"bytes"
	"cmp"
	"errors"
	"strings"
)

// Value is a JSON value and its place in the text, which encoding/json does not report. The order of keys is that of the text,
// and a key that is given twice stands twice.
type Value struct {
	At, End int
	Line    int      // that it begins on
	Kind    byte     // '{', '[', '"', 't', 'f', 'n', or '0' for all numbers
	Text    string   // of a string what it says, of others how they are written
	Members []Member // of an object, and without keys those of a list
}

// Member is a key with its value. In a list only the value counts.
type Member struct {
	Key           string
	KeyAt, KeyEnd int // with its quotes
	Value
}

// ErrTooLarge is the error for a tree beyond its limits.
var ErrTooLarge = errors.New("nests too deep, or holds too many values")

// Tree reads the whole text, which begins on a line, as one value that nests at most so deep and holds at most so many values; 0 is
// no limit. It is checked while it is built, because checking first costs more than all the rest. An earlier tree is invalid then.
func (r *Reader) Tree(line, maxDepth, maxValues int) (Value, error) {
	r.tree = tree{said: r.Whole(), stack: r.tree.stack[:0], kept: r.tree.kept[:0], line: line, maxDepth: maxDepth, maxValues: maxValues}
	root, err := r.value(r.token())
	if err == nil {
		err = r.End()
	}
	return root, err
}

// Whole returns the text, which values of its tree are parts of.
func (r *Reader) Whole() string {
	r.tree.said = cmp.Or(r.tree.said, string(r.text))
	return r.tree.said
}

// tree is what is known while a tree is built.
type tree struct {
	said                string // the text
	stack, kept         []Member
	line, counted       int // the line of a byte
	values              int
	maxDepth, maxValues int
}

// value reads the value that begins with a token.
func (r *Reader) value(token []byte, err error) (v Value, _ error) {
	t := &r.tree
	if t.values++; err == nil && (t.maxValues > 0 && t.values > t.maxValues || t.maxDepth > 0 && r.StackDepth() > t.maxDepth) {
		err = ErrTooLarge
	}
	if err != nil {
		return v, err
	}
	v.End = int(r.InputOffset())
	v.At, v.Kind = v.End-len(token), token[0]
	t.line += bytes.Count(r.text[t.counted:v.At], []byte{'\n'})
	t.counted, v.Line = v.At, t.line
	switch {
	case v.Kind == '{' || v.Kind == '[':
		v.Members, err = r.members(v.Kind)
		v.End = int(r.InputOffset())
		v.Text = t.said[v.At:v.End]
	case v.Kind == '"':
		v.Text = r.said(v.At, v.End)
	default:
		if v.Text = t.said[v.At:v.End]; v.Kind < 'A' {
			v.Kind = '0'
		}
	}
	return v, err
}

// members reads up to the closing bracket. They are gathered on a stack, because a member may have members itself, and then kept
// side by side.
func (r *Reader) members(kind byte) ([]Member, error) {
	t := &r.tree
	first := len(t.stack)
	for {
		var m Member
		token, err := r.token()
		if err == nil && (token[0] == '}' || token[0] == ']') {
			start := len(t.kept)
			t.kept = append(t.kept, t.stack[first:]...)
			t.stack = t.stack[:first]
			return t.kept[start:len(t.kept):len(t.kept)], nil
		}
		if err == nil && kind == '{' {
			m.KeyEnd = int(r.InputOffset())
			m.KeyAt = m.KeyEnd - len(token)
			m.Key = r.said(m.KeyAt, m.KeyEnd)
			token, err = r.token()
		}
		if m.Value, err = r.value(token, err); err != nil {
			return nil, err
		}
		t.stack = append(t.stack, m)
	}
}

// said returns what a string says.
func (r *Reader) said(at, end int) string {
	if s := r.tree.said[at+1 : end-1]; strings.IndexByte(s, '\\') < 0 {
		return s
	}
	text, _ := Unquote(r.text[at:end])
	return string(text)
}
