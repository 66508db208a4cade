package matrix_test

import (
	"strings"
	"testing"
	"testing/quick"

	"github.com/accelgate/accelgate/internal/matrix"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestGlobAgainstRecursion compares the loop with the obvious definition.
func TestGlobAgainstRecursion(t *testing.T) {
	var slow func(p, s string) bool
	slow = func(p, s string) bool {
		switch {
		case p == "":
			return s == ""
		case p[0] == '*':
			return slow(p[1:], s) || s != "" && slow(p, s[1:])
		}
		return s != "" && (p[0] == '?' || p[0] == s[0]) && slow(p[1:], s[1:])
	}
	letters := func(picks []byte, alphabet string) string {
		var b strings.Builder
		for _, i := range picks[:min(len(picks), 12)] {
			b.WriteByte(alphabet[int(i)%len(alphabet)])
		}
		return b.String()
	}
	property := func(p, s []byte) bool {
		pattern, name := letters(p, "ab*?/["), letters(s, "ab/[")
		return matrix.Glob(pattern, name) == slow(pattern, name)
	}
	if err := quick.Check(property, testtier.Quick(t, 20000)); err != nil {
		t.Error(err)
	}
}
