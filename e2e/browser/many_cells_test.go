package browser_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/chromedp/chromedp"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestManyCellsPageThorough opens a report of 10,000 cells from the disk: the page has 3 MB and loads what it has no room
// for when a reader asks for it. Its times go to the log.
func TestManyCellsPageThorough(t *testing.T) {
	testtier.Thorough(t)
	openMany(t, 100)
}

// TestManyCellsPageNightly opens one of 100,000 cells.
func TestManyCellsPageNightly(t *testing.T) {
	testtier.Nightly(t)
	openMany(t, 1000)
}

// openMany opens a report of 100 cells a model.
func openMany(t *testing.T, models int) {
	t.Helper()
	browser := open(t)
	dir := t.TempDir()
	recorded(t, dir, rand.New(rand.NewPCG(1, 2)), models)
	last := 100*models - 1
	for range 2 { // the second replaces the first
		said := string(accelgate(t, dir, 1, "report", "run.json", "--format", "html", "--out", "report.html"))
		if !strings.HasPrefix(said, "report.html: Failed: ") || !strings.HasSuffix(said, "\nNext: open report.html\n") {
			t.Errorf("said %q", said)
		}
	}
	if page, err := os.Stat(filepath.Join(dir, "report.html")); err != nil || page.Size() > 3_000_000 {
		t.Errorf("the page has %d bytes (%v)", page.Size(), err)
	}
	address := "file://" + filepath.Join(dir, "report.html")
	t.Run("all", func(t *testing.T) {
		searchMany(t, tab(t, browser), address, fmt.Sprintf(" of %d shown", last+1), fmt.Sprintf("m%d__b03__f04", models-2))
	})
	t.Run("link", func(t *testing.T) {
		act(t, tab(t, browser), chromedp.Navigate(fmt.Sprintf("%s#c%d", address, last)),
			chromedp.Poll(fmt.Sprintf(`document.querySelector("#c%d[open] table") !== null`, last), nil))
	})
	lines := filepath.Join(dir, "report-cells", "lines-0.js")
	data, err := os.ReadFile(lines)
	if err != nil {
		t.Fatal(err)
	}
	write(t, lines, regexp.MustCompile(`^accelgate\("`).ReplaceAll(data, []byte(`accelgate("other`)))
	t.Run("other", func(t *testing.T) { wantProblem(t, tab(t, browser), address, "is of another report") })
	if err := os.Remove(lines); err != nil {
		t.Fatal(err)
	}
	t.Run("gone", func(t *testing.T) { wantProblem(t, tab(t, browser), address, "keep the folder beside the page") })
}

func tab(t *testing.T, browser context.Context) context.Context {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

const search = `(() => { const f = document.getElementById('filter'); f.q.value = '%s'; f.dispatchEvent(new Event('input')); return true; })()`

// searchMany opens a cell with a line in the page, more cells, and one that only a file has.
func searchMany(t *testing.T, ctx context.Context, address, shown, wanted string) {
	t.Helper()
	problems := listen(ctx)
	var painted, searched float64
	var first, before, after, found, row, sorted string
	act(t, ctx,
		chromedp.Navigate(address),
		chromedp.Evaluate(`performance.getEntriesByType('paint')[0].startTime`, &painted),
		chromedp.Text(`#filter output`, &before),
		chromedp.Evaluate(`document.querySelector('.cell').textContent`, &first),
		chromedp.Evaluate(`document.querySelector('#list').lastElementChild.open = true`, nil),
		chromedp.Poll(`document.querySelector('#list > :last-child table') !== null`, nil),
		chromedp.Evaluate(`(() => { document.querySelector('#more button').click(); return true; })()`, nil),
		chromedp.Poll(`(() => { const o = document.querySelector('#filter output').textContent; return o.endsWith('shown') && document.querySelectorAll('.cell').length > 6000 && o; })()`, &after),
		chromedp.Evaluate(`window.began = performance.now()`, nil),
		chromedp.Evaluate(fmt.Sprintf(search, wanted), nil),
		chromedp.Poll(`document.querySelectorAll('.cell').length === 1 && document.querySelector('#filter output').textContent`, &found),
		chromedp.Evaluate(`performance.now() - window.began`, &searched),
		chromedp.Evaluate(`document.querySelector('.cell').open = true`, nil),
		chromedp.Poll(`document.querySelector('.cell table') !== null`, nil),
		chromedp.Evaluate(`document.querySelector('.cell').textContent`, &row),
		chromedp.Evaluate(`(() => { const f = document.getElementById('filter'); f.q.value = ''; f.sort.value = 't'; f.dispatchEvent(new Event('input')); return document.querySelector('.cell code').textContent; })()`, &sorted))
	t.Logf("painted after %.0f ms, all cells searched in %.0f ms", painted, searched)
	if !strings.HasSuffix(before, shown) || !strings.HasSuffix(after, shown) || found != "1"+shown {
		t.Errorf("counts are %q, %q and %q", before, after, found)
	}
	if !strings.HasPrefix(first, "FAIL") || !strings.Contains(row, wanted+"__baseline") || !strings.Contains(row, "unchanged") || sorted != "m00__b00__f00__baseline" {
		t.Errorf("the worst cell is %.200q, the cell of a file %q, the first by name %q", first, row, sorted)
	}
	if p := problems(); len(p) > 0 {
		t.Errorf("the console: %q", p)
	}
}

// wantProblem searches and sees why not all cells are there.
func wantProblem(t *testing.T, ctx context.Context, address, want string) {
	t.Helper()
	var said string
	act(t, ctx, chromedp.Navigate(address), chromedp.Evaluate(fmt.Sprintf(search, "m98__b03__f04"), nil),
		chromedp.Poll(`document.querySelector('#filter output').textContent.includes('report-cells/') && document.querySelector('#filter output').textContent`, &said))
	if !strings.Contains(said, want) {
		t.Errorf("the page says %q, want %q", said, want)
	}
}
