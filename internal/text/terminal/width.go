package terminal

import (
	"strings"
	"unicode"
	"unicode/utf8"

	"golang.org/x/text/width"
)

// Width is how many columns a line takes: two for a character of East Asian scripts and an emoji, none for what joins others
// and for the escape sequences of colours and hyperlinks.
func Width(line string) (columns int) {
	if strings.Contains(line, "\x1b") {
		line = escapes.ReplaceAllString(line, "")
	}
	for _, r := range line {
		columns += columnsOf(r)
	}
	return columns
}

func columnsOf(r rune) int {
	if r < 0x300 {
		return 1
	}
	if unicode.In(r, unicode.Mn, unicode.Me, unicode.Cf) {
		return 0
	}
	switch width.LookupRune(r).Kind() {
	case width.EastAsianWide, width.EastAsianFullwidth:
		return 2
	}
	return 1
}

// start is as much of the start of a text as fits into the columns.
func start(s string, columns int) string {
	for at, r := range s {
		if columns -= columnsOf(r); columns < 0 {
			return s[:at]
		}
	}
	return s
}

// end is as much of the end of a text as fits into the columns.
func end(s string, columns int) string {
	at := len(s)
	for at > 0 {
		r, size := utf8.DecodeLastRuneInString(s[:at])
		if columns -= columnsOf(r); columns < 0 {
			break
		}
		at -= size
	}
	return s[at:]
}
