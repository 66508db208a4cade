package matrix

import "slices"

// GlobAny reports whether s matches one of the patterns.
func GlobAny(patterns []string, s string) bool {
	return slices.ContainsFunc(patterns, func(pattern string) bool { return Glob(pattern, s) })
}

// Glob reports whether s matches pattern: "*" stands for any run of
// characters, "?" for one byte, everything else for itself. It is not
// path.Match, because "/" and "[" are ordinary in the names of models.
func Glob(pattern, s string) bool {
	star, mark := -1, 0 // the last "*" and where in s it began to match
	p, i := 0, 0
	for i < len(s) {
		switch {
		case p < len(pattern) && pattern[p] == '*':
			star, mark = p, i
			p++
		case p < len(pattern) && (pattern[p] == '?' || pattern[p] == s[i]):
			p++
			i++
		case star >= 0:
			mark++
			p, i = star+1, mark
		default:
			return false
		}
	}
	for p < len(pattern) && pattern[p] == '*' {
		p++
	}
	return p == len(pattern)
}
