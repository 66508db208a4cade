// Package text prepares text for messages: it quotes and shortens what files and
// programs of others hold, suggests words and writes plurals.
package text

import (
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"
)

// commandMark starts a command that the runner of GitHub Actions obeys anywhere in
// a line (TryParse in src/Runner.Common/ActionCommand.cs of actions/runner).
const commandMark = "##["

// Quote returns at most limit characters of s in Go's quotes, and " (cut)" behind
// them if s is longer. It holds nothing that a terminal or the runner of GitHub
// Actions obeys.
func Quote(s string, limit int) string {
	mark := ""
	if r := []rune(s[:min(len(s), 4*limit)]); len(r) > limit {
		s, mark = string(r[:limit]), " (cut)"
	}
	return strings.ReplaceAll(strconv.Quote(s), commandMark, `##\x5b`) + mark
}

// Plain returns s unchanged if it needs no quotes, however long it is, and
// [Quote] of it otherwise.
func Plain(s string, limit int) string {
	if s == "" || !Printable(s) || strings.TrimLeft(s, " :") != s {
		return Quote(s, limit)
	}
	return s
}

// Printable reports whether s holds only printable characters, no U+FFFD and no
// invalid bytes, and no command for the runner of GitHub Actions.
func Printable(s string) bool {
	ascii := 0
	for ascii < len(s) && ' ' <= s[ascii] && s[ascii] <= '~' {
		ascii++
	}
	for _, r := range s[ascii:] {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return false
		}
	}
	return !strings.Contains(s, commandMark)
}

// Clean replaces each character that cannot be printed, such as line ends, escapes
// and marks that reverse the order of text, by a blank.
func Clean(s string) string {
	if Printable(s) {
		return s
	}
	s = strings.Map(func(r rune) rune {
		if r == utf8.RuneError || !unicode.IsPrint(r) {
			return ' '
		}
		return r
	}, s)
	return strings.ReplaceAll(s, commandMark, "## [")
}

// Line returns at most limit characters of s as one clean line with single blanks,
// and "..." behind them if s is longer.
func Line(s string, limit int) string {
	s = strings.Join(strings.Fields(Clean(s)), " ")
	n := 0
	for i := range s {
		if n == limit {
			return s[:i] + "..."
		}
		n++
	}
	return s
}

// OneLine is [Line] with the length that messages have room for.
func OneLine(s string) string { return Line(s, 300) }
