package terminal_test

import (
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/text/terminal"
)

func TestFold(t *testing.T) {
	const command = `accelgate baseline update --reason "first baseline"`
	long := strings.Repeat("x", 30) + "y"
	for _, c := range []struct {
		line string
		want []string
	}{
		{"- a short line", []string{"- a short line"}},
		{"  what is longer than a line goes on below it", []string{"  what is longer than", "    a line goes on", "    below it"}},
		{"no command is broken. Next: " + command, []string{"no command is broken.", "  Next:", "  " + command}},
		{"  " + command, []string{"  " + command}},
		{"paths stay whole: baselines/baseline-linux-cuda.json", []string{"paths stay whole:", "  baselines/baseline-linux-cuda.json"}},
		{"cut: " + long, []string{"cut:", "  xxxxxxxxx…xxxxxxxxy"}},
		{"nothing at a start ::error::x", []string{"nothing at a", "  start ::error::x"}},
		{terminal.Whole("stay together for ever") + " or not", []string{"stay together for ever", "  or not"}},
		{"\x1b[1;31mFAIL\x1b[0m: 1 of 11 cells", []string{"\x1b[1;31mFAIL\x1b[0m: 1 of 11 cells"}},
	} {
		if diff := cmp.Diff(c.want, terminal.Fold(c.line, 21)); diff != "" {
			t.Errorf("%q (-want +got):\n%s", c.line, diff)
		}
		if got := terminal.Fold(c.line, 0); len(got) != 1 {
			t.Errorf("a file has no width: %q", got)
		}
	}
}

// TestCutAlike keeps different names different, wherever they differ.
func TestCutAlike(t *testing.T) {
	const same = "some-organisation/some-repository/some-package/"
	for at := 0; at < len(same); at += 3 {
		a, b := same[:at]+"A"+same[at:], same[:at]+"B"+same[at:]
		for columns := 12; columns <= len(a); columns++ {
			cut := terminal.CutAlike([]string{a, b, a, "short"}, columns)
			if cut[0] == cut[1] || cut[0] != cut[2] || cut[3] != "short" || utf8.RuneCountInString(cut[1]) > columns {
				t.Fatalf("%d columns: %q", columns, cut)
			}
		}
	}
	if got := terminal.Cut("model__backend__feature", 11); got != "model…ature" {
		t.Errorf("%q lacks its middle only", got)
	}
}
