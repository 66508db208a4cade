package report

import (
	"strings"
	"testing"
)

// hostileText has foreign text in each place of a text.
func hostileText() *Text {
	const foreign = "a|b`c\n::error::x\x1b[31m <b>@me</b>"
	t := &Text{}
	t.Line(Plain("Result of "), Code(foreign))
	t.Table([]string{"Name~", "Rows>"}, [][]Line{{{Code(foreign)}, {Plain("1")}}, {{Code(" ")}, {Plain("20")}}}, 3)
	t.Section("Empty")
	t.List(nil)
	t.Section("Failed")
	t.List([]Line{{Code("::set-output"), Plain(": "), Foreign(foreign)}})
	t.Section("")
	t.Line(Foreign("::error::the last line"))
	return t
}

func TestTextTerminal(t *testing.T) {
	const foreign = "a|b`c ⏎ ::error::x<U+001B>[31m <b>@me</b>"
	want := []string{
		"Result of " + foreign, "",
		"NAME" + strings.Repeat(" ", 37) + "  ROWS", foreign + "     1", "–" + strings.Repeat(" ", 40) + "    20", "... and 1 more row", "",
		"== Failed", "- ::set-output: " + foreign, "",
		"<U+003A>:error::the last line", "",
	}
	var b strings.Builder
	if err := hostileText().Terminal(&b, 100); err != nil || b.String() != strings.Join(want, "\n") {
		t.Errorf("error %v, text:\n%s\nwant:\n%s", err, b.String(), strings.Join(want, "\n"))
	}
}

func TestTextMarkdown(t *testing.T) {
	var b strings.Builder
	if err := hostileText().Markdown(&b); err != nil {
		t.Fatal(err)
	}
	page := toHTML(t, b.String())
	for _, want := range []string{"<h3>Failed</h3>", "<li><code>::set-output</code>: a|b`c ⏎", "… and 1 more", `right">20</td>`} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q in:\n%s", want, page)
		}
	}
	for _, bad := range []string{"Empty", "<b>", "\x1b"} {
		if strings.Contains(page, bad) {
			t.Errorf("%q in:\n%s", bad, page)
		}
	}
	if n := strings.Count(page, "<tr>"); n != 3 {
		t.Errorf("%d rows of the table, want 3:\n%s", n, page)
	}
}
