// Package foreign writes text of strangers into messages: names and values from
// their files. It stays short, on one line, and without what could disturb a
// terminal or be obeyed by the runner of GitHub Actions.
package foreign

import (
	"strconv"
	"strings"
	"unicode"
)

// Quote writes at most limit characters of a text in quotes.
func Quote(s string, limit int) string {
	cut := ""
	if r := []rune(s[:min(len(s), 4*limit)]); len(r) > limit {
		s, cut = string(r[:limit]), " (cut)"
	}
	return strings.ReplaceAll(strconv.Quote(s), "##[", `##\x5b`) + cut
}

// Plain is Quote only for what needs it; what does not is not cut.
func Plain(s string, limit int) string {
	odd := func(r rune) bool { return !unicode.IsPrint(r) || r == unicode.ReplacementChar }
	if s == "" || strings.ContainsFunc(s, odd) || strings.TrimLeft(s, " :") != s || strings.Contains(s, "##[") {
		return Quote(s, limit)
	}
	return s
}

// Join appends a key to a JSON path: quoted, up to limit characters, where it is no
// word or longer than longest bytes.
func Join(path, key string, longest, limit int) string {
	odd := func(r rune) bool { return r != '_' && (r > 'z' || !unicode.IsLetter(r) && !unicode.IsDigit(r)) }
	switch {
	case key == "" || len(key) > longest || strings.ContainsFunc(key, odd):
		return path + "[" + Quote(key, limit) + "]"
	case path == "":
		return key
	}
	return path + "." + key
}
