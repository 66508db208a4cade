package casefile

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text/jsonread"
)

// maxFileSize bounds a case file; real ones have 4 KB.
const maxFileSize = 1 << 20

// reader turns the text of one file after the other into a case and collects
// complaints. It keeps its memory between files.
type reader struct {
	path, text string
	prefix     string // of all JSON paths
	json       jsonread.Reader
	root       value
	problems   Problems
	dropped    bool

	file bytes.Buffer // see read
}

// open begins another file. What was read of the one before is invalid then,
// except for the case and the problems.
func (r *reader) open(path string, data []byte) {
	*r = reader{path: path, json: r.json, file: r.file}
	r.json.Open(data)
	r.text = r.json.Whole()
}

const restore = "restore the file from version control"

// readable complains about what is not text of a reasonable size.
func (r *reader) readable() bool {
	switch {
	case len(r.text) > maxFileSize:
		r.problems = append(r.problems, tooLarge(r.path))
	case strings.TrimSpace(r.text) == "":
		r.fail(0, `write a case with at least "name" and "description", or delete the file`, "the file is empty")
	case strings.HasPrefix(r.text, "\ufeff"):
		r.fail(0, "save the file as UTF-8 without one", "the file starts with a byte order mark")
	case !utf8.ValidString(r.text):
		at := 0
		for i, c := range r.text { // U+FFFD itself is valid, and three bytes long
			if _, size := utf8.DecodeRuneInString(r.text[i:]); c == utf8.RuneError && size == 1 {
				at = i
				break
			}
		}
		r.fail(at, "save the file as UTF-8", "byte %#02x is not UTF-8", r.text[at])
	}
	return len(r.problems) == 0
}

func tooLarge(path string) Problem {
	return Problem{
		File:    path,
		Message: fmt.Sprintf("is larger than %d bytes, so it is not a case", maxFileSize),
		Hint:    "move it out of the folder of cases",
	}
}

// valid reads the text and complains if it is not JSON, in the words of
// encoding/json where there are none of our own.
func (r *reader) valid() bool {
	if r.scan() {
		return true
	}
	r.root = value{}
	err := json.Unmarshal([]byte(r.text), new(any)) // finds the same: FuzzParse
	at, message := 0, fmt.Sprint(err)
	if syntax := (*json.SyntaxError)(nil); errors.As(err, &syntax) {
		at = min(max(int(syntax.Offset)-1, 0), len(r.text))
	}
	rest := r.text[at:]
	switch {
	case message == "unexpected end of JSON input":
		r.fail(len(r.text), "close what is open, or "+restore, "the file ends too early")
	case strings.HasPrefix(rest, "<<<<<<<"):
		r.fail(at, "take one side of it", "this is a merge conflict")
	case strings.HasPrefix(rest, "NaN"), strings.HasPrefix(rest, "Infinity"), strings.HasPrefix(r.text[max(at-1, 0):], "-Infinity"):
		r.fail(at, "write the number that was meant, or remove the key", "NaN and Infinity are not numbers of JSON")
	case strings.HasSuffix(message, "after top-level value"):
		r.fail(at, "remove it: a file holds one case", "there is text after the end of the case")
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"), strings.HasPrefix(rest, "#"):
		r.fail(at, "remove it, or move it into description", "JSON has no comments")
	default:
		r.fail(at, "correct the text here, or "+restore, "not valid JSON: %s", plain(message))
	}
	return false
}

// pathTo returns the JSON path of the value or the key at a position.
func (r *reader) pathTo(at int) string {
	path, v := r.prefix, r.root
	for v.At < at {
		i := len(v.Members) - 1
		for i >= 0 && start(v.Members[i], v.Kind) > at {
			i--
		}
		if i < 0 {
			break
		}
		m := v.Members[i]
		if v.Kind == '[' {
			path += "[" + strconv.Itoa(i) + "]"
		} else if path = join(path, m.Key); at <= m.KeyEnd {
			break
		}
		v = m.Value
	}
	return path
}

// start returns where a member of a list or an object begins.
func start(m member, kind byte) int {
	if kind == '[' {
		return m.At
	}
	return m.KeyAt
}

// raw returns the value as encoding/json gives it with UseNumber.
func raw(v value) any {
	switch v.Kind {
	case '"':
		return v.Text
	case '0':
		return json.Number(v.Text)
	case 't', 'f':
		return v.Kind == 't'
	case '[':
		list := make([]any, len(v.Members))
		for i, m := range v.Members {
			list[i] = raw(m.Value)
		}
		return list
	}
	return nil
}

// describe names the value for a message.
func describe(v value) string {
	switch v.Kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "the text " + quote(v.Text)
	}
	if len(v.Text) > 40 {
		return v.Text[:40] + "..."
	}
	return v.Text
}

// floatOf returns the value of a number, and whether it is one that a float64
// can hold.
func floatOf(v value) (float64, bool) {
	f, err := strconv.ParseFloat(v.Text, 64)
	return f, err == nil
}

// wholeOf returns the value of a number without fraction and exponent.
func wholeOf(v value) (int64, bool) {
	n, err := strconv.ParseInt(v.Text, 10, 64)
	return n, err == nil
}

// decode reads JSON that is a constant of this package.
func decode(text string) any {
	d := json.NewDecoder(strings.NewReader(text))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("msmodeling: %s: %v", text, err))
	}
	return v
}
