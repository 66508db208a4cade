package models

// within reports whether at most limit insertions, deletions and replacements of
// characters turn a into b (the distance of Levenshtein). Only the cells of the table
// that such a way can pass are computed: it takes time of len(a) times limit, and
// memory of len(b) (E. Ukkonen, Algorithms for approximate string matching, 1985).
func within(a, b []rune, limit int) bool {
	for len(a) > 0 && len(b) > 0 && a[0] == b[0] {
		a, b = a[1:], b[1:]
	}
	for len(a) > 0 && len(b) > 0 && a[len(a)-1] == b[len(b)-1] {
		a, b = a[:len(a)-1], b[:len(b)-1]
	}
	if max(len(a)-len(b), len(b)-len(a)) > limit {
		return false
	}
	if limit >= max(len(a), len(b)) {
		return true
	}
	row := make([]int32, len(b)+1) // row[j] edits turn a[:i] into b[:j]
	for j := range row {
		row[j] = int32(min(j, limit+1))
	}
	for i := range a {
		if !nextRow(row, a[i], b, i+1, limit) {
			return false
		}
	}
	return row[len(b)] <= int32(limit)
}

// nextRow turns row i-1 of the table into row i, of character c of a, where j is at
// most limit from i. It reports whether any of it is within the limit.
func nextRow(row []int32, c rune, b []rune, i, limit int) bool {
	from, to := max(1, i-limit), min(len(b), i+limit)
	diagonal, beyond := row[from-1], int32(limit+1)
	left := beyond
	if from == 1 {
		left = min(int32(i), beyond)
	}
	row[from-1] = left
	minimum := left
	for j := from; j <= to; j++ {
		edits := diagonal
		if b[j-1] != c {
			edits++
		}
		diagonal = row[j]
		edits = min(edits, diagonal+1, left+1)
		row[j], left = edits, edits
		minimum = min(minimum, edits)
	}
	return minimum < beyond
}
