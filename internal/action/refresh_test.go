package action

import (
	"regexp"
	"testing"
)

// TestReasonIsInertInACommit: GitHub acts on nothing in a commit message that a
// reason became part of.
func TestReasonIsInertInACommit(t *testing.T) {
	acted := regexp.MustCompile(`@\w|#\d|(?i)gh-\d|\[(skip|no) ci\]|\[(ci|actions) skip\]|\[skip actions\]|skip-checks:|://|\n`)
	for reason, want := range map[string]string{
		"new driver 570": "new driver 570",
		"Closes #1 and owner/repo#2, fixes GH-3, @octo/admins": "Closes # 1 and owner/repo# 2, fixes GH - 3, @ octo/admins",
		"[skip ci] x [ci skip]":                                "( skip ci ) x ( ci skip )",
		"resolves https://github.com/o/r/issues/1":             "resolves https: //github.com/o/r/issues/1",
		"line\n\nskip-checks: true":                            "",
	} {
		got := forCommit(reason)
		if acted.MatchString(got) || want != "" && got != want {
			t.Errorf("%q becomes %q, want %q", reason, got, want)
		}
	}
}
