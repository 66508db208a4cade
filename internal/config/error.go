package config

import (
	"cmp"
	"fmt"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// Position is a place in a file. Lines and columns count from 1, columns in
// characters.
type Position struct {
	File         string
	Line, Column int
}

// String returns file:line:column, which editors and terminals understand.
func (p Position) String() string { return fmt.Sprintf("%s:%d:%d", p.File, p.Line, p.Column) }

// Error is one complaint about a file.
type Error struct {
	Position
	// Message is what is wrong, on one line, with all foreign text quoted.
	Message string
	// Hint is the next step. It is empty if Message already holds it.
	Hint string
}

// Error returns "file:line:column: message; hint".
func (e *Error) Error() string {
	s := e.Position.String() + ": " + e.Message
	if e.Hint != "" {
		s += "; " + e.Hint
	}
	return s
}

// Errors lists all complaints about one file in the order of the file. It is
// never empty where it is returned as an error.
type Errors []*Error

// maxPrinted bounds what a person has to scroll through; the rest follows
// from the first ones or shows after they are mended.
const maxPrinted = 20

// Error returns one line per complaint, at most 20 of them.
func (es Errors) Error() string {
	var b strings.Builder
	for i, e := range es {
		if i == maxPrinted {
			fmt.Fprintf(&b, "\n%s; fix these first", text.Plural(len(es)-i, "more error"))
			break
		}
		if i > 0 {
			b.WriteByte('\n')
		}
		b.WriteString(e.Error())
	}
	return b.String()
}

// Unwrap makes each complaint visible to [errors.As].
func (es Errors) Unwrap() []error {
	all := make([]error, len(es))
	for i, e := range es {
		all[i] = e
	}
	return all
}

// inOrder sorts by position and drops what was said twice.
func (es Errors) inOrder() Errors {
	slices.SortStableFunc(es, func(a, b *Error) int {
		return cmp.Or(cmp.Compare(a.Line, b.Line), cmp.Compare(a.Column, b.Column))
	})
	return slices.CompactFunc(es, func(a, b *Error) bool { return *a == *b })
}

// quote writes foreign text for a message.
func quote(s string) string { return text.Quote(s, 60) }
