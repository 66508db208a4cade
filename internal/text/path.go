package text

import (
	"strings"
	"unicode"
)

// JSONPath appends a key to the path of a JSON value: as it is if it is a word of at
// most limit bytes, else in brackets and quotes, cut to limit characters.
func JSONPath(path, key string, limit int) string {
	odd := func(r rune) bool { return r != '_' && (r > 'z' || !unicode.IsLetter(r) && !unicode.IsDigit(r)) }
	switch {
	case key == "" || len(key) > limit || strings.ContainsFunc(key, odd):
		return path + "[" + Quote(key, limit) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}
