package flashinfer

import (
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
)

// How many complaints are kept: one file must not hide the others.
const (
	maxProblemsOfFile = 20
	maxProblems       = 400
)

// Place is where something stands.
type Place struct {
	Path string // with slashes, below the root as it was given to [Load]
	Line int    // from 1; 0 where the whole file is meant
}

// String returns "path:line".
func (p Place) String() string {
	if p.Line == 0 {
		return plain(p.Path)
	}
	return plain(p.Path) + ":" + strconv.Itoa(p.Line)
}

// Problem is one thing that is wrong with a file.
type Problem struct {
	Place
	JSONPath string // such as inputs.q.shape[0]; "" where the whole file or line is meant
	Message  string // ends in the next step; foreign text is quoted
}

// Error returns "path:line: JSON path: message" on one line.
func (p Problem) Error() string {
	if p.JSONPath == "" {
		return p.Place.String() + ": " + p.Message
	}
	return p.Place.String() + ": " + p.JSONPath + ": " + p.Message
}

// Problems are all complaints about a dataset or a file, at most 20 per file
// and 400 in all.
type Problems = text.Problems[Problem]

// errorOf returns the problems as an error, nil if there are none.
func errorOf(ps Problems) error {
	switch {
	case len(ps) == 0:
		return nil
	case len(ps) > maxProblems:
		message := "not shown: " + text.Plural(len(ps)-maxProblems, "more problem") + "; correct those above first"
		return append(ps[:maxProblems:maxProblems], Problem{ps[maxProblems].Place, "", message})
	}
	return ps
}

const (
	quoted     = 200 // characters of foreign text in a message
	longestKey = 80  // of a key in a path: bytes without quotes, characters in quotes
)

func quote(s string) string { return text.Quote(s, quoted) }

// plain is quote only for what needs it.
func plain(s string) string { return text.Plain(s, quoted) }

// join appends a key to a JSON path.
func join(path, key string) string { return text.JSONPath(path, key, longestKey) }

func index(path string, i int) string { return path + "[" + strconv.Itoa(i) + "]" }

// choices writes the words that may stand in a place.
func choices(words []string) string { return strings.Join(words, ", ") }
