package terminal

import (
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

// joined stands for a space at which no line may end. Texts for terminals hold none: they name it.
const joined = "\u00a0"

var (
	// A command in the middle of a text: a program, its names, and flags with their values.
	commands = lazyregexp.New(`\b(accelgate|systemctl|docker|podman|git|gh)( [a-z][a-z.-]*){1,2}` +
		`( --?[A-Za-z][a-z-]*([ =]('[^']*'|"[^"]*"|[^ '"-][^ ]*))?)*|\becho [^ ]+ >> [^ ]+`)
	escapes = lazyregexp.New("\x1b\\[[0-9;]*m|\x1b\\]8;;[^\x1b]*\x1b\\\\")
)

// Whole keeps a text on one line, as a command must be that a user copies.
func Whole(s string) string { return strings.ReplaceAll(s, " ", joined) }

// Fold breaks a line at spaces, so that no line is wider than the columns. What follows the
// first is indented by two more. Commands and paths stay whole, however long; other words
// that are wider than a line are cut in the middle. 0 columns are any number.
func Fold(line string, columns int) []string {
	rest := strings.TrimLeft(line, " ")
	indent := line[:len(line)-len(rest)]
	if strings.HasPrefix(rest, "accelgate ") || strings.HasPrefix(rest, "git ") || columns <= 0 || Width(line) <= columns {
		return []string{strings.ReplaceAll(line, joined, " ")}
	}
	lines := fill(spaced(rest), columns-len(indent), columns-len(indent)-2)
	for i := range lines {
		lines[i] = indent + lines[i]
		if i == 0 {
			indent += "  "
		}
	}
	return lines
}

// spaced are the words of a text, and its commands. What GitHub's runner obeys at the start of a
// line belongs to the word before it, and so does a percent sign.
func spaced(s string) []string {
	s = strings.NewReplacer(" ::", joined+"::", " %", joined+"%").Replace(commands.ReplaceAllStringFunc(s, Whole))
	return strings.FieldsFunc(s, func(r rune) bool { return r == ' ' })
}

// fill puts words on lines, of which the first may be wider than the others.
func fill(words []string, first, others int) (lines []string) {
	width, line := first, ""
	for _, word := range words {
		if Width(word) > others && !strings.ContainsAny(word, "/\x1b"+joined) {
			word = Cut(word, others)
		}
		switch {
		case line == "":
			line = word
		case Width(line)+1+Width(word) <= width:
			line += " " + word
		default:
			lines, line, width = append(lines, line), word, others
		}
	}
	lines = append(lines, line)
	for i := range lines {
		lines[i] = strings.ReplaceAll(lines[i], joined, " ")
	}
	return lines
}
