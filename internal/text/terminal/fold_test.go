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

// TestWidth: tables and cuts count columns of the terminal, not characters.
func TestWidth(t *testing.T) {
	for s, want := range map[string]int{"": 0, "model": 5, "模型": 4, "naïve": 5, "nai\u0308ve": 5, "🚀": 2, "a\u200db": 2, "\x1b[31mred\x1b[0m": 3, "ＡＢ": 4} {
		if got := terminal.Width(s); got != want {
			t.Errorf("%q takes %d columns, want %d", s, got, want)
		}
	}
	const name = "模型名称很长的大语言模型__cpu__f__baseline"
	others := []string{name, "模型名称很长的小语言模型__cpu__f__baseline"}
	for columns := 14; columns < 40; columns++ {
		cut := terminal.CutAlike(others, columns)
		if terminal.Width(cut[0]) > columns || cut[0] == cut[1] || terminal.Width(terminal.Cut(name, columns)) > columns {
			t.Errorf("%d columns: %q", columns, cut)
		}
	}
	rows := [][]string{{"CELL", "NOW"}, {name, "1 ms"}, {"b", "2 ms"}}
	lines := terminal.Grid(make([]terminal.Column, 2), rows, 60)
	if terminal.Width(lines[1]) != terminal.Width(lines[2]) || terminal.Width(lines[1]) != 44+2-1+4-1 {
		t.Errorf("columns are not aligned: %q", lines)
	}
}
