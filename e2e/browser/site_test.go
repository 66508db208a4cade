package browser_test

import (
	"context"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"

	"github.com/accelgate/accelgate/internal/reference/history"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const repository = "https://github.com/me/repo"

// TestSiteThorough opens the pages of two hosts wide and narrow, light and dark: a regression leads from the overview to its cell and its commits,
// the trend zooms, and the compare page compares. Each page logs no error, fits, and axe finds no serious violation.
func TestSiteThorough(t *testing.T) {
	testtier.Thorough(t)
	walk(t, 1)
}

// walk visits the pages of two hosts of 100 cells a model, in each view.
func walk(t *testing.T, models int) {
	t.Helper()
	browser := open(t)
	address := "file://" + siteOf(t, models)
	for _, view := range views {
		t.Run(view.name, func(t *testing.T) {
			ctx, cancel := chromedp.NewContext(browser)
			defer cancel()
			if err := chromedp.Run(ctx); err != nil { // a tab ends with the context of its first actions
				t.Fatal(err)
			}
			problems := listen(ctx)
			media := emulation.SetEmulatedMedia().WithFeatures([]*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: view.scheme}})
			act(t, ctx, chromedp.EmulateViewport(view.width, 900), media, chromedp.Navigate(address+"/index.html"))
			fits(t, ctx, "index-"+view.name)
			followRegression(t, ctx)
			fits(t, ctx, "cell-"+view.name)
			zoom(t, ctx)
			for _, page := range [][2]string{{"host", "host/lab/index.html"}, {"suite", "host/lab/" + suitePage(t, strings.TrimPrefix(address, "file://"))}} {
				act(t, ctx, chromedp.Navigate(address+"/"+page[1]))
				fits(t, ctx, page[0]+"-"+view.name)
			}
			compare(t, ctx, address, 100*models)
			fits(t, ctx, "compare-"+view.name)
			if p := problems(); len(p) > 0 {
				t.Errorf("the console: %q", p)
			}
		})
	}
}

// siteOf is a folder of pages on two hosts of 100 cells a model, of which one in a hundred lost 40 % ten runs ago and one is absent since then.
func siteOf(t *testing.T, models int) string {
	t.Helper()
	began := time.Now()
	dir := t.TempDir()
	newest := time.Now().UTC().Truncate(time.Hour)
	for seed, host := range []string{label, "other"} {
		past := history.File{Keep: runs}
		rng := rand.New(rand.NewPCG(7, uint64(seed)))
		for i := range runs {
			if _, err := past.Add(run(rng, models, fmt.Sprintf("%040x", i+1), newest.Add(-time.Duration(runs-1-i)*time.Hour), i >= runs-10)); err != nil {
				t.Fatal(err)
			}
		}
		if err := past.Save(history.Path(dir, host)); err != nil {
			t.Fatal(err)
		}
	}
	t.Logf("histories made in %v", time.Since(began).Round(time.Millisecond))
	began = time.Now()
	accelgate(t, dir, 0, "site", "--out", "site", "--repository", repository, ".")
	t.Logf("pages of %d cells written in %v", 200*models, time.Since(began).Round(time.Millisecond))
	return filepath.Join(dir, "site")
}

func suitePage(t *testing.T, dir string) string {
	t.Helper()
	pages, err := filepath.Glob(filepath.Join(dir, "host", label, "suite-*.html"))
	if err != nil || len(pages) == 0 {
		t.Fatalf("pages of suites are %q, %v", pages, err)
	}
	return filepath.Base(pages[0])
}

func act(t *testing.T, ctx context.Context, actions ...chromedp.Action) {
	t.Helper()
	limited, cancel := context.WithTimeout(ctx, time.Minute)
	defer cancel()
	if err := chromedp.Run(limited, actions...); err != nil {
		t.Fatal(err)
	}
}

// fits checks that a page is not wider than its window, looks as in testdata and is accessible.
func fits(t *testing.T, ctx context.Context, name string) {
	t.Helper()
	var overflow int
	act(t, ctx, chromedp.Evaluate(overflowing, &overflow), picture(t, "site-"+name))
	if overflow > 0 {
		t.Errorf("%s is %d pixels too wide", name, overflow)
	}
	violations(t, ctx)
}

// followRegression goes from the overview to a cell that regressed and checks the link to its commits.
func followRegression(t *testing.T, ctx context.Context) {
	t.Helper()
	var title, target, commits string
	var charts int
	act(t, ctx,
		chromedp.Click(`#regressions + .wide tbody a[href*="-b00-f07-"]`),
		chromedp.WaitVisible(`.metric .tools`),
		chromedp.Title(&title),
		chromedp.Evaluate(`document.querySelectorAll('.metric figure svg[viewBox="0 0 560 140"]').length`, &charts),
		chromedp.Evaluate(`document.querySelector(':target').id`, &target),
		chromedp.Evaluate(`document.querySelector(':target a[href^="https:"]').href`, &commits))
	want := fmt.Sprintf("%s/compare/%040x...%040x", repository, runs-10, runs-9)
	if !strings.Contains(title, "__b00__f07") || charts != 1 || !strings.HasPrefix(target, "m0-") || commits != want {
		t.Errorf("the cell is %q at %q, with %d charts and the commits %q, want %q", title, target, charts, commits, want)
	}
}

// zoom drags over the right half of the trend, and opens the address that it leads to.
func zoom(t *testing.T, ctx context.Context) {
	t.Helper()
	var before, after, again, chosen, address string
	name := chromedp.Evaluate(`document.querySelector('.metric figure svg').getAttribute('aria-label')`, &after)
	act(t, ctx,
		chromedp.Evaluate(`document.querySelector('.metric figure svg').getAttribute('aria-label')`, &before),
		chromedp.Evaluate(`(() => { const svg = document.querySelector('.metric figure svg'), box = svg.getBoundingClientRect();
			const at = (type, share) => svg.dispatchEvent(new PointerEvent(type, {clientX: box.left + share * box.width, clientY: box.top + 20, bubbles: true}));
			svg.setPointerCapture = () => {};
			at('pointerdown', 0.9); at('pointermove', 0.95); at('pointerup', 0.98); return true; })()`, new(bool)),
		name,
		chromedp.Text(`.metric .tools output`, &chosen),
		chromedp.Location(&address),
		chromedp.Reload(),
		chromedp.WaitVisible(`.metric .tools`),
		chromedp.Evaluate(`document.querySelector('.metric figure svg').getAttribute('aria-label')`, &again))
	if !strings.Contains(before, "runs 1 to 200") || before == after || again != after || !strings.Contains(address, "#m0=") {
		t.Errorf("the trend shows %q, then %q, then %q at %s", before, after, again, address)
	}
	if !strings.Contains(chosen, "tok/s") {
		t.Errorf("the chosen run is %q", chosen)
	}
}

// compare compares the newest runs of two hosts, and an old run with the newest of one.
func compare(t *testing.T, ctx context.Context, address string, cells int) {
	t.Helper()
	var shown, worst, hash string
	var none []string
	act(t, ctx,
		chromedp.Navigate(address+"/compare.html"),
		chromedp.WaitVisible(`#numbers tr`),
		chromedp.Evaluate(`(() => { const f = document.getElementById('compare'); f.runA.value = f.runA.options[50].value; f.runA.dispatchEvent(new Event('change')); return true; })()`, new(bool)),
		chromedp.WaitVisible(`#between a`),
		chromedp.Poll(`document.querySelector('#numbers td:last-child').textContent.includes('worse') && document.querySelector('#numbers td').textContent`, &worst),
		chromedp.Evaluate(`Array.from(document.querySelectorAll('#numbers td:last-child'), (e) => e.textContent).filter((c) => /^.?0\.0 %/.test(c))`, &none),
		chromedp.Text(`#compare output`, &shown),
		chromedp.Evaluate(`location.hash`, &hash))
	if words := strings.Join(none, " "); !strings.Contains(words, "0.0 %") || strings.ContainsAny(words, "+-()") {
		t.Errorf("changes that are shown as none: %q", none)
	}
	if !strings.HasSuffix(worst, "__b00__f07__baseline") || !strings.HasSuffix(shown, fmt.Sprintf(" of %d shown", cells)) || !strings.Contains(hash, "a=lab%2F") {
		t.Errorf("the largest loss is %q, %q at %s", worst, shown, hash)
	}
	act(t, ctx,
		chromedp.Evaluate(`(() => { const f = document.getElementById('compare'); f.hostB.value = 'other'; f.hostB.dispatchEvent(new Event('change')); return true; })()`, new(bool)),
		chromedp.Poll(`location.hash.includes('b=other%2F') && document.querySelector('#numbers td').textContent`, &worst))
	if _, err := os.Stat(strings.TrimPrefix(address, "file://")); err != nil || worst == "" {
		t.Errorf("no cell of two hosts is shown (%v)", err)
	}
}
