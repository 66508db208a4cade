package baseline

import (
	"strconv"
	"strings"
	"unicode"
)

// quote writes a name of the file for a message: short, on one line, without a
// character that could disturb a terminal or reverse the order of text.
func quote(s string) string { return defang(strconv.Quote(clip(s))) }

// plain is quote for what is nearly always harmless, such as a path: only if it
// is not, it is quoted.
func plain(s string) string {
	hidden := strings.ContainsFunc(s, func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar })
	if hidden || strings.TrimLeft(s, " :") != s || defang(s) != s {
		return quote(s)
	}
	return s
}

// defang breaks what the runner of GitHub Actions obeys anywhere in a line
// (TryParse in src/Runner.Common/ActionCommand.cs of actions/runner). Quotes
// break the commands that it obeys at the start of one.
func defang(quoted string) string { return strings.ReplaceAll(quoted, "##[", `##\x5b`) }

// clip keeps untrusted text in messages short.
func clip(s string) string {
	const most = 80 // characters
	n := 0
	for i := range s {
		if n == most {
			return s[:i] + "..."
		}
		n++
	}
	return s
}
