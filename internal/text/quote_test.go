package text_test

import (
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/accelgate/accelgate/internal/text"
)

func TestQuoteAndPlain(t *testing.T) {
	for _, test := range []struct{ in, quoted, plain string }{
		{"", `""`, `""`},
		{"a b", `"a b"`, "a b"},
		{"a\nb", `"a\nb"`, `"a\nb"`},
		{":a", `":a"`, `":a"`},
		{"##[x]", `"##\x5bx]"`, `"##\x5bx]"`},
		{"\u202egnp", `"\u202egnp"`, `"\u202egnp"`},
		{"a\xff", `"a\xff"`, `"a\xff"`},
		{strings.Repeat("é", 9), `"éééééééé" (cut)`, strings.Repeat("é", 9)},
	} {
		if q, p := text.Quote(test.in, 8), text.Plain(test.in, 8); q != test.quoted || p != test.plain {
			t.Errorf("%q: %s and %s, want %s and %s", test.in, q, p, test.quoted, test.plain)
		}
	}
}

func TestCleanAndLine(t *testing.T) {
	for _, test := range []struct{ in, clean, line string }{
		{"", "", ""},
		{"a  b", "a  b", "a b"},
		{" a\n\tb\r\n", " a  b  ", "a b"},
		{"a\x00\x1b[31m", "a  [31m", "a [31m"},
		{"\u202egnp\xff", " gnp ", "gnp"},
		{"###[error]", "### [error]", "### [err..."},
		{strings.Repeat("é", 9), strings.Repeat("é", 9), strings.Repeat("é", 8) + "..."},
	} {
		if c, l := text.Clean(test.in), text.Line(test.in, 8); c != test.clean || l != test.line {
			t.Errorf("%q: %q and %q, want %q and %q", test.in, c, l, test.clean, test.line)
		}
	}
}

func TestJSONPath(t *testing.T) {
	for _, test := range []struct{ path, key, want string }{
		{"", "a", "a"}, {"p", "a_1", "p.a_1"}, {"p", "", `p[""]`}, {"p", "a.b", `p["a.b"]`}, {"p", "longer", `p["long" (cut)]`},
	} {
		if got := text.JSONPath(test.path, test.key, 4); got != test.want {
			t.Errorf("%q, %q: %s, want %s", test.path, test.key, got, test.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x00##[x]\u202e", uint8(3))
	f.Add("##\x00[x\xff\x80\x80\x80", uint8(5))
	f.Fuzz(func(t *testing.T, s string, limit uint8) {
		n := int(limit)
		for _, out := range []string{
			text.Quote(s, n), text.Plain(s, n), text.JSONPath("p", s, n), text.Clean(s), text.Line(s, n), text.ShellWord(s), text.ShellQuote(s),
		} {
			if strings.Contains(out, "##[") || strings.ContainsFunc(out, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%q became %q", s, out)
			}
		}
		if out := text.Line(s, n); utf8.RuneCountInString(out) > n+len("...") {
			t.Errorf("Line(%q, %d) has %d characters", s, n, utf8.RuneCountInString(out))
		}
		for name, out := range map[string]string{"Cut": text.Cut(s, n), "Tail": text.Tail(s, n), "Clip": strings.TrimSuffix(text.Clip(s, n), "...")} {
			if len(out) > n || !utf8.ValidString(out) {
				t.Errorf("%s(%q, %d) is %q", name, s, n, out)
			}
		}
	})
}
