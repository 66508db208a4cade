package browser_test

import (
	"context"
	"path/filepath"
	"testing"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// TestPhoneThorough measures the layout of tables and charts at 360 pixels: the page of a dataset's traces and the dashboard of a host,
// whose table of coverage looks as in testdata.
func TestPhoneThorough(t *testing.T) {
	testtier.Thorough(t)
	browser := open(t)
	traces := tracesPage(t)
	t.Run("traces", func(t *testing.T) { onPhone(t, tab(t, browser), traces) })
	host := filepath.Join(siteOf(t, 1), "host", label, "index.html")
	t.Run("coverage", func(t *testing.T) {
		ctx := tab(t, browser)
		onPhone(t, ctx, host)
		var unnamed, columns int
		act(t, ctx,
			chromedp.Evaluate(`document.querySelectorAll('#coverage + .wide td:not([data-th])').length`, &unnamed),
			chromedp.Evaluate(`document.querySelectorAll('#coverage + .wide tbody tr:first-child td').length`, &columns))
		if unnamed > 0 || columns != 6 {
			t.Errorf("%d numbers without the name of their column; %d columns, want 6", unnamed, columns)
		}
		for _, view := range views {
			media := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: view.scheme}})
			act(t, ctx, chromedp.EmulateViewport(view.width, 900), media,
				chromedp.Evaluate(`document.querySelector('#coverage').scrollIntoView()`, nil), picture(t, "site-coverage-"+view.name))
		}
	})
}

// onPhone checks that neither the page nor one of its tables is wider than the window.
func onPhone(t *testing.T, ctx context.Context, path string) {
	t.Helper()
	var overflow int
	act(t, ctx, chromedp.EmulateViewport(360, 740), chromedp.Navigate("file://"+path), chromedp.Evaluate(overflowing, &overflow),
		shot(t, "phone-"+filepath.Base(path)))
	if overflow > 0 {
		t.Errorf("%s is %d pixels too wide", filepath.Base(path), overflow)
	}
}
