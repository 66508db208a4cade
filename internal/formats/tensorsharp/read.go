package tensorsharp

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tailscale/hujson"

	"github.com/accelgate/accelgate/internal/text"
)

// The limits of a configuration; real ones have 1.5 kB.
const (
	maxConfigBytes = 1 << 20
	maxNested      = 10_000 // lists and objects: the JSON parser recurses
	maxComplaints  = 20
)

// ReadConfig reads a matrix-config.json as TensorSharp does: member names in
// any letter case, comments, commas after the last item, a byte order mark;
// of a member that stands twice the last one counts. What TensorSharp ignores
// in silence is a warning here: unknown and repeated members, and max_parallel,
// which it never reads. The name stands in messages; errors and warnings carry
// line and column, counted from 1, columns in characters, and end in a next
// step.
//
// A wrong type is an error, as in TensorSharp, and so is what it accepts and
// cannot mean: a negative threshold or one of 100 or more, no time for a cell,
// two enabled models with one id.
func ReadConfig(name string, data []byte) (*Config, []string, error) {
	r := &reader{name: name, data: data}
	root, err := r.parse()
	if err != nil {
		return nil, nil, err
	}
	c := defaults(name)
	r.object(root, "", c.members())
	if err := r.err(); err != nil {
		return nil, nil, err
	}
	return c, r.warnings, nil
}

// IsConfig reports whether data looks like a matrix-config.json rather than an
// accelgate.yaml, which may be written as JSON too: an object with a known
// member and without "version" and "suites". A file with a syntax error is
// judged by the names in it, so that the right reader reports the error.
func IsConfig(data []byte) bool {
	data = data[:min(len(data), maxConfigBytes)]
	if !startsObject(data) {
		return false
	}
	r := &reader{data: data}
	root, err := r.parse()
	object, ok := root.Value.(*hujson.Object)
	lower := bytes.ToLower(data)
	has := func(name string) bool {
		if err != nil || !ok {
			return bytes.Contains(lower, []byte(`"`+name+`"`))
		}
		return slices.ContainsFunc(object.Members, func(m hujson.ObjectMember) bool { return strings.EqualFold(textOf(m.Name), name) })
	}
	return !has("version") && !has("suites") && slices.ContainsFunc(names(new(Config).members()), has)
}

// startsObject reports whether the first thing in data that is neither space
// nor comment opens an object.
func startsObject(data []byte) bool {
	data = bytes.TrimPrefix(data, []byte("\ufeff"))
	for {
		data = bytes.TrimLeft(data, " \t\r\n")
		switch {
		case bytes.HasPrefix(data, []byte("//")):
			_, data, _ = bytes.Cut(data, []byte("\n"))
		case bytes.HasPrefix(data, []byte("/*")):
			_, data, _ = bytes.Cut(data, []byte("*/"))
		default:
			return bytes.HasPrefix(data, []byte("{"))
		}
	}
}

// reader turns JSON into Go values and collects every complaint.
type reader struct {
	name     string
	data     []byte
	errs     []error
	warnings []string
	ids      map[string]int // lines of the enabled models
}

func (r *reader) err() error { return errors.Join(r.errs...) }

// parse decodes the whole text. A line feed is appended because the parser
// wants one after a comment at the end.
func (r *reader) parse() (hujson.Value, error) {
	var none hujson.Value
	if len(r.data) > maxConfigBytes {
		return none, fmt.Errorf("%s: larger than %d bytes: this is not a configuration, name another file", plain(r.name), maxConfigBytes)
	}
	r.data = append(bytes.Clone(bytes.TrimPrefix(r.data, []byte("\ufeff"))), '\n')
	if bytes.Count(r.data, []byte("{"))+bytes.Count(r.data, []byte("[")) > maxNested {
		return none, fmt.Errorf("%s: more than %d lists and objects: shorten the file", plain(r.name), maxNested)
	}
	if i := invalidUTF8(r.data); i >= 0 {
		return none, fmt.Errorf("%s: byte 0x%02x is not text: save the file as UTF-8", r.at(i), r.data[i])
	}
	root, err := hujson.Parse(r.data)
	if err != nil {
		var line, column int
		message := err.Error()
		if n, _ := fmt.Sscanf(message, "hujson: line %d, column %d: ", &line, &column); n == 2 {
			_, message, _ = strings.Cut(strings.TrimPrefix(message, "hujson: "), ": ")
			return none, fmt.Errorf("%s:%d:%d: not valid JSON (%s): check the commas and quotes here", plain(r.name), line, column,
				plain(message))
		}
		return none, fmt.Errorf("%s: not valid JSON (%s): check the commas and quotes", plain(r.name), plain(message))
	}
	return root, nil
}

func invalidUTF8(data []byte) int {
	for i := 0; i < len(data); {
		c, size := utf8.DecodeRune(data[i:])
		if c == utf8.RuneError && size == 1 {
			return i
		}
		i += size
	}
	return -1
}

// at names the place of an offset as file:line:column.
func (r *reader) at(offset int) string {
	before := r.data[:offset]
	line := bytes.Count(before, []byte("\n")) + 1
	column := utf8.RuneCount(before[bytes.LastIndexByte(before, '\n')+1:]) + 1
	return fmt.Sprintf("%s:%d:%d", plain(r.name), line, column)
}

func (r *reader) fail(v hujson.Value, format string, args ...any) {
	if len(r.errs) < maxComplaints {
		r.errs = append(r.errs, fmt.Errorf("%s: %s", r.at(v.StartOffset), fmt.Sprintf(format, args...)))
	}
}

func (r *reader) warn(v hujson.Value, format string, args ...any) {
	if len(r.warnings) < maxComplaints {
		r.warnings = append(r.warnings, fmt.Sprintf("%s: %s", r.at(v.StartOffset), fmt.Sprintf(format, args...)))
	}
}

// textOf returns the text of a string; "" for anything else.
func textOf(v hujson.Value) string {
	if s, ok := v.Value.(hujson.Literal); ok && s.Kind() == '"' {
		return s.String()
	}
	return ""
}

func quote(s string) string { return text.Quote(s, 60) }

func plain(s string) string { return text.Plain(s, 300) }
