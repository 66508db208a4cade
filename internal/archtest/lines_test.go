package archtest

import (
	"os"
	"regexp"
	"strings"
	"testing"
	"unicode/utf8"
)

// maxColumns is how wide a line of code may be, with tabs of four columns. Texts, comments and tests may be wider.
const maxColumns = 140

var (
	texts   = regexp.MustCompile("\"(?:[^\"\\\\]|\\\\.)*\"|`[^`]*`")
	comment = regexp.MustCompile(`(^|\s)//.*$`)
)

// TestLinesFit: a line of code is read without scrolling.
func TestLinesFit(t *testing.T) {
	lines := 0
	for _, s := range sources(t) {
		if s.test {
			continue
		}
		data, err := os.ReadFile(s.file)
		if err != nil {
			t.Fatal(err)
		}
		for n, line := range strings.Split(string(data), "\n") {
			lines++
			code := comment.ReplaceAllString(texts.ReplaceAllString(line, `""`), "")
			if columns := utf8.RuneCountInString(strings.ReplaceAll(code, "\t", "    ")); columns > maxColumns {
				t.Errorf("%s:%d: %d columns of code: break the line", s.file, n+1, columns)
			}
		}
	}
	if lines < 100_000 {
		t.Errorf("%d lines were read, want 100,000 or more", lines)
	}
}
