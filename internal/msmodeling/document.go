package msmodeling

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"strings"
	"unicode/utf8"
)

// maxFileSize bounds a case file; real ones have 4 KB.
const maxFileSize = 1 << 20

// reader turns the text of one file into a case and collects complaints.
//
// It builds its own tree, because encoding/json neither says where a value
// stands nor reports keys that are given twice.
type reader struct {
	path, text string
	pos        int
	problems   Problems
	dropped    bool
}

// value is a JSON value. Its kind is its first byte, 0 for all numbers.
type value struct {
	at      int
	kind    byte     // '{', '[', '"', '0', 't', 'f' or 'n'
	text    string   // of a string what it says, of other scalars how they are written
	items   []value  // of an array
	members []member // of an object
}

type member struct {
	at    int
	key   string
	value value
}

const restore = "restore the file from version control"

// readable complains about what is not text of a reasonable size.
func (r *reader) readable() bool {
	switch {
	case len(r.text) > maxFileSize:
		r.problems = append(r.problems, tooLarge(r.path))
	case strings.TrimSpace(r.text) == "":
		r.fail(0, "", `write a case with at least "name" and "description", or delete the file`, "the file is empty")
	case strings.HasPrefix(r.text, "\ufeff"):
		r.fail(0, "", "save the file as UTF-8 without one", "the file starts with a byte order mark")
	case !utf8.ValidString(r.text):
		at := 0
		for i, c := range r.text { // U+FFFD itself is valid, and three bytes long
			if _, size := utf8.DecodeRuneInString(r.text[i:]); c == utf8.RuneError && size == 1 {
				at = i
				break
			}
		}
		r.fail(at, "", "save the file as UTF-8", "byte %#02x is not UTF-8", r.text[at])
	}
	return len(r.problems) == 0
}

func tooLarge(path string) Problem {
	return Problem{File: path, Message: fmt.Sprintf("is larger than %d bytes, so it is no case", maxFileSize), Hint: "move it out of the folder of cases"}
}

// valid complains about what is not JSON.
func (r *reader) valid() bool {
	data := []byte(r.text)
	if json.Valid(data) {
		return true
	}
	var syntax *json.SyntaxError
	if err := json.Unmarshal(data, new(any)); !errors.As(err, &syntax) {
		r.fail(0, "", restore, "not valid JSON: %s", plain(fmt.Sprint(err)))
		return false
	}
	at := min(max(int(syntax.Offset)-1, 0), len(r.text))
	rest := r.text[at:]
	switch message := syntax.Error(); {
	case message == "unexpected end of JSON input":
		r.fail(len(r.text), "", "close what is open, or "+restore, "the file ends too early")
	case strings.HasPrefix(rest, "<<<<<<<"):
		r.fail(at, "", "take one side of it", "this is a merge conflict")
	case strings.HasPrefix(rest, "NaN"), strings.HasPrefix(rest, "Infinity"), strings.HasPrefix(r.text[max(at-1, 0):], "-Infinity"):
		r.fail(at, "", "write the number that was meant, or remove the key", "NaN and Infinity are not numbers of JSON")
	case strings.HasSuffix(message, "after top-level value"):
		r.fail(at, "", "remove it: a file holds one case", "there is text after the end of the case")
	case strings.HasPrefix(rest, "//"), strings.HasPrefix(rest, "/*"), strings.HasPrefix(rest, "#"):
		r.fail(at, "", "remove it, or move it into description", "JSON has no comments")
	default:
		r.fail(at, "", "correct the text here, or "+restore, "not valid JSON: %s", plain(message))
	}
	return false
}

// next reads a value; the text is known to be valid JSON, and nests at most
// 10,000 levels deep, which is encoding/json's limit.
func (r *reader) next() value {
	r.space()
	v := value{at: r.pos, kind: r.text[r.pos]}
	switch v.kind {
	case '{':
		v.members = make([]member, 0, len(operatorKeys)) // most objects are operators
		r.list('}', func() {
			m := member{at: r.pos, key: r.str()}
			r.space() // then comes the colon
			r.pos++
			m.value = r.next()
			v.members = append(v.members, m)
		})
	case '[':
		r.list(']', func() { v.items = append(v.items, r.next()) })
	case '"':
		v.text = r.str()
	default:
		end := strings.IndexAny(r.text[r.pos:], ",]} \t\r\n")
		if end < 0 {
			end = len(r.text) - r.pos
		}
		v.text = r.text[r.pos : r.pos+end]
		r.pos += end
		if v.kind == '-' || v.kind <= '9' {
			v.kind = '0'
		}
	}
	return v
}

// list reads the elements up to the closing byte.
func (r *reader) list(end byte, element func()) {
	for r.pos++; ; {
		switch r.space(); r.text[r.pos] {
		case end:
			r.pos++
			return
		case ',':
			r.pos++
		default:
			element()
		}
	}
}

func (r *reader) space() {
	for r.pos < len(r.text) && strings.IndexByte(" \t\r\n", r.text[r.pos]) >= 0 {
		r.pos++
	}
}

func (r *reader) str() string {
	start, escaped := r.pos, false
	for r.pos++; r.text[r.pos] != '"'; r.pos++ {
		if r.text[r.pos] == '\\' {
			escaped = true
			r.pos++
		}
	}
	r.pos++
	if !escaped {
		return r.text[start+1 : r.pos-1]
	}
	var s string
	_ = json.Unmarshal([]byte(r.text[start:r.pos]), &s) // valid, so it cannot fail
	return s
}

// raw returns the value as encoding/json gives it with UseNumber.
func (v value) raw() any {
	switch v.kind {
	case '"':
		return v.text
	case '0':
		return json.Number(v.text)
	case 't', 'f':
		return v.kind == 't'
	case '[':
		list := make([]any, len(v.items))
		for i, item := range v.items {
			list[i] = item.raw()
		}
		return list
	}
	return nil
}

// describe names the value for a message.
func (v value) describe() string {
	switch v.kind {
	case '{':
		return "an object"
	case '[':
		return "a list"
	case '"':
		return "the text " + quote(v.text)
	}
	if len(v.text) > 40 {
		return v.text[:40] + "..."
	}
	return v.text
}

// decode reads JSON that is a constant of this package.
func decode(text string) any {
	d := json.NewDecoder(bytes.NewReader([]byte(text)))
	d.UseNumber()
	var v any
	if err := d.Decode(&v); err != nil {
		panic(fmt.Sprintf("msmodeling: %s: %v", text, err))
	}
	return v
}
