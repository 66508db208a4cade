package text

import "strconv"

// Plural returns a number with its noun: "1 cell", "2 cells". It appends an s, so
// the noun must be one that takes it.
func Plural(n int, noun string) string {
	if n == 1 {
		return "1 " + noun
	}
	return strconv.Itoa(n) + " " + noun + "s"
}
