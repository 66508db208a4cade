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

	"github.com/accelgate/accelgate/internal/testtier"
)

// TestReportPageThorough opens the report of 5,000 cells, wide and narrow, light and dark: it filters, sorts and unfolds, no
// error is logged, and axe finds no serious violation. Times and screenshots go to the log and to ACCELGATE_TEST_SHOTS.
func TestReportPageThorough(t *testing.T) {
	testtier.Thorough(t)
	browser := open(t)
	dir := world(t)
	began := time.Now()
	page := filepath.Join(dir, "report.html")
	write(t, page, accelgate(t, dir, 1, "report", "run.json", "--format", "html"))
	info, err := os.Stat(page)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("written in %v, %.1f MB", time.Since(began).Round(time.Millisecond), float64(info.Size())/1e6)
	for _, view := range []struct {
		name   string
		width  int64
		scheme string
	}{{"wide-light", 1280, "light"}, {"wide-dark", 1280, "dark"}, {"narrow-light", 390, "light"}, {"narrow-dark", 390, "dark"}} {
		t.Run(view.name, func(t *testing.T) { look(t, browser, "file://"+page, view.name, view.width, view.scheme) })
	}
}

func look(t *testing.T, browser context.Context, address, name string, width int64, scheme string) {
	t.Helper()
	ctx, cancel := chromedp.NewContext(browser)
	defer cancel()
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
		shot(name+"-top"),
		chromedp.Evaluate(`(() => { const f = document.getElementById('filter'); const begin = performance.now(); f.q.value = 'm07 b03'; f.dispatchEvent(new Event('input')); document.body.offsetHeight; return performance.now() - begin; })()`, &filtering),
		chromedp.Text(`#filter output`, &shown),
		chromedp.Evaluate(`(() => { const f = document.getElementById('filter'); f.q.value = ''; f.sort.value = 'loss'; f.dispatchEvent(new Event('input')); const c = document.querySelector('.cell'); c.open = true; c.scrollIntoView(); return c.querySelector('summary').textContent; })()`, &first),
		chromedp.Evaluate(`document.querySelectorAll('.cell[open] svg').length`, &charts),
		chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &overflow),
		shot(name+"-cell"),
	)
	if err != nil {
		t.Fatal(err)
	}
	t.Logf("%s: opened in %.0f ms, filtered in %.0f ms", name, opened, filtering)
	if all != "5000 of 5000 shown" || shown != "10 of 5000 shown" {
		t.Errorf("counts are %q and %q", all, shown)
	}
	if charts != 3 || overflow > 0 {
		t.Errorf("%d charts, want 3; the page is %d pixels too wide; the worst cell is %q", charts, overflow, first)
	}
	violations(t, ctx)
	if p := problems(); len(p) > 0 {
		t.Errorf("the console: %q", p)
	}
}

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
func shot(name string) chromedp.Action {
	return chromedp.ActionFunc(func(ctx context.Context) error {
		dir := os.Getenv("ACCELGATE_TEST_SHOTS")
		if dir == "" {
			return nil
		}
		var picture []byte
		if err := chromedp.CaptureScreenshot(&picture).Do(ctx); err != nil {
			return err
		}
		return os.WriteFile(filepath.Join(dir, name+".png"), picture, 0o644)
	})
}
