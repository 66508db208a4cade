package packing

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// readArray reads a JSON array of integers. It is not encoding/json's work
// because of its errors, which name no line, and its memory.
func (l *list) readArray(text []byte) error {
	l.line = 1
	wrong := errors.New("no JSON array of integers: write [ lengths with commas between them ] and nothing else")
	text = l.skip(text)
	if len(text) == 0 || text[0] != '[' {
		return wrong
	}
	text = l.skip(text[1:])
	if len(text) > 0 && text[0] == ']' {
		return l.end(text[1:], wrong)
	}
	for {
		n := bytes.IndexAny(text, ",] \t\r\n")
		if n < 0 {
			return wrong
		}
		if err := l.add(string(text[:n])); err != nil {
			return err
		}
		if text = l.skip(text[n:]); len(text) == 0 {
			return wrong
		}
		switch text[0] {
		case ']':
			return l.end(text[1:], wrong)
		case ',':
			text = l.skip(text[1:])
		default:
			return wrong
		}
	}
}

func (l *list) end(text []byte, wrong error) error {
	if len(l.skip(text)) > 0 {
		return wrong
	}
	return nil
}

// skip cuts off JSON's white space and counts its lines.
func (l *list) skip(text []byte) []byte {
	for i, c := range text {
		switch c {
		case '\n':
			l.line++
		case ' ', '\t', '\r':
		default:
			return text[i:]
		}
	}
	return nil
}

// readLines reads JSON lines.
func (l *list) readLines(text []byte, field string) error {
	for line := range bytes.Lines(text) {
		l.line++
		line = bytes.TrimSpace(line)
		digits := string(line)
		if bytes.HasPrefix(line, []byte("{")) {
			var err error
			if digits, err = fieldOf(line, field); err != nil {
				return err
			}
		}
		if err := l.add(digits); err != nil {
			return err
		}
	}
	if len(l.lengths) == 0 {
		return errors.New("no lengths: write one on each line")
	}
	return nil
}

// fieldOf returns a field of a JSON object as it is written.
func fieldOf(object []byte, field string) (string, error) {
	names := candidates()
	if field != "" {
		names = []string{field}
	}
	decoder := json.NewDecoder(bytes.NewReader(object))
	if _, err := decoder.Token(); err != nil {
		return "", errObject
	}
	var value json.RawMessage
	found := ""
	for decoder.More() {
		key, err := decoder.Token()
		var v json.RawMessage
		if err == nil {
			err = decoder.Decode(&v)
		}
		if err != nil {
			return "", errObject
		}
		if name, ok := key.(string); ok && slices.Contains(names, name) {
			if found != "" {
				return "", fmt.Errorf("both %s and %s: keep one, or name another field", text.Quote(found, 40), text.Quote(name, 40))
			}
			found, value = name, v
		}
	}
	if _, err := decoder.Token(); err != nil {
		return "", errObject
	}
	if _, err := decoder.Token(); err != io.EOF {
		return "", errObject
	}
	if value == nil {
		return "", fmt.Errorf("no field %s: name the field that holds the number of tokens", text.Quote(strings.Join(names, ", "), 40))
	}
	return string(value), nil
}

var errObject = errors.New("no JSON object: write one object or integer on each line")
