package browser_test

import (
	"context"
	"os"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestKernelsPageThorough opens the page of a dataset's traces in each view: charts are
// drawn, it looks as in testdata, nothing is wider than the page, no error is logged, and axe finds nothing serious.
func TestKernelsPageThorough(t *testing.T) {
	testtier.Thorough(t)
	browser := open(t)
	page := tracesPage(t)
	for _, view := range views {
		t.Run(view.name, func(t *testing.T) {
			ctx, cancel := chromedp.NewContext(browser)
			defer cancel()
			lookAtKernels(t, ctx, "file://"+page, view.name, view.width, view.scheme)
			violations(t, ctx)
		})
	}
}

// tracesPage makes the page of a dataset's traces, and returns its path.
func tracesPage(t *testing.T) string {
	t.Helper()
	dir := t.TempDir()
	if err := os.CopyFS(filepath.Join(dir, "data"), os.DirFS(filepath.Join("..", "..", "internal", "suite", "kernels", "page", "testdata", "dataset"))); err != nil {
		t.Fatal(err)
	}
	accelgate(t, dir, 0, "kernels", "report", "visualize", "data", "--out", "page.html")
	return filepath.Join(dir, "page.html")
}

func lookAtKernels(t *testing.T, ctx context.Context, address, name string, width int64, scheme string) {
	t.Helper()
	problems := listen(ctx)
	var charts, overflow, strokes int
	err := chromedp.Run(ctx,
		chromedp.EmulateViewport(width, 900),
		emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: scheme}}),
		chromedp.Navigate(address),
		chromedp.Evaluate(`document.querySelectorAll('figure svg').length`, &charts),
		chromedp.Evaluate(`new Set(Array.from(document.querySelectorAll('.curve'), (e) => getComputedStyle(e).stroke + getComputedStyle(e).strokeDasharray)).size`, &strokes),
		chromedp.Evaluate(`document.documentElement.scrollWidth - document.documentElement.clientWidth`, &overflow),
		picture(t, "kernels-"+name),
	)
	if err != nil {
		t.Fatal(err)
	}
	if charts != 3 || strokes < 2 || overflow > 0 {
		t.Errorf("%d charts, want 3; %d kinds of lines, want 2 or more; the page is %d pixels too wide", charts, strokes, overflow)
	}
	if p := problems(); len(p) > 0 {
		t.Errorf("the console: %q", p)
	}
}
