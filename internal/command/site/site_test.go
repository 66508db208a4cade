package site_test

import (
	"context"
	"encoding/json"
	"encoding/xml"
	"errors"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/command/site"
	"github.com/accelgate/accelgate/internal/reference/history"
)

const repository = "https://github.com/me/repo"

func build(t testing.TB, dir string, days int) string {
	t.Helper()
	out := filepath.Join(t.TempDir(), "site")
	if _, err := site.Build(t.Context(), []string{dir}, site.Options{Out: out, Repository: repository, URL: "https://me.github.io/repo", Title: "perf", Tool: "accelgate devel", Now: newest.AddDate(0, 0, days)}); err != nil {
		t.Fatal(err)
	}
	return out
}

func read(t testing.TB, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// TestWindows: a loss that began 54 hours before the newest run is in the last 7 days, then in the 23 before, then in none. The
// badge follows, and the feed keeps its entry.
func TestWindows(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, "lab", 3, 40)
	for _, at := range []struct {
		days         int
		index, badge string
		week, month  bool
	}{
		{0, `<span class="worse">1</span> / <span class="better">1</span>`, "1 regression in 7 days", true, false},
		{10, `>0 / 0</td><td class="n" data-th="30 days: worse / better"><span class="worse">1</span>`, "no regressions in 7 days", false, true},
		{40, `>0 / 0</td><td class="n" data-th="30 days: worse / better">0 / 0</td>`, "no run in 30 days", false, false},
	} {
		out := build(t, dir, at.days)
		page := read(t, out, "host", "lab", "index.html")
		week, rest, _ := strings.Cut(page, `<h2 id="month">`)
		month, _, _ := strings.Cut(rest, `<h2 id="anchors">`)
		const cell = "model0__cuda__f000__baseline</a>"
		if strings.Contains(week, cell) != at.week || strings.Contains(month, cell) != at.month {
			t.Errorf("after %d days, the host's page is %s", at.days, page)
		}
		if index := read(t, out, "index.html"); !strings.Contains(index, at.index) {
			t.Errorf("after %d days, the first page lacks %s: %s", at.days, at.index, index)
		}
		if !strings.Contains(read(t, out, "badge.svg"), at.badge) {
			t.Errorf("after %d days, the badge is %s", at.days, read(t, out, "badge.svg"))
		}
	}
}

// TestEndedBuildKeepsTheOldPages: an interrupt leaves the pages of before, and nothing beside them.
func TestEndedBuildKeepsTheOldPages(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, "lab", 1, 10)
	out := build(t, dir, 0)
	before := read(t, out, "index.html")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := site.Build(ctx, []string{dir}, site.Options{Out: out, Title: "other", Now: newest}); !errors.Is(err, context.Canceled) {
		t.Errorf("error is %v, want that of the context", err)
	}
	if read(t, out, "index.html") != before {
		t.Error("the old pages were replaced")
	}
	if entries, err := os.ReadDir(filepath.Dir(out)); err != nil || len(entries) != 1 {
		t.Errorf("beside the pages are %v, %v, want nothing", entries, err)
	}
}

// TestFeed: entries are confirmed regressions, with absolute links to a place that exists.
func TestFeed(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, "lab", 3, 40)
	out := build(t, dir, 0)
	var feed struct {
		Entries []struct {
			ID    string `xml:"id"`
			Title string `xml:"title"`
			Link  struct {
				Href string `xml:"href,attr"`
			} `xml:"link"`
		} `xml:"entry"`
	}
	if err := xml.Unmarshal([]byte(read(t, out, "feed.xml")), &feed); err != nil {
		t.Fatal(err)
	}
	if len(feed.Entries) != 1 || !strings.Contains(feed.Entries[0].Title, "(worse): model0__cuda__f000__baseline decode_tps on lab") {
		t.Fatalf("entries are %+v, want the rate's loss alone: the time became shorter", feed.Entries)
	}
	page, place, _ := strings.Cut(strings.TrimPrefix(feed.Entries[0].Link.Href, "https://me.github.io/repo/"), "#")
	if text := read(t, out, filepath.FromSlash(page)); !strings.Contains(text, `id="`+place+`"`) || !strings.Contains(text, repository+"/compare/") {
		t.Errorf("the entry leads to %s of %s", place, text)
	}
	if again := read(t, build(t, dir, 3), "feed.xml"); !strings.Contains(again, feed.Entries[0].ID) {
		t.Errorf("a later build gives the entry another id: %s", again)
	}
}

// TestComparedRunsHaveTheCells: the values of a run are in the order of the cells.
func TestComparedRunsHaveTheCells(t *testing.T) {
	dir := t.TempDir()
	record(t, dir, "lab", 3, 9)
	out := filepath.Join(build(t, dir, 0), "host", "lab")
	value := func(path string, into any) {
		t.Helper()
		_, text, _ := strings.Cut(strings.TrimSuffix(read(t, out, path), ");\n"), ",")
		if err := json.Unmarshal([]byte(text), into); err != nil {
			t.Fatalf("%s: %v in %s", path, err, text)
		}
	}
	var runs [][3]string
	var cells []struct{ Cell, Metric, Page string }
	var values []float64
	value("runs.js", &runs)
	value("cells.js", &cells)
	if len(runs) != 9 || len(cells) != 6 {
		t.Fatalf("%d runs and %d numbers, want 9 and 6", len(runs), len(cells))
	}
	value("runs/"+runs[8][2]+".js", &values)
	if len(values) != 6 || values[0] < 80 || values[0] > 96 || values[2] < 97 {
		t.Errorf("the newest values are %v, want a loss in the first cell alone", values)
	}
}

var hostile = []string{`</script><script>alert(1)</script>`, `"><img src=x onerror=alert(1)>`, "a\u202eb\x00\u2028c", `../../../../etc/passwd`, "{{.Root}}", "con", ".", "_x", strings.Repeat("é", 300)}

// TestHostileNames: whatever cells, metrics, units and commits are called, all files stay below the folder, and no page has an
// element that the templates do not write.
func TestHostileNames(t *testing.T) {
	dir := t.TempDir()
	file := history.File{}
	for i := range 12 {
		run := &bench.Run{Revision: hostile[i%len(hostile)][:min(200, len(hostile[i%len(hostile)]))], Started: newest.AddDate(0, 0, i-12), Metrics: []bench.Metric{
			{Name: hostile[0], Unit: hostile[1], Better: bench.Higher}, {Name: hostile[2], Unit: hostile[0], Better: bench.Lower}}}
		for _, name := range hostile {
			v := 100.0
			if i > 7 {
				v = 50
			}
			run.Results = append(run.Results, bench.Result{Cell: bench.Cell{Raw: name}, Outcome: bench.Passed, Samples: []bench.Sample{
				{Metric: hostile[0], Values: []float64{v + float64(i%3)}}, {Metric: hostile[2], Values: []float64{v + float64(i%3)}}}})
		}
		if _, err := file.Add(run); err != nil {
			t.Fatal(err)
		}
	}
	if err := file.Save(history.Path(dir, "lab")); err != nil {
		t.Fatal(err)
	}
	out := build(t, dir, 0)
	checkPages(t, out, 4+len(hostile))
}

var (
	tags  = regexp.MustCompile(`<(script|img|iframe|a|form)\b[^>]*>`)
	known = regexp.MustCompile(`^<(script type="application/json" id="series"|script src="(\.\./)*(site\.js|host/lab/runs\.js)"|form id="compare" hidden|` +
		`a href="((\.\./)*(index\.html|compare\.html(#[a-zA-Z0-9%&;#=.+_-]*)?|feed\.xml|host/lab/[a-z0-9/-]+\.html(#[a-z0-9-]+)?)|#[a-z0-9-]+|https://github\.com/me/repo/(commit|compare)/[A-Za-z0-9._-]+)")>$`)
	safeName = regexp.MustCompile(`^[a-z0-9-]+\.(html|js)$`)
)

func checkPages(t *testing.T, out string, want int) {
	t.Helper()
	pages := 0
	err := filepath.WalkDir(out, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		if strings.HasSuffix(path, ".html") {
			pages++
			for _, tag := range tags.FindAllString(read(t, path), -1) {
				if !known.MatchString(tag) {
					t.Errorf("%s has %s", path, tag)
				}
			}
		}
		if dir := filepath.Base(filepath.Dir(path)); (dir == "cell" || dir == "runs") && !safeName.MatchString(d.Name()) {
			t.Errorf("a file is named %q", d.Name())
		}
		return nil
	})
	if err != nil || pages != want {
		t.Errorf("%d pages, %v, want %d", pages, err, want)
	}
}
