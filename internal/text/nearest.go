package text

import (
	"strings"
	"unicode"
)

// maxWord bounds the words that are compared, in bytes: words come from
// anywhere, and comparing takes the product of two lengths.
const maxWord = 200

// Nearest returns the known word nearest to word, or "" if none is near enough to
// be a slip of the fingers: at most a third of its bytes away.
func Nearest(word string, known []string) string {
	if len(word) > maxWord {
		return ""
	}
	best, nearest := "", max(1, len(word)/3)+1
	for _, k := range known {
		if len(k) > maxWord {
			continue
		}
		if d := distance(word, k); d < nearest {
			best, nearest = k, d
		}
	}
	return best
}

// NearestID returns the known id that a typed one means: the nearest, else the shortest with its letters and digits in
// it, else the longest with all of its letters and digits in the typed one. Ids are typed with other separators, without
// their ends, or with a package before them. It returns "" for none.
func NearestID(typed string, known []string) string {
	if near := Nearest(typed, known); near != "" {
		return near
	}
	word := letters(typed)
	shortest, longest := "", ""
	for _, k := range known {
		switch id := letters(k); {
		case len(word) < minWord || len(id) < minWord || len(k) > maxWord:
		case strings.Contains(id, word):
			if shortest == "" || len(k) < len(shortest) {
				shortest = k
			}
		case strings.Contains(word, id) && len(k) > len(longest):
			longest = k
		}
	}
	if shortest != "" {
		return shortest
	}
	return longest
}

const minWord = 3 // letters and digits that an id must share

// letters are the letters and digits of a word, in lower case.
func letters(word string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsLetter(r) || unicode.IsDigit(r) {
			return unicode.ToLower(r)
		}
		return -1
	}, word)
}

// Instead proposes what to write in place of an unknown word: the nearest known one, or
// all.
func Instead(word string, known []string) string {
	if near := Nearest(word, known); near != "" {
		return "did you mean " + Quote(near, 80) + "?"
	}
	return "use one of " + strings.Join(known, ", ")
}

// distance counts the insertions, deletions, replacements and swaps of
// neighbours that turn a into b (optimal string alignment).
func distance(a, b string) int {
	var before []int
	prev := make([]int, len(b)+1)
	for j := range prev {
		prev[j] = j
	}
	for i := range len(a) {
		row := make([]int, len(b)+1)
		row[0] = i + 1
		for j := range len(b) {
			cost := 1
			if a[i] == b[j] {
				cost = 0
			}
			row[j+1] = min(prev[j]+cost, prev[j+1]+1, row[j]+1)
			if i > 0 && j > 0 && a[i] == b[j-1] && a[i-1] == b[j] {
				row[j+1] = min(row[j+1], before[j-1]+1)
			}
		}
		before, prev = prev, row
	}
	return prev[len(b)]
}
