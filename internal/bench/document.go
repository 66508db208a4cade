package bench

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"

	"github.com/go-json-experiment/json"
	"github.com/go-json-experiment/json/jsontext"

	"github.com/accelgate/accelgate/internal/text/jsonread"
)

// The limits of a Run document. They are checked before
// anything is decoded, because a few bytes of text can make many of memory.
const (
	maxDepth = 16
	maxText  = 1 << 20 // bytes of one string, as written
)

// maxElements bounds the lists of a document by the key that they stand under.
var maxElements = map[string]int{
	"accelerators": maxAccelerators, "after": maxValues, "base": maxValues, "before": maxValues, "breakdowns": maxBreakdowns,
	"command": 1 << 16, "curve": MaxCurve, "entries": maxEntries, "estimates": maxValues,
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
	s := scanner{Reader: jsonread.New(data)}
	if err = s.value(nil); err == nil {
		err = s.End()
	}
	if err != nil && !jsontext.Value(data).IsValid(jsontext.AllowDuplicateNames(true)) {
		err = json.Unmarshal(data, new(jsontext.Value), jsontext.AllowDuplicateNames(true)) // whose error has the place
	}
	return s.results, err
}

// scanner passes over a document.
type scanner struct {
	*jsonread.Reader
	keys [][]byte // of the open objects

	results int
}

func (s *scanner) errorf(format string, args ...any) error {
	return fmt.Errorf("byte %d: %w", s.InputOffset(), fmt.Errorf(format, args...))
}

// value passes over one; key is what it stands under.
func (s *scanner) value(key []byte) error {
	kind := s.PeekKind()
	switch {
	case kind != '{' && kind != '[':
		raw, err := s.ReadValue()
		if len(raw)-len(`""`) > maxText {
			return s.errorf("a text has more than %d bytes", maxText)
		}
		return err
	case s.StackDepth() == maxDepth:
		return s.errorf("values nest deeper than %d levels", maxDepth)
	case kind == '{':
		return s.object(key)
	}
	n := 0
	maximum, bounded := maxElements[string(key)]
	return s.List(func() error {
		if n++; bounded && n > maximum {
			return s.errorf("%s has more than %d elements", key, maximum)
		}
		if s.PeekKind() == 'n' {
			return s.errorf("null stands in a list")
		}
		if s.StackDepth() == 2 && string(key) == "results" {
			s.results++
		}
		return s.value(nil)
	})
}

func (s *scanner) object(under []byte) error {
	free := slices.Contains([]string{"conditions", "context", "counts"}, string(under)) // whose keys are names of others
	first := len(s.keys)
	defer func() { s.keys = s.keys[:first] }()
	err := s.Object(func(key []byte) error {
		escaped := len(s.Key()) != len(key)+len(`""`)
		switch s.keys = append(s.keys, key); {
		case !free && (escaped || !isField(key)):
			return s.errorf("unknown key %.80q", key)
		case len(s.keys)-first > MaxFacts:
			return s.errorf("an object has more than %d keys", MaxFacts)
		case len(key) > maxText:
			return s.errorf("a text has more than %d bytes", maxText)
		}
		return s.value(key)
	})
	if err != nil {
		return err
	}
	return s.unique(s.keys[first:])
}

// isField reports the letters of which the fields of a Run are made.
func isField(key []byte) bool {
	return !bytes.ContainsFunc(key, func(c rune) bool { return (c < 'a' || c > 'z') && c != '_' && (c < '0' || c > '9') })
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
	return s.errorf("the key %.80q occurs twice in one object", key)
}
