package casefile

import (
	"cmp"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
)

// maxProblems bounds the complaints about one file.
const maxProblems = 100

// Problem is one thing that is wrong with a case file.
type Problem struct {
	File         string
	Line, Column int    // from 1, Column in characters; 0 where the whole file is meant
	JSONPath     string // such as operators[3].name; "" where the whole file is meant
	Message      string // foreign text is quoted
	Hint         string // the next step
}

// Error returns "file:line:column: JSON path: message; hint" on one line.
func (p Problem) Error() string {
	var b strings.Builder
	b.WriteString(plain(p.File))
	if p.Line > 0 {
		fmt.Fprintf(&b, ":%d:%d", p.Line, p.Column)
	}
	b.WriteString(": ")
	if p.JSONPath != "" {
		b.WriteString(p.JSONPath + ": ")
	}
	return b.String() + p.Message + "; " + p.Hint
}

// Problems are all complaints about one file, at most 100.
type Problems = text.Problems[Problem]

// full reports whether further complaints would be dropped.
func (r *reader) full() bool { return len(r.problems) == maxProblems }

// fail records a complaint about the value or the key at a position.
func (r *reader) fail(at int, hint, format string, args ...any) {
	if r.full() {
		r.dropped = true
		return
	}
	r.complain(at, r.pathTo(at), hint, fmt.Sprintf(format, args...))
}

func (r *reader) complain(at int, path, hint, message string) {
	if r.full() {
		r.dropped = true
		return
	}
	before := r.text[:at]
	line := before[strings.LastIndexByte(before, '\n')+1:]
	r.problems = append(r.problems, Problem{r.path, 1 + strings.Count(before, "\n"), 1 + utf8.RuneCountInString(line), path, message, hint})
}

// sorted returns all complaints in the order of the file.
func (r *reader) sorted() Problems {
	slices.SortStableFunc(r.problems, func(a, b Problem) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	if r.dropped {
		r.problems = append(r.problems,
			Problem{File: r.path, Message: fmt.Sprintf("has more than %d problems", maxProblems), Hint: "correct these first"})
	}
	return r.problems
}

const quoted = 60 // characters of foreign text in a message

func quote(s string) string { return text.Quote(s, quoted) }

// plain is quote only for what needs it.
func plain(s string) string { return text.Plain(s, quoted) }

// join appends a key to a JSON path.
func join(path, key string) string { return text.JSONPath(path, key, quoted) }
