package setup

import (
	"strconv"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// bare is text that YAML takes as it is written: it begins with a letter, a
// path or an option, and is none of YAML's own words.
var bare = lazyregexp.New(`^(?:\./|/|--?)?[A-Za-z][A-Za-z0-9_./=-]*$`)

var words = map[string]bool{
	"true":  true,
	"false": true,
	"yes":   true,
	"no":    true,
	"on":    true,
	"off":   true,
	"null":  true,
	"y":     true,
	"n":     true,
}

// scalar writes valid UTF-8 as a string of YAML. Go's escapes are YAML's.
func scalar(s string) string {
	if bare.MatchString(s) && !words[strings.ToLower(s)] {
		return s
	}
	return strconv.Quote(s)
}

// list writes strings as a list on one line.
func list(items ...string) string {
	var quoted []string
	for _, item := range items {
		quoted = append(quoted, scalar(item))
	}
	return "[" + strings.Join(quoted, ", ") + "]"
}

// comment writes text as lines of comment.
func comment(indent string, lines ...string) string {
	var b strings.Builder
	for _, line := range lines {
		b.WriteString(indent + "# " + text.Line(line, 300) + "\n")
	}
	return b.String()
}
