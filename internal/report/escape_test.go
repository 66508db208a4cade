package report

import (
	"html"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/yuin/goldmark"
	"github.com/yuin/goldmark/extension"

	"github.com/accelgate/accelgate/internal/text"
)

var gfm = goldmark.New(goldmark.WithExtensions(extension.GFM))

func toHTML(t testing.TB, markdown string) string {
	t.Helper()
	var b strings.Builder
	if err := gfm.Convert([]byte(markdown), &b); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// inside returns what is between before and after, the whole of the rest.
func inside(t testing.TB, s, before, after string) string {
	t.Helper()
	rest, ok := strings.CutPrefix(s, before)
	body, ok2 := strings.CutSuffix(rest, after)
	if !ok || !ok2 {
		t.Fatalf("%q is not wrapped in %q and %q", s, before, after)
	}
	return body
}

var seeds = []string{
	"", " ", "plain", "a|b", `a\|b`, `\\|\|\`, "`", "``a`", " `` ", "</code></td>", "<b>&lt;", "**a** _b_ ~~c~~ ~d~", "[a](b)", "![a](b)", "[^1]",
	"http://a.example", "https://a.example/?b", "www.a.example", "WWW.a.example", "ftp://a", "a@b.example", "mailto:a@b.example", "xmpp:a@b.example",
	"@octocat", "#1", "gh-1", "deadbeefdeadbeef", "a\nb", "a\r\nb", "\r", "\t", "\x00", "\x1b[31m", "\u202e", "\u200b", "\ufeff", "\u2028", "\xff", "\xc3\x28",
	"::error::x", "##[error]x", "$a$", ":tada:", "- a", "1. a", "# a", "> a", "\\", `\*`, "&amp;", "&#42;", "é漢🙂", "---", "|---|", "~~~", "```",
}

// FuzzEscapeInline puts a string in each place inside a line. It must neither
// change the structure around it nor what it says.
func FuzzEscapeInline(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		s = s[:min(len(s), 1000)] // longer ones are cut before
		said := strings.ReplaceAll(visible(s), "\u200b", "")
		same := func(where, got string) {
			t.Helper()
			if strings.ContainsAny(got, "<>") {
				t.Errorf("%s: %q becomes markup: %s", where, s, got)
			}
			got = strings.ReplaceAll(html.UnescapeString(got), "\u200b", "")
			if strings.TrimSpace(got) != strings.TrimSpace(said) {
				t.Errorf("%s: %q is shown as %q, want %q", where, s, got, said)
			}
		}
		same("paragraph", inside(t, toHTML(t, "x "+escapeText(s)+" x"), "<p>x ", " x</p>\n"))
		same("heading", inside(t, toHTML(t, "# x "+escapeText(s)+" x"), "<h1>x ", " x</h1>\n"))
		same("item", inside(t, toHTML(t, "- x "+escapeText(s)+" x"), "<ul>\n<li>x ", " x</li>\n</ul>\n"))
		table := "<table>\n<thead>\n<tr>\n<th>a</th>\n<th>b</th>\n</tr>\n</thead>\n<tbody>\n<tr>\n<td>"
		end := "</td>\n<td>x</td>\n</tr>\n</tbody>\n</table>\n"
		cell := func(s string) string { return toHTML(t, "|a|b|\n|--|--|\n| "+s+" | x |\n") }
		same("text in a cell", inside(t, cell(escapeText(s)), table, end))
		if strings.Trim(said, " ") == "" {
			said = "–"
			same("no code in a cell", inside(t, cell(escapeCodeCell(s)), table, end))
			return
		}
		same("code", inside(t, toHTML(t, "x "+escapeCode(s)+" x"), "<p>x <code>", "</code> x</p>\n"))
		said = strings.ReplaceAll(said, `\|`, `\<U+007C>`)
		same("code in a cell", inside(t, cell(escapeCodeCell(s)), table+"<code>", "</code>"+end))
	})
}

// FuzzEscapeFence quotes a text inside <details>. It must stay inside.
func FuzzEscapeFence(f *testing.F) {
	for _, s := range seeds {
		f.Add(s)
		f.Add("a\n" + s + "\n" + s)
	}
	f.Add(strings.Repeat("line\n", 100))
	f.Add(strings.Repeat("long", 1000) + "\r50%\r100%\n</details>")
	f.Fuzz(func(t *testing.T, s string) {
		for _, tail := range []bool{false, true} {
			lines, _ := excerpt(s, tail)
			got := inside(t, toHTML(t, "before\n\n"+escapeFence(lines)+"\nafter\n"),
				"<p>before</p>\n<pre><code class=\"language-text\">", "</code></pre>\n<p>after</p>\n")
			if got := strings.TrimSuffix(html.UnescapeString(got), "\n"); got != strings.Join(lines, "\n") {
				t.Errorf("excerpt of %q is shown as %q, want %q", s, got, lines)
			}
			size := 0
			for _, line := range lines {
				size += len(line)
				isHarmless(t, line)
			}
			if len(lines) > 30 || size > 2000+300*utf8.UTFMax {
				t.Errorf("%d lines with %d bytes", len(lines), size)
			}
		}
	})
}

// isHarmless checks a line of plain text.
func isHarmless(t *testing.T, line string) {
	t.Helper()
	if i := strings.IndexFunc(line, func(r rune) bool { return !unicode.IsPrint(r) }); i >= 0 || !utf8.ValidString(line) {
		t.Errorf("%q is not printable", line)
	}
	if strings.HasPrefix(strings.TrimSpace(line), "::") || strings.Contains(line, "##[") {
		t.Errorf("%q is a command to the runner", line)
	}
}

// FuzzEscapePlain covers what reaches a terminal and a title.
func FuzzEscapePlain(f *testing.F) {
	for _, s := range seeds {
		f.Add(s, 5)
		f.Add(strings.Repeat(s, 40), 160)
	}
	f.Fuzz(func(t *testing.T, s string, limit int) {
		limit = 3 + limit&0xff
		got := clip(s, limit)
		isHarmless(t, inert(got))
		if n := utf8.RuneCountInString(got); n > limit {
			t.Errorf("clip(%q, %d) has %d runes", s, limit, n)
		}
		if text.Printable(s) && utf8.RuneCountInString(s) <= limit && got != s {
			t.Errorf("clip(%q, %d) = %q, want it unchanged", s, limit, got)
		}
		if twice := visible(visible(s)); twice != visible(s) {
			t.Errorf("visible(%q) is not final: %q", s, twice)
		}
		isHarmless(t, "command "+text.ShellQuote(s))
	})
}

func TestVisible(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"plain é漢🙂 <U+202E>", "plain é漢🙂 <U+202E>"},
		{"a\u202eb\u200b", "a<U+202E>b<U+200B>"},
		{"a\nb\r\nc\rd\te", "a ⏎ b ⏎ c<U+000D>d e"},
		{"\x1b[31m", "<U+001B>[31m"},
		{"\xff\ufffd", "<0xFF>\ufffd"},
		{"##[error]", "##<U+005B>error]"},
	} {
		if got := visible(c.in); got != c.want {
			t.Errorf("visible(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}

func TestLinkOnlyToAddresses(t *testing.T) {
	for _, c := range []struct{ url, want string }{
		{"https://github.com/o/r/actions/runs/1?a=1&b", "[run](https://github.com/o/r/actions/runs/1?a=1&amp;b)"},
		{"http://localhost:3000/x", "[run](http://localhost:3000/x)"},
		{"javascript:alert(1)", "run"},
		{"https://a.example/) ![x](y", "run"},
		{"https://a.example/\n# x", "run"},
		{"https://user@a.example", "run"},
		{"https://" + strings.Repeat("a", 500), "[run](https://" + strings.Repeat("a", 500) + ")"},
		{"https://" + strings.Repeat("a", 501), "run"},
		{"", "run"},
	} {
		if got := escapeLink("run", c.url); got != c.want {
			t.Errorf("escapeLink(%q) = %q, want %q", c.url, got, c.want)
		}
	}
}

// TestEscapeTextForGitHub covers what GitHub links after Markdown is done, so
// that no parser of Markdown can prove it.
func TestEscapeTextForGitHub(t *testing.T) {
	for _, c := range []struct{ in, want string }{
		{"by @octocat", "by @&#8203;octocat"},
		{"see o/r#12", "see o/r&#35;&#8203;12"},
		{"see GH-12", "see GH-&#8203;12"},
		{"at deadbee", "at deadbe&#8203;e"},
		{"at deadbe", "at deadbe"},
		{"so :tada: it is", "so :&#8203;tada: it is"},
		{"www.a.example", "www.&#8203;a.example"},
		{"https://a.example", "https:&#8203;//a.example"},
		{"$x$", "&#36;x&#36;"},
		{"n=3: 0.4 %", "n=3: 0.4 %"},
	} {
		if got := escapeText(c.in); got != c.want {
			t.Errorf("escapeText(%q) = %q, want %q", c.in, got, c.want)
		}
	}
}
