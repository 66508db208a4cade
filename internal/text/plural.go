package text

import (
	"strconv"
	"strings"
)

// Plural returns a number with its noun: "1 cell", "2 cells", "2 losses". Nouns whose plural is neither s nor es, such
// as entry, are not for it.
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
	return strconv.Itoa(n) + " " + noun + ending
}
