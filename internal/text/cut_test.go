package text_test

import (
	"testing"

	"github.com/accelgate/accelgate/internal/text"
)

func TestCutTailClip(t *testing.T) {
	for _, test := range []struct {
		in              string
		limit           int
		cut, tail, clip string
	}{
		{"", 3, "", "", ""},
		{"abc", 3, "abc", "abc", "abc"},
		{"abcd", 3, "abc", "bcd", "abc..."},
		{"aéé", 4, "aé", "éé", "aé..."},
		{"éa", 2, "é", "a", "é..."},
		{"a\xffb", 5, "ab", "ab", "a\uFFFDb"},
		{"abc", 0, "", "", "..."},
		{"abc", -1, "", "", "..."},
	} {
		cut, tail, clip := text.Cut(test.in, test.limit), text.Tail(test.in, test.limit), text.Clip(test.in, test.limit)
		if cut != test.cut || tail != test.tail || clip != test.clip {
			t.Errorf("%q, %d: %q, %q, %q, want %q, %q, %q", test.in, test.limit, cut, tail, clip, test.cut, test.tail, test.clip)
		}
	}
}

func TestLastLine(t *testing.T) {
	for in, want := range map[string]string{"": "", " \n": "", "a": "a", "a\nb\n\n": "b", "a\r\nb": "b"} {
		if got := text.LastLine(in); got != want {
			t.Errorf("LastLine(%q) is %q, want %q", in, got, want)
		}
	}
}

func TestPlural(t *testing.T) {
	for _, test := range []struct {
		n          int
		noun, want string
	}{
		{0, "cell", "0 cells"}, {1, "cell", "1 cell"}, {2, "cell", "2 cells"}, {2, "loss", "2 losses"}, {1, "loss", "1 loss"},
		{2, "batch", "2 batches"}, {0, "entry", "0 entries"}, {1, "entry", "1 entry"}, {2, "day", "2 days"}, {3, "more error", "3 more errors"},
	} {
		if got := text.Plural(test.n, test.noun); got != test.want {
			t.Errorf("%d, %s: %q, want %q", test.n, test.noun, got, test.want)
		}
	}
}
