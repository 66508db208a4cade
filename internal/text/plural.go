package text

import (
	"strconv"
	"strings"
)

// Plural returns a number with its noun: "1 cell", "2 cells", "2 losses", "2 entries". The plural of the noun's last
// word is regular: an s, an es after a hiss, or an ies in place of a y after a consonant.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	ending := "s"
	for _, hiss := range []string{"s", "x", "ch", "sh"} {
		if strings.HasSuffix(noun, hiss) {
			ending = "es"
		}
	}
	if stem, found := strings.CutSuffix(noun, "y"); found && !strings.ContainsAny(stem[max(0, len(stem)-1):], "aeiou") {
		noun, ending = stem, "ies"
	}
	return strconv.Itoa(n) + " " + noun + ending
}
