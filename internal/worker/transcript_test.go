package worker

import (
	"strings"
	"testing"
)

func TestTranscriptKeepsBothEnds(t *testing.T) {
	for _, c := range []struct {
		max    int
		pieces []string
		want   string
	}{
		{8, nil, ""},
		{8, []string{"ab", "cd"}, "abcd"},
		{8, []string{"abcdefgh"}, "abcdefgh"},
		{8, []string{"abc", "def", "ghi"}, "abcd\n[accelgate left out 1 byte]\nfghi"},
		{8, []string{"abcd", strings.Repeat("x", 1000), "wxyz"}, "abcd\n[accelgate left out 1000 bytes]\nwxyz"},
		{4, []string{"a\xff"}, "a\uFFFD"},
	} {
		got := transcript{max: c.max}
		for _, p := range c.pieces {
			got.write([]byte(p))
		}
		if got.String() != c.want {
			t.Errorf("%q: %q, want %q", c.pieces, got.String(), c.want)
		}
	}
}
