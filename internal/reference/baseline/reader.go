package baseline

import (
	"bytes"
	"encoding/json"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
)

// reader reads JSON as people write it, with comments, trailing commas and
// keys in any case, one value after the other.
//
// A syntax error stops it: it is kept in bad, and from then on every method
// returns at once, so that callers need no check of their own. Everything else
// that is wrong is noted, the value is skipped and reading goes on.
//
// It exists because messages need positions. A syntax tree of hujson, the
// obvious choice, took 1.6 GB and 3 s for a file of 100,000 entries.
type reader struct {
	name  string // of the file, for messages
	data  []byte // valid UTF-8
	pos   int
	depth int
	key   string // the last key read, for messages
	item  string // "an entry" where the value is an element of a list, for messages
	bad   *ParseError

	problems []error
	unlisted int // problems beyond maxProblems

	counted, line, lineStart int // see lineOf

	words   map[string]string
	scratch []byte // of skip

	metricsFound   []located // of one entry, sorted by name
	operatorsFound []Operator
	mediansFound   Medians

	described    bench.Metric             // that is read
	descriptions map[string]*bench.Metric // by name, the last ones read
	common       map[string]*bench.Metric // by name, for all entries
}

// maxDepth is how deep TensorSharp's reader (System.Text.Json) goes.
const maxDepth = 64

func newReader(name string, data []byte) *reader {
	return &reader{name: name, data: data, line: 1, words: map[string]string{}, descriptions: map[string]*bench.Metric{},
		common: map[string]*bench.Metric{}}
}

// next moves to the next value and returns its position.
func (r *reader) next() int {
	r.peek()
	return r.pos
}

// peek moves over white space and comments and returns the next byte, 0 at the
// end.
func (r *reader) peek() byte {
	for r.bad == nil && r.pos < len(r.data) {
		switch c := r.data[r.pos]; c {
		case ' ', '\t', '\r', '\n':
			r.pos++
		case '/':
			end := commentEnd(r.data, r.pos)
			if end < 0 {
				r.fail(r.pos, "this comment is not closed: write // to the end of the line, or /* and */")
				return 0
			}
			r.pos = end
		default:
			return c
		}
	}
	return 0
}

// commentEnd returns the position behind the comment that starts at i, or -1.
func commentEnd(data []byte, i int) int {
	rest := data[i:]
	switch {
	case bytes.HasPrefix(rest, []byte("//")):
		if n := bytes.IndexByte(rest, '\n'); n >= 0 {
			return i + n + 1
		}
		return len(data)
	case bytes.HasPrefix(rest, []byte("/*")):
		if n := bytes.Index(rest[2:], []byte("*/")); n >= 0 {
			return i + n + 4
		}
	}
	return -1
}

// more moves to the next item of an object or array and reports whether there
// is one; if not, it moves behind the closing byte.
func (r *reader) more(closing byte, first bool) bool {
	c := r.peek()
	if !first && c == ',' {
		r.pos++
		c = r.peek()
	} else if !first && c != closing {
		r.unexpected("a comma or '" + string(closing) + "'")
		return false
	}
	if c == closing {
		r.pos++
		return false
	}
	return r.bad == nil
}

func (r *reader) enter() bool {
	r.pos++
	r.depth++
	if r.depth > maxDepth {
		r.fail(r.pos-1, "values are nested more than %d deep: this is not a baseline, restore it from git", maxDepth)
	}
	return r.bad == nil
}

// members reads an object and calls member with each key, which must read the
// value. Keys that are equal after fold are noted as a mistake.
func (r *reader) members(fold func(string) string, member func(folded, key string)) {
	if r.peek() != '{' {
		r.mismatch("an object")
		return
	}
	if !r.enter() {
		return
	}
	var seen keySet
	for first := true; r.more('}', first); first = false {
		at := r.pos
		key := r.word()
		if r.peek() != ':' {
			r.unexpected("a colon")
		}
		if r.bad != nil {
			return
		}
		r.pos++
		folded := fold(key)
		if !seen.add(folded) {
			r.note(at, "%s appears twice in the same object: delete one of them", quote(key))
		}
		r.key, r.item = key, ""
		member(folded, key)
	}
	r.depth--
}

// record reads an object whose keys are fields, in any case; member gets the
// key in lower case and as it is.
func (r *reader) record(member func(field, key string)) { r.members(strings.ToLower, member) }

// table reads an object whose keys are data.
func (r *reader) table(member func(key string)) {
	r.members(func(key string) string { return key }, func(_, key string) { member(key) })
}

// list reads an array and calls element at the start of each element.
func (r *reader) list(element func()) {
	if r.peek() != '[' {
		r.mismatch("an array")
		return
	}
	if !r.enter() {
		return
	}
	for first := true; r.more(']', first); first = false {
		element()
	}
	r.depth--
}

// keySet finds repeated keys. Nearly all objects are small, so it starts
// without a map.
type keySet struct {
	few  [12]string
	n    int
	many map[string]bool
}

func (s *keySet) add(key string) (isNew bool) {
	for _, k := range s.few[:s.n] {
		if k == key {
			return false
		}
	}
	switch {
	case s.n < len(s.few):
		s.few[s.n] = key
		s.n++
		return true
	case s.many[key]:
		return false
	case s.many == nil:
		s.many = map[string]bool{}
	}
	s.many[key] = true
	return true
}

// null reads a null, if it is next.
func (r *reader) null() bool {
	if r.peek() == 'n' && string(r.literal()) == "null" {
		r.pos += len("null")
		return true
	}
	return false
}

// literal returns the next number, name or anything else without quotes.
func (r *reader) literal() []byte {
	end := r.pos
	for end < len(r.data) && literalByte(r.data[end]) {
		end++
	}
	return r.data[r.pos:end]
}

func literalByte(c byte) bool {
	return c >= '0' && c <= '9' || c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c == '-' || c == '+' || c == '.' || c == '_'
}

// str reads a string. The result may alias the file.
func (r *reader) str() []byte {
	if r.peek() != '"' {
		r.unexpected("a string")
		return nil
	}
	start := r.pos
	end := stringEnd(r.data, start)
	switch {
	case end >= 0:
	case bytes.IndexByte(r.data[start:], '\n') < 0:
		r.pos = len(r.data)
		r.unexpected("the end of a string")
		return nil
	default:
		r.fail(start, "this string is not closed on its line, or holds a tab: add the quote, or write \\n and \\t")
		return nil
	}
	r.pos = end
	inner := r.data[start+1 : end-1]
	if bytes.IndexByte(inner, '\\') < 0 {
		return inner
	}
	var s string
	if err := json.Unmarshal(r.data[start:end], &s); err != nil {
		r.fail(start, "this string has an escape that JSON does not have: write \\\\ for a backslash")
		return nil
	}
	return []byte(s)
}

// stringEnd returns the position behind the string that starts at i, or -1.
func stringEnd(data []byte, i int) int {
	for i++; i < len(data) && data[i] >= ' '; i++ {
		switch data[i] {
		case '\\':
			i++
		case '"':
			return i + 1
		}
	}
	return -1
}

// word reads a string of a small vocabulary, such as keys and units, and makes
// each of them only once.
func (r *reader) word() string {
	b := r.str()
	if w, ok := r.words[string(b)]; ok {
		return w
	}
	w := string(b)
	const maximum = 4096
	if len(r.words) < maximum {
		r.words[w] = w
	}
	return w
}
