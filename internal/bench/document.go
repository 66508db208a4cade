package bench

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"
)

// The limits of a Run document. They are checked before
// anything is decoded, because a few bytes of text can make many of memory.
const (
	maxDepth = 16
	maxText  = 1 << 20 // bytes of one string, as written
)

// maxElements bounds the lists of a document by the key that they stand under.
var maxElements = map[string]int{
	"accelerators": maxAccelerators, "after": maxValues, "base": maxValues, "before": maxValues, "breakdowns": maxBreakdowns, "command": 1 << 16, "entries": maxEntries, "estimates": maxValues,
	"files": MaxFacts, "left_out": maxResults, "metrics": maxMetrics, "params": 256, "readings": maxReadings, "reasons": MaxFacts, "results": maxResults, "samples": maxMetrics, "shards": maxShards,
	"unselected": maxResults, "values": maxValues, "warnings": 1 << 16,
}

// scanDocument reports what package json lets pass and what would cost memory
// or mean different things to different readers: a key that stands twice or is
// written in another letter case, which package json takes for the same, null
// in place of a number, text that is not UTF-8, long lists and texts.
//
// It returns how many results there are.
func scanDocument(data []byte) (results int, err error) {
	if !utf8.Valid(data) {
		return 0, errors.New("it is not UTF-8")
	}
	if !jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true)) {
		return 0, json.Unmarshal(data, new(jsontext.Value), jsontext.AllowDuplicateNames(true)) // which says where
	}
	s := scanner{data: data}
	err = s.value(nil)
	return s.results, err
}

// scanner goes through JSON that is known to be valid.
type scanner struct {
	data  []byte
	at    int
	depth int
	keys  [][]byte // of the open objects

	results int
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %w", s.at, fmt.Errorf(format, args...))
}

// next skips white space and returns the byte after it.
func (s *scanner) next() byte {
	for {
		switch c := s.data[s.at]; c {
		case ' ', '\t', '\r', '\n':
			s.at++
		default:
			return c
		}
	}
}

// value passes over one; key is what it stands under.
func (s *scanner) value(key []byte) (err error) {
	switch s.next() {
	case '{', '[':
		if s.depth++; s.depth > maxDepth {
			return s.errorf("values nest deeper than %d levels", maxDepth)
		}
		if s.data[s.at] == '{' {
			err = s.object(key)
		} else {
			err = s.list(key)
		}
		s.depth--
		return err
	case '"':
		_, err = s.text()
		return err
	}
	for ; s.at < len(s.data); s.at++ {
		switch s.data[s.at] {
		case ',', ']', '}', ' ', '\t', '\r', '\n':
			return nil
		}
	}
	return nil
}

// text passes over a string and returns it as written, without its quotes.
func (s *scanner) text() ([]byte, error) {
	begin := s.at + 1
	for s.at = begin; s.data[s.at] != '"'; s.at++ {
		if s.data[s.at] == '\\' {
			s.at++
		}
	}
	text := s.data[begin:s.at]
	s.at++
	if len(text) > maxText {
		return nil, s.errorf("a text has more than %d bytes", maxText)
	}
	return text, nil
}

func (s *scanner) list(key []byte) error {
	most, bounded := maxElements[string(key)]
	s.at++
	for n := 0; s.next() != ']'; n++ {
		if s.data[s.at] == ',' {
			s.at++
		}
		if s.next() == 'n' {
			return s.errorf("null stands in a list")
		}
		if bounded && n == most {
			return s.errorf("%s has more than %d elements", key, most)
		}
		if err := s.value(nil); err != nil {
			return err
		}
		if s.depth == 2 && string(key) == "results" {
			s.results++
		}
	}
	s.at++
	return nil
}

func (s *scanner) object(under []byte) error {
	free := string(under) == "context" || string(under) == "counts" // whose keys are names of others
	first := len(s.keys)
	defer func() { s.keys = s.keys[:first] }()
	s.at++
	for s.next() != '}' {
		if s.data[s.at] == ',' {
			s.at++
			s.next()
		}
		key, err := s.key(free)
		if err != nil {
			return err
		}
		if s.keys = append(s.keys, key); len(s.keys)-first > MaxFacts {
			return s.errorf("an object has more than %d keys", MaxFacts)
		}
		s.next() // ":"
		s.at++
		if err := s.value(key); err != nil {
			return err
		}
	}
	s.at++
	return s.unique(s.keys[first:])
}

// key reads one. Those that are not names of others are compared by package
// json without regard to case.
func (s *scanner) key(free bool) ([]byte, error) {
	key, err := s.text()
	if err != nil {
		return nil, err
	}
	if !free && !isField(key) {
		return nil, s.errorf("unknown key %.80q", key)
	}
	if free && bytes.IndexByte(key, '\\') >= 0 {
		var name string
		err = json.Unmarshal(s.data[s.at-len(key)-2:s.at], &name)
		key = []byte(name)
	}
	return key, err
}

// isField reports the letters of which the fields of a Run are made.
func isField(key []byte) bool {
	for _, c := range key {
		if (c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9') {
			return false
		}
	}
	return true
}

func (s *scanner) unique(keys [][]byte) error {
	if len(keys) > 32 {
		slices.SortFunc(keys, bytes.Compare)
		for i := 1; i < len(keys); i++ {
			if bytes.Equal(keys[i], keys[i-1]) {
				return s.twice(keys[i])
			}
		}
		return nil
	}
	for i, key := range keys {
		if slices.ContainsFunc(keys[:i], func(k []byte) bool { return bytes.Equal(k, key) }) {
			return s.twice(key)
		}
	}
	return nil
}

func (s *scanner) twice(key []byte) error {
	return s.errorf("the key %.80q stands twice in one object", key)
}
