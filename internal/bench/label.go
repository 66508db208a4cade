package bench

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/text/lazyregexp"
)

var labelPattern = lazyregexp.New(`^[a-z0-9][a-z0-9._-]{0,62}$`)

// CheckLabel reports whether label can name a host. It becomes a part of a
// file name and of a git branch name: lower-case letters, digits, ".", "_"
// and "-", beginning with a letter or digit, at most 63 of them, without ".."
// and without "." or ".lock" at the end. Capitals are refused because macOS
// and Windows would let two hosts share one file. The error is one line that
// is safe to print and ends in a label to write.
func CheckLabel(label string) error {
	if usableLabel(label) {
		return nil
	}
	// The runner of GitHub Actions obeys "##[" anywhere in a line.
	quoted := strings.ReplaceAll(fmt.Sprintf("%.80q", label), "##[", `##\x5b`)
	return fmt.Errorf(`host label %s cannot name a file and a branch (lower-case letters, digits, ".", "_", "-"; `+
		`at most 63): write %s`, quoted, suggestLabel(label))
}

// usableLabel keeps to the rules that git has for a part of a branch name.
func usableLabel(label string) bool {
	return labelPattern.MatchString(label) && !strings.Contains(label, "..") &&
		!strings.HasSuffix(label, ".") && !strings.HasSuffix(label, ".lock")
}

// suggestLabel returns a usable label like the one that was meant.
func suggestLabel(label string) string {
	words := strings.FieldsFunc(strings.ToLower(label[:min(len(label), 200)]), func(r rune) bool {
		return (r < 'a' || r > 'z') && (r < '0' || r > '9')
	})
	s := strings.Join(words, "-")
	s = strings.Trim(s[:min(len(s), 63)], "-")
	if s == "" {
		return "my-host"
	}
	return s
}
