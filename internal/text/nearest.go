package text

import "strings"

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
