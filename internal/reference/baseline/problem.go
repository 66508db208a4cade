package baseline

import (
	"bytes"
	"errors"
	"fmt"
	"slices"
	"unicode/utf8"
)

// maxProblems bounds the report on a file that is wrong from end to end.
const maxProblems = 20

// mend advises on damage. A refresh alone is no cure: it reads the file first.
const mend = "correct it, restore it from git, or delete the file and then run accelgate baseline update"

// ParseError is one thing that is wrong with a file, at a place in it.
type ParseError struct {
	File         string
	Line, Column int // both from 1; Column counts characters
	Message      string
}

// Error returns the message after file:line:column.
func (e *ParseError) Error() string {
	return fmt.Sprintf("%s:%d:%d: %s", plain(e.File), e.Line, e.Column, e.Message)
}

// errorAt locates a message.
func (r *reader) errorAt(at int, format string, args ...any) *ParseError {
	line := r.lineOf(at)
	column := 1 + utf8.RuneCount(r.data[r.lineStart:at])
	return &ParseError{r.name, line, column, fmt.Sprintf(format, args...)}
}

// lineOf returns the line of a position and leaves its start in lineStart. It
// counts on from the furthest position so far, or a file on one line would
// take quadratic time.
func (r *reader) lineOf(at int) int {
	if at < r.lineStart {
		r.line, r.lineStart, r.counted = 1, 0, 0
	}
	if at > r.counted {
		passed := r.data[r.counted:at]
		if i := bytes.LastIndexByte(passed, '\n'); i >= 0 {
			r.line += bytes.Count(passed, []byte("\n"))
			r.lineStart = r.counted + i + 1
		}
		r.counted = at
	}
	return r.line
}

// note records a problem that does not stop the reader.
func (r *reader) note(at int, format string, args ...any) {
	if len(r.problems) == maxProblems {
		r.unlisted++
		return
	}
	r.problems = append(r.problems, r.errorAt(at, format, args...))
}

// noted returns how many problems were found so far.
func (r *reader) noted() int { return len(r.problems) + r.unlisted }

// fail stops the reader at a syntax error.
func (r *reader) fail(at int, format string, args ...any) {
	if r.bad == nil {
		r.bad = r.errorAt(at, format, args...)
	}
}

// err joins everything that was found.
func (r *reader) err() error {
	problems := r.problems
	if r.bad != nil {
		problems = append(problems, r.bad)
	}
	if r.unlisted > 0 {
		problems = append(problems, fmt.Errorf("%s: and %d more; correct these first", plain(r.name), r.unlisted))
	}
	return errors.Join(problems...)
}

// unexpected fails at the next byte.
func (r *reader) unexpected(want string) {
	switch {
	case r.bad != nil:
	case r.pos >= len(r.data):
		r.fail(len(r.data), "the file ends where %s should be: it was cut short, restore it from git", want)
	case conflict(r.data[r.pos:]):
		r.fail(r.pos,
			"this is a merge conflict: take one side of it, restore the file from git, or delete it and then run accelgate baseline update")
	default:
		c, _ := utf8.DecodeRune(r.data[r.pos:])
		r.fail(r.pos, "%q where %s should be: correct it by hand, or restore the file from git", c, want)
	}
}

func conflict(rest []byte) bool {
	return slices.ContainsFunc([]string{"<<<<<<<", "=======", ">>>>>>>"}, func(marker string) bool {
		return bytes.HasPrefix(rest, []byte(marker))
	})
}

// mismatch notes that the next value is of the wrong type, and skips it.
func (r *reader) mismatch(want string) {
	got := r.kind()
	at := r.pos
	if got == "" {
		r.unexpected(want)
		return
	}
	if lit := r.literal(); len(lit) > 0 {
		r.pos += len(lit)
	} else if r.skip(); r.bad != nil {
		return
	}
	r.note(at, "%s must be %s, not %s: correct it, or restore the file from git", r.subject(), want, got)
}

// subject names the value that is read.
func (r *reader) subject() string {
	if r.item != "" {
		return r.item
	}
	return quote(r.key)
}

func (r *reader) kind() string {
	switch c := r.peek(); {
	case c == '{':
		return "an object"
	case c == '[':
		return "an array"
	case c == '"':
		return "a string"
	case c == '-' || c >= '0' && c <= '9':
		return "a number"
	case literalByte(c):
		return clip(string(r.literal()))
	}
	return ""
}
