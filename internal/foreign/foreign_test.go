package foreign_test

import (
	"strings"
	"testing"
	"unicode"

	"github.com/accelgate/accelgate/internal/foreign"
)

func TestText(t *testing.T) {
	for _, test := range []struct{ in, quoted, plain string }{
		{"", `""`, `""`},
		{"a b", `"a b"`, "a b"},
		{"a\nb", `"a\nb"`, `"a\nb"`},
		{":a", `":a"`, `":a"`},
		{"##[x]", `"##\x5bx]"`, `"##\x5bx]"`},
		{"\u202egnp", `"\u202egnp"`, `"\u202egnp"`},
		{strings.Repeat("é", 9), `"éééééééé" (cut)`, strings.Repeat("é", 9)},
	} {
		if q, p := foreign.Quote(test.in, 8), foreign.Plain(test.in, 8); q != test.quoted || p != test.plain {
			t.Errorf("%q: %s and %s, want %s and %s", test.in, q, p, test.quoted, test.plain)
		}
	}
}

func TestJoin(t *testing.T) {
	for _, test := range []struct{ path, key, want string }{
		{"", "a", "a"}, {"p", "a_1", "p.a_1"}, {"p", "", `p[""]`}, {"p", "a.b", `p["a.b"]`}, {"p", "longer", `p["long" (cut)]`},
	} {
		if got := foreign.Join(test.path, test.key, 3, 4); got != test.want {
			t.Errorf("%q, %q: %s, want %s", test.path, test.key, got, test.want)
		}
	}
}

func FuzzText(f *testing.F) {
	f.Add("a\x00##[x]\u202e", uint8(3))
	f.Fuzz(func(t *testing.T, s string, limit uint8) {
		for _, out := range []string{foreign.Quote(s, int(limit)), foreign.Plain(s, int(limit)), foreign.Join("p", s, 10, int(limit))} {
			if strings.Contains(out, "##[") || strings.ContainsFunc(out, func(r rune) bool { return !unicode.IsPrint(r) }) {
				t.Errorf("%q became %q", s, out)
			}
		}
	})
}
