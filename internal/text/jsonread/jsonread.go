// Package jsonread reads JSON texts value by value on package jsontext, which is
// several times as fast as package json where most members are passed over.
package jsonread

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"strconv"

	"github.com/go-json-experiment/json/jsontext"
)

// Reader reads a text from front to back. It accepts what encoding/json accepts:
// a key may occur twice, and strings may hold invalid UTF-8. The methods of the
// decoder may be called between its own. [Malformed] tells errors of syntax from
// others.
type Reader struct {
	jsontext.Decoder
	text   []byte
	key    []byte
	buffer bytes.Buffer // of text, for the decoder
	tree   tree
}

// New returns a reader at the beginning of text.
func New(text []byte) *Reader {
	r := &Reader{}
	r.Open(text)
	return r
}

// Open begins another text and keeps the memory of the reader. Nothing may
// change the text while it is read.
func (r *Reader) Open(text []byte) {
	r.text, r.buffer, r.tree.said = text, *bytes.NewBuffer(text), ""
	r.Reset(&r.buffer, jsontext.AllowDuplicateNames(true), jsontext.AllowInvalidUTF8(true))
}

// Next returns the offset of the value or the end that is next.
func (r *Reader) Next() int {
	at := int(r.InputOffset())
	for at < len(r.text) && between[r.text[at]] {
		at++
	}
	return at
}

// between are the bytes that may stand between two tokens.
var between = [256]bool{' ': true, '\t': true, '\r': true, '\n': true, ',': true, ':': true}

// token reads a token and returns it as it is written: a key, a scalar, or the
// bracket that begins or ends an object or an array.
func (r *Reader) token() ([]byte, error) {
	from := r.InputOffset()
	if _, err := r.ReadToken(); err != nil {
		return nil, err
	}
	raw := r.text[from:r.InputOffset()]
	for between[raw[0]] {
		raw = raw[1:]
	}
	return raw, nil
}

// Object calls member with each key of the object that is next; member must read
// the value. The key stays valid.
func (r *Reader) Object(member func(key []byte) error) error {
	if err := r.enter('{', "an object"); err != nil {
		return err
	}
	for {
		raw, err := r.token() // half the time of peeking first
		if err != nil || raw[0] == '}' {
			return err
		}
		r.key = raw
		key, err := Unquote(raw)
		if err == nil {
			err = member(key)
		}
		if err != nil {
			return err
		}
	}
}

// Key returns the last key as it is written, with its quotes.
func (r *Reader) Key() []byte { return r.key }

// List calls element for each element of the array that is next; element must
// read it.
func (r *Reader) List(element func() error) error {
	if err := r.enter('[', "a list"); err != nil {
		return err
	}
	for r.PeekKind() != ']' {
		if err := element(); err != nil {
			return err
		}
	}
	_, err := r.ReadToken()
	return err
}

func (r *Reader) enter(begin jsontext.Kind, what string) error {
	token, err := r.ReadToken()
	if err == nil && token.Kind() != begin {
		err = other(what)
	}
	return err
}

// other is the error on a value of another kind than the one that was asked for.
func other(what string) error { return fmt.Errorf("has something else where %s belongs", what) }

// Text reads a string.
func (r *Reader) Text() ([]byte, error) {
	raw, err := r.ReadValue()
	if err != nil {
		return nil, err
	}
	return Unquote(raw)
}

// Unquote returns the text of a JSON string, which is a part of raw unless raw
// has escapes.
func Unquote(raw []byte) ([]byte, error) {
	if len(raw) < 2 || raw[0] != '"' {
		return nil, other("a string")
	}
	if bytes.IndexByte(raw, '\\') < 0 {
		return raw[1 : len(raw)-1], nil
	}
	text, _ := jsontext.AppendUnquote(nil, raw) // the error is that of half a surrogate pair, which becomes U+FFFD
	return text, nil
}

// Number reads a number that a float64 can hold.
func (r *Reader) Number() (float64, error) {
	raw, err := r.ReadValue()
	if err != nil {
		return 0, err
	}
	if raw.Kind() != '0' {
		return 0, other("a number")
	}
	v, err := strconv.ParseFloat(string(raw), 64)
	if err != nil {
		return 0, errors.New("has a number that is too large")
	}
	return v, nil
}

// End returns an error unless only white space follows.
func (r *Reader) End() error {
	_, err := r.ReadToken()
	switch {
	case err == io.EOF:
		return nil
	case err == nil:
		return errors.New("has more text behind the value")
	}
	return err
}

// Malformed reports whether err says that the text is not JSON, or ends too early.
func Malformed(err error) bool {
	return errors.As(err, new(*jsontext.SyntacticError)) || errors.Is(err, io.EOF)
}
