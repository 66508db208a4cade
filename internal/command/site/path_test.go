package site_test

import (
	"regexp"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/site"
)

// TestCellPathsDiffer: names that read alike have pages of their own, and each name keeps its page.
func TestCellPathsDiffer(t *testing.T) {
	seen := map[string]bool{}
	names := [][2]string{{"h", "a b"}, {"h", "a-b"}, {"i", "a-b"}, {"h", "A-b"}, {"h", "-b"}, {"h", strings.Repeat("a", 100)}, {"h", strings.Repeat("a", 101)}}
	for _, n := range names {
		seen[site.CellPath(n[0], n[1])] = true
	}
	if len(seen) != len(names) {
		t.Errorf("%d paths of %d cells: %v", len(seen), len(names), seen)
	}
	if got := site.CellPath("gpu-a", "m__cuda__tg"); got != site.CellPath("gpu-a", "m__cuda__tg") || !strings.HasPrefix(got, "host/gpu-a/cell/m-cuda-tg-") {
		t.Errorf("got %s", got)
	}
}

var pagePath = regexp.MustCompile(`^host/[A-Za-z0-9._-]+/cell/[a-z0-9-]{1,70}\.html$`)

func FuzzCellPath(f *testing.F) {
	f.Add("linux-cuda", "m__cpu__tg__baseline")
	f.Add("..", "../\xff<script>")
	f.Fuzz(func(t *testing.T, host, cell string) {
		got := site.CellPath(host, cell)
		if (got == "") != (bench.CheckLabel(host) != nil) || got != "" && (!pagePath.MatchString(got) || strings.Contains(got, "..")) {
			t.Errorf("%q", got)
		}
	})
}
