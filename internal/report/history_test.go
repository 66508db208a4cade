package report_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/report"
)

// TestHistoryIsLeftOutFirst: where space is short, rows lose their history, then their links, and only then do sections
// go. What is left out is listed.
func TestHistoryIsLeftOutFirst(t *testing.T) {
	t.Parallel()
	r := report.New(load(t, "history").input())
	full := render(t, report.MarkdownLimit(1<<20), r)
	if !strings.Contains(full, "▁`") || !strings.Contains(full, "(https://example.github.io/") {
		t.Fatalf("no history or no link:\n%s", full)
	}
	without := render(t, report.MarkdownLimit(len(full)-1), r)
	if strings.ContainsAny(without, "▁█") || strings.Contains(without, "| History |") || !strings.Contains(without, ownSite) || !strings.Contains(without, "size limit: the history of rows.") {
		t.Errorf("%d bytes:\n%s", len(full)-1, without)
	}
	bare := render(t, report.MarkdownLimit(len(without)-1), r)
	if strings.Contains(bare, ownSite) || strings.Count(bare, "<details>") != strings.Count(full, "<details>") || !strings.Contains(bare, "the history of rows and the links of cells.") {
		t.Errorf("%d bytes:\n%s", len(without)-1, bare)
	}
}

// TestCommentHoldsManyHistories: however many rows have a history and a long link, the comment keeps to its size.
func TestCommentHoldsManyHistories(t *testing.T) {
	t.Parallel()
	in := wideInput(400, 12)
	in.Links.Cell = func(host, cell string) string {
		return ownSite + strings.Repeat("long-", 90) + fmt.Sprint(len(cell))
	}
	r := report.New(in)
	if full := len(render(t, report.MarkdownLimit(1<<20), r)); full < report.MarkdownBytes {
		t.Fatalf("%d bytes are no test", full)
	}
	if got := render(t, report.Markdown, r); len(got) > report.MarkdownBytes || strings.ContainsAny(got, "▁▂▃▄▅▆▇█") {
		t.Errorf("%d bytes, or histories that should be left out", len(got))
	}
}

// TestSuspectsHaveStrips: a terminal shows the values of numbers that block or are suspected, and of no others.
func TestSuspectsHaveStrips(t *testing.T) {
	t.Parallel()
	text := render(t, report.Terminal, report.New(load(t, "history").input()))
	_, strips, ok := strings.Cut(text, "== Values of suspects, the worst first\n")
	strips, _, _ = strings.Cut(strips, "\n\n")
	if !ok || strings.Count(strips, "now      |") != 2 || !strings.HasPrefix(strips, "m__cuda__tg128__baseline: decode_tps 145 → 112 tok/s, -22.8 %") || !strings.Contains(strips, "\nm__cpu__tg128__baseline: ") {
		t.Errorf("strips of the suspects:\n%s", strips)
	}
	if text := render(t, report.Terminal, report.New(load(t, "green").input())); strings.Contains(text, "suspects") {
		t.Errorf("suspects in\n%s", text)
	}
}
