package text

import "strings"

// Cut returns the beginning of s, at most limit bytes of valid UTF-8.
func Cut(s string, limit int) string {
	return strings.ToValidUTF8(s[:min(len(s), max(limit, 0))], "")
}

// Tail returns the end of s, at most limit bytes of valid UTF-8.
func Tail(s string, limit int) string {
	return strings.ToValidUTF8(s[max(0, len(s)-max(limit, 0)):], "")
}

// Clip returns at most limit bytes of s as valid UTF-8, and "..." behind them if s
// is longer.
func Clip(s string, limit int) string {
	s = strings.ToValidUTF8(s, "\uFFFD")
	if len(s) <= limit {
		return s
	}
	return Cut(s, limit) + "..."
}

// LastLine returns the last line of s that is not blank.
func LastLine(s string) string {
	s = strings.TrimSpace(s)
	return s[strings.LastIndexByte(s, '\n')+1:]
}
