package matrix

import "strings"

// instead is the next step after an unknown word.
func instead(word string, known []string) string {
	if near := nearest(word, known); near != "" {
		return "did you mean " + near + "?"
	}
	return "use one of " + strings.Join(known, ", ")
}

// nearest returns the known word that the fewest edits lead to, or "" if they
// are more than two or change more than half of the word.
func nearest(word string, known []string) string {
	best, limit := "", min(2, len(word)/2)
	for _, k := range known {
		if d := edits(word, k, limit); d <= limit && (best == "" || d < limit) {
			best, limit = k, d
		}
	}
	return best
}

// edits counts the insertions, deletions and replacements that turn a into b
// (Levenshtein's distance). Beyond limit, any greater number may be returned.
func edits(a, b string, limit int) int {
	if len(a)-len(b) > limit || len(b)-len(a) > limit {
		return limit + 1
	}
	row := make([]int, len(b)+1)
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		diagonal := row[0]
		row[0] = i + 1
		for j := range len(b) {
			replaced := diagonal
			if a[i] != b[j] {
				replaced++
			}
			diagonal = row[j+1]
			row[j+1] = min(replaced, diagonal+1, row[j]+1)
		}
	}
	return row[len(b)]
}
