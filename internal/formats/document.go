package formats

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/text/jsonread/jsonkey"
)

// The limits bound what a hostile program can make a report carry, and
// maxValues the memory that its JSON takes; see values.
const (
	maxValues  = 1 << 21
	maxInts    = 1 << 20
	maxEntries = 4096
	maxName    = 200
)

// Document is the standard output of one program, decoded once.
//
// Its JSON is the whole output if that is one object or array, else the last
// line that is an object, so a program may log before and after its result.
// A Document may be used by several goroutines at once.
type Document struct {
	text  []byte
	Log   []byte // where a [Pattern] looks that finds nothing in the output
	root  any
	err   error
	twice error // a key of the JSON occurs twice in one object
	lined
	files []documentOf // of a folder of results
}

// NewDocument decodes stdout, which the Document keeps and which must not be
// changed afterwards. Where a key occurs twice in one object, each path is an
// error that wraps [bench.ErrContradiction]. Nesting is
// limited to the 10,000 levels of encoding/json, and the number of values to
// some two million, so that decoding allocates about 256 MiB at most.
func NewDocument(stdout []byte) *Document {
	d := &Document{text: bytes.TrimPrefix(stdout, []byte("\ufeff"))}
	whole := bytes.TrimSpace(d.text)
	var read []byte
	if d.root, read, d.err = decode(whole, "{["); d.err == nil || d.err == errTooLarge {
		d.check(read)
		return d
	}
	for rest := whole; len(rest) > 0; {
		start := bytes.LastIndexByte(rest, '\n') + 1
		line := bytes.TrimSpace(rest[start:])
		rest = rest[:max(start-1, 0)]
		root, read, err := decode(line, "{")
		if err == nil || err == errTooLarge { // no other line stands in for a result
			d.root, d.err = root, err
			d.check(read)
			return d
		}
		if d.err == errNoJSON {
			d.err = err
		}
	}
	return d
}

// check looks for keys that occur twice in what was decoded.
func (d *Document) check(decoded []byte) {
	if d.err == nil {
		d.twice = jsonkey.Check(decoded)
	}
}

var (
	errNoJSON   = errors.New("no line starts with a JSON object")
	errTooLarge = fmt.Errorf("it holds more than %d values, an object counted as %d; print fewer", maxValues, objectValues)
)

// objectValues is how many values an object counts as: one with members takes
// about 350 bytes, an element of an array 40.
const objectValues = 8

// values returns an upper bound of the values in data. It does not decode
// them: eight bytes of hostile input take 370 bytes of memory.
func values(data []byte) int {
	count := func(c byte) int { return bytes.Count(data, []byte{c}) }
	return 1 + count(',') + count('[') + objectValues*count('{')
}

// decode reads one JSON value that starts with one of the given bytes, and returns the text
// that it read: words such as NaN, which JSON does not have, are strings in it.
func decode(data []byte, starts string) (root any, read []byte, err error) {
	if len(data) == 0 || strings.IndexByte(starts, data[0]) < 0 {
		return nil, nil, errNoJSON
	}
	if root, err = decodeStrict(data); err == nil || err == errTooLarge {
		return root, data, err
	}
	if value, length, ok := span(data); ok && length == len(data) && len(value) > length {
		if root, strict := decodeStrict(value); strict == nil || strict == errTooLarge {
			return root, value, strict
		}
	}
	return nil, nil, err
}

func decodeStrict(data []byte) (any, error) {
	if values(data) > maxValues {
		var whole json.RawMessage
		if err := json.Unmarshal(data, &whole); err != nil {
			return nil, err
		}
		return nil, errTooLarge
	}
	dec := json.NewDecoder(bytes.NewReader(data))
	dec.UseNumber()
	var root any
	if err := dec.Decode(&root); err != nil {
		return nil, err
	}
	if _, err := dec.Token(); err != io.EOF {
		return nil, errors.New("more text follows the JSON value")
	}
	return root, nil
}

// Err returns why the output holds no JSON, or is nil if it does. Without JSON
// every path is missing; regular expressions work all the same.
func (d *Document) Err() error {
	if d.err == nil {
		return nil
	}
	return fmt.Errorf("output holds no JSON result: %w", d.err)
}

// Number returns the number at p. A value that is no number, or is too large
// or too small for a float64, is an error. A null counts as missing.
func (d *Document) Number(p Path) (v float64, ok bool, err error) {
	found, ok := d.find(p)
	if !ok || d.twice != nil {
		return 0, false, d.twice
	}
	v, err = numberOf(found, p)
	return v, true, err
}

// numberOf is a value at p as a number.
func numberOf(found any, p Path) (v float64, err error) {
	n, isNumber := found.(json.Number)
	if word, isText := found.(string); isText && notFinite[word] {
		n, isNumber = json.Number(word), true
	}
	if !isNumber {
		return 0, unexpected(p, "a number", found)
	}
	if v, err = finite(n.String()); err != nil {
		return 0, fmt.Errorf("value at %s: %w", p, err)
	}
	return v, nil
}

// Text returns the string at p. A null counts as missing.
func (d *Document) Text(p Path) (s string, ok bool, err error) {
	found, ok := d.find(p)
	if !ok || d.twice != nil {
		return "", false, d.twice
	}
	s, isString := found.(string)
	if !isString {
		return "", true, unexpected(p, "a string", found)
	}
	return s, true, nil
}

// Plain returns the string at p, or a number or truth value as it is written. A null
// counts as missing.
func (d *Document) Plain(p Path) (s string, ok bool, err error) {
	found, ok := d.find(p)
	if !ok || d.twice != nil {
		return "", false, d.twice
	}
	if s, ok := written(found); ok {
		return s, true, nil
	}
	return "", true, unexpected(p, "a string, number or truth value", found)
}

// Ints returns the array of whole numbers at p, such as token ids, of at most
// 1,048,576 elements. A null counts as missing.
func (d *Document) Ints(p Path) (ids []int64, ok bool, err error) {
	items, ok, err := d.array(p, maxInts)
	if !ok || err != nil {
		return nil, ok, err
	}
	ids = make([]int64, len(items))
	for i, item := range items {
		n, isNumber := item.(json.Number)
		if !isNumber {
			return nil, true, unexpected(p.index(i), "a whole number", item)
		}
		if ids[i], err = n.Int64(); err != nil {
			return nil, true, unexpected(p.index(i), "a whole number", item)
		}
	}
	return ids, true, nil
}

// Entries returns the breakdown at p: an array of at most 4,096 objects with a
// name, the total time total_ms of all calls in milliseconds, and the number
// of calls. Names are cut to 200 bytes. A null counts as missing.
func (d *Document) Entries(p Path) (entries []bench.Entry, ok bool, err error) {
	items, ok, err := d.array(p, maxEntries)
	if !ok || err != nil {
		return nil, ok, err
	}
	entries = make([]bench.Entry, len(items))
	for i, item := range items {
		if entries[i], err = entry(item, p.index(i)); err != nil {
			return nil, true, err
		}
	}
	return entries, true, nil
}

func entry(item any, p Path) (bench.Entry, error) {
	d := &Document{root: item} // the three fields are read with the same rules
	name, ok, err := d.Text(field("name"))
	if err == nil && (!ok || name == "") {
		err = errors.New("name is missing")
	}
	if err != nil {
		return bench.Entry{}, fmt.Errorf("breakdown entry %s: %w", p, err)
	}
	total, ok, err := d.Number(field("total_ms"))
	if err == nil && (!ok || total < 0) {
		err = errors.New("total_ms is missing or negative")
	}
	if err != nil {
		return bench.Entry{}, fmt.Errorf("breakdown entry %s: %w", p, err)
	}
	found, _ := d.find(field("calls"))
	n, _ := found.(json.Number)
	calls, err := n.Int64()
	if err != nil || calls < 0 {
		return bench.Entry{}, fmt.Errorf("breakdown entry %s: calls is missing or not a count", p)
	}
	return bench.Entry{Name: cut(name, maxName), Total: total, Calls: calls}, nil
}

// array returns the array at p if it has at most limit elements.
func (d *Document) array(p Path, limit int) (items []any, ok bool, err error) {
	found, ok := d.find(p)
	if !ok || d.twice != nil {
		return nil, false, d.twice
	}
	items, isArray := found.([]any)
	if !isArray {
		return nil, true, unexpected(p, "an array", found)
	}
	if len(items) > limit {
		return nil, true, fmt.Errorf("array at %s has %d elements, more than the %d allowed", p, len(items), limit)
	}
	return items, true, nil
}

// find follows p, which names one value. A null is reported as not found.
func (d *Document) find(p Path) (any, bool) {
	at := d.root
	if p.glob != "" {
		return nil, false
	}
	if p.lines {
		root, err := d.start(p)
		if at = root; err != nil {
			return nil, false
		}
	}
	for _, s := range p.steps {
		at = s.follow(at)
	}
	return at, at != nil
}

// follow is the member or element that the step names; nil where there is none.
func (s *step) follow(at any) any {
	switch v := at.(type) {
	case map[string]any:
		if s.named {
			return v[s.name]
		}
	case []any:
		i := s.index
		if i < 0 {
			i += len(v)
		}
		if !s.named && i >= 0 && i < len(v) {
			return v[i]
		}
	}
	return nil
}

func unexpected(p Path, want string, got any) error {
	text := "a boolean"
	switch v := got.(type) {
	case map[string]any:
		text = "an object"
	case []any:
		text = "an array"
	case string:
		text = fmt.Sprintf("the string %q", cut(v, 40))
	case json.Number:
		text = "the number " + cut(v.String(), 40)
	case nil:
		text = "null"
	}
	return fmt.Errorf("value at %s is %s, not %s", p, text, want)
}

// cut shortens s to at most limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	for limit > 0 && s[limit]&0xc0 == 0x80 {
		limit--
	}
	return s[:limit]
}
