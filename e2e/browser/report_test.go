// Package browser_test opens the pages that accelgate writes in headless Chromium.
package browser_test

import (
	"context"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// views are the sizes and colours that a page is looked at in.
var views = []struct {
	name   string
	width  int64
	scheme string
}{{"wide-light", 1300, "light"}, {"wide-dark", 1300, "dark"}, {"narrow-light", 390, "light"}, {"narrow-dark", 390, "dark"}}

// TestReportPageThorough opens a report wide and narrow, light and dark: it looks as in testdata, filters, sorts and unfolds, no
// error is logged, and axe finds no serious violation.
func TestReportPageThorough(t *testing.T) {
	testtier.Thorough(t)
	browser := open(t)
	address := reportOf(t, 1)
	for _, view := range views {
		t.Run(view.name, func(t *testing.T) {
			ctx, cancel := chromedp.NewContext(browser)
			defer cancel()
			look(t, ctx, address, view.name, view.width, view.scheme, "100", "1", picture)
			violations(t, ctx)
		})
	}
}

// TestLargePagesNightly opens the report and the dashboard of 5,000 cells with 200 runs of history in each view. axe would take
// minutes for the report, whose 100-cell sister it looks at.
func TestLargePagesNightly(t *testing.T) {
	testtier.Nightly(t)
	browser := open(t)
	address := reportOf(t, 50)
	for _, view := range views {
		t.Run("report-"+view.name, func(t *testing.T) {
			ctx, cancel := chromedp.NewContext(browser)
			defer cancel()
			look(t, ctx, address, "large-"+view.name, view.width, view.scheme, "5000", "50", shot)
		})
	}
	t.Run("dashboard", func(t *testing.T) { walk(t, 50) })
}

// reportOf is the address of a page of 100 cells a model.
func reportOf(t *testing.T, models int) string {
	t.Helper()
	dir := world(t, models)
	began := time.Now()
	page := filepath.Join(dir, "report.html")
	html := accelgate(t, dir, 1, "report", "run.json", "--format", "html")
	write(t, page, html)
	t.Logf("written in %v, %.1f MB", time.Since(began).Round(time.Millisecond), float64(len(html))/1e6)
	return "file://" + page
}

// look opens a page of so many cells; a search for one feature on one backend finds found of them.
func look(t *testing.T, ctx context.Context, address, name string, width int64, scheme, cells, found string,
	shot func(t *testing.T, name string) chromedp.Action) {
	t.Helper()
	problems := listen(ctx)
	var opened, filtering float64
	var all, shown, first string
	var charts, overflow int
	err := chromedp.Run(ctx,
		chromedp.EmulateViewport(width, 900),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(address),
		chromedp.Evaluate(`performance.getEntriesByType('navigation')[0].loadEventEnd`, &opened),
		chromedp.Text(`#filter output`, &all),
		shot(t, "report-"+name+"-top"),
		chromedp.Evaluate(`(() => { const f = document.getElementById('filter'); const begin = performance.now(); f.q.value = '__b03__f07'; f.dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - begin; })()`, &filtering),
		chromedp.Text(`#filter output`, &shown),
		chromedp.Evaluate(`(() => { const f = document.getElementById('filter'); f.q.value = ''; f.sort.value = 'loss'; f.dispatchEvent(new Event('input')); const c = document.querySelector('.cell'); c.open = true; c.scrollIntoView(); return c.querySelector('summary').textContent; })()`, &first),
		chromedp.Evaluate(`document.querySelectorAll('.cell[open] svg').length`, &charts),
		chromedp.Evaluate(overflowing, &overflow),
		shot(t, "report-"+name+"-cell"),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("opened in %.0f ms, filtered in %.0f ms", opened, filtering)
	if all != cells+" of "+cells+" shown" || shown != found+" of "+cells+" shown" {
		t.Errorf("counts are %q and %q", all, shown)
	}
	if charts != 3 || overflow > 0 {
		t.Errorf("%d charts, want 3; the page is %d pixels too wide; the worst cell is %q", charts, overflow, first)
	}
	if p := problems(); len(p) > 0 {
		t.Errorf("the console: %q", p)
	}
}

// overflowing is by how many pixels the page is too wide, or one of its tables in a narrow window, where rows stack.
const overflowing = `Math.max(...Array.from(document.querySelectorAll(innerWidth < 600 ? 'html, .wide' : 'html'), (e) => e.scrollWidth - e.clientWidth))`

// open starts Chromium without any network of its own.
func open(t *testing.T) context.Context {
	t.Helper()
	path, err := exec.LookPath("chromium")
	if err != nil {
		testtier.Missing(t, "pages were NOT opened in a browser: install chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path), chromedp.NoSandbox, chromedp.Flag("disable-quic", true), chromedp.Flag("disable-component-update", true))
	ctx, cancel := chromedp.NewExecAllocator(t.Context(), options...)
	t.Cleanup(cancel)
	ctx, cancel = chromedp.NewContext(ctx)
	t.Cleanup(cancel)
	if err := chromedp.Run(ctx); err != nil {
		t.Fatal(err)
	}
	return ctx
}

// shot keeps a picture where ACCELGATE_TEST_SHOTS names a folder.
func shot(_ *testing.T, name string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		if os.Getenv("ACCELGATE_TEST_SHOTS") == "" {
			return nil
		}
		_, err := taken(ctx, name)
		return err
	})
}
