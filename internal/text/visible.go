package text

import (
	"strings"
	"unicode"
)

// Visible makes foreign text one line that a terminal does not obey, of at most so many runes and an
// ellipsis: what cannot be printed becomes U+FFFD.
func Visible(s string, maximum int) string {
	s = strings.Map(func(r rune) rune {
		if unicode.IsPrint(r) {
			return r
		}
		return unicode.ReplacementChar
	}, s)
	if len(s) <= maximum {
		return s
	}
	if runes := []rune(s); len(runes) > maximum {
		return string(runes[:maximum]) + "…"
	}
	return s
}
