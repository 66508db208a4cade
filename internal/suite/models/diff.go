package models

import (
	"fmt"
	"strings"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
)

// The context of a difference, in characters and in token ids. A report has room for
// 240 characters.
const (
	charsBefore, charsAfter   = 20, 40
	tokensBefore, tokensAfter = 4, 4
)

// difference returns where got and want begin to differ, and what stands before and after
// it. The texts are not equal.
func difference(got, want string) string {
	i := 0
	for i < min(len(got), len(want)) && got[i] == want[i] {
		i++
	}
	for i > 0 && (i < len(got) && !utf8.RuneStart(got[i]) || i < len(want) && !utf8.RuneStart(want[i])) {
		i--
	}
	return fmt.Sprintf("differs at byte %d%s: got %s, want %s", i, after(got[:i]), quoted(got[i:]), quoted(want[i:]))
}

// after is the end of the text before a difference.
func after(s string) string {
	start := len(s)
	for n := 0; n < charsBefore && start > 0; n++ {
		_, size := utf8.DecodeLastRuneInString(s[:start])
		start -= size
	}
	switch {
	case s == "":
		return ""
	case start > 0:
		return " after ..." + snippet(s[start:], charsBefore)
	}
	return " after " + snippet(s, charsBefore)
}

func quoted(s string) string { return snippet(s, charsAfter) }

// snippet quotes the beginning of s, of at most limit characters, and of fewer where
// escapes make them long.
func snippet(s string, limit int) string {
	maximum := limit + len(`"" (cut)`)
	for n := limit; ; n /= 2 {
		if q := text.Quote(s, n); utf8.RuneCountInString(q) <= maximum || n <= 1 {
			return q
		}
	}
}

// window shows the token ids around number i.
func window(ids []int64, i int) string {
	from, to := max(i-tokensBefore, 0), min(i+1+tokensAfter, len(ids))
	var words []string
	if from > 0 {
		words = append(words, "...")
	}
	for _, id := range ids[min(from, to):to] {
		words = append(words, fmt.Sprint(id))
	}
	if to < len(ids) {
		words = append(words, "...")
	}
	return "[" + strings.Join(words, " ") + "]"
}
