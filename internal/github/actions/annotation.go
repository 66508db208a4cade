package actions

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/sethvargo/go-githubactions"
)

const (
	// maxMessage is where the runner cuts a message (_maxIssueMessageLength
	// in src/Runner.Worker/ExecutionContext.cs).
	maxMessage = 4096
	maxTitle   = 200
)

// Annotation is a remark that GitHub shows on the run. Both texts may be
// untrusted; what is too long is cut.
type Annotation struct{ Title, Message string }

// Error annotates the run with an error. GitHub shows ten annotations of each
// level per step (docs/problem-matchers.md of actions/toolkit, "Limitations"),
// so the caller chooses which.
func (a *Action) Error(n Annotation) error { return a.annotate("error", n) }

// Warning annotates the run with a warning; see [Action.Error].
func (a *Action) Warning(n Annotation) error { return a.annotate("warning", n) }

func (a *Action) annotate(name string, n Annotation) error {
	props := githubactions.CommandProperties{}
	if n.Title != "" {
		props["title"] = cut(clean(n.Title), maxTitle)
	}
	cmd := &githubactions.Command{Name: name, Message: cut(cleanLines(n.Message), maxMessage), Properties: props}
	return a.command("annotate the run", func() { a.lib.IssueCommand(cmd) })
}

// clean makes untrusted text fit for one line: characters that cannot be
// printed, such as line ends, escapes and marks that reverse the order of
// text, become blanks.
func clean(s string) string { return strings.Join(strings.Fields(cleanLines(s)), " ") }

// cleanLines is clean for text of several lines.
func cleanLines(s string) string {
	return strings.Map(func(r rune) rune {
		if r == '\n' || unicode.IsPrint(r) {
			return r
		}
		return ' '
	}, strings.ToValidUTF8(strings.ReplaceAll(s, "\r\n", "\n"), "\ufffd"))
}

// cut shortens s to at most limit bytes without splitting a character.
func cut(s string, limit int) string {
	if len(s) <= limit {
		return s
	}
	limit -= len("…")
	for limit > 0 && !utf8.RuneStart(s[limit]) {
		limit--
	}
	return s[:limit] + "…"
}

// quote writes untrusted text for an error message.
func quote(s string) string { return strconv.Quote(cut(s, 100)) }
