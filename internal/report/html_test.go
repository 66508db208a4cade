package report_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"math"
	"math/rand/v2"
	"regexp"
	"strings"
	"sync"
	"testing"

	"golang.org/x/net/html"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report"
)

// wide is a report of n cells of two models and many features, with a history of runs runs. One cell in fifty is 30 % slower.
func wide(n, runs int) report.Report { return report.New(wideInput(n, runs)) }

func wideInput(n, runs int) report.Input {
	rng := rand.New(rand.NewPCG(1, 2))
	metric := bench.Metric{Name: "decode_tps", Unit: "tok/s", Better: bench.Higher}
	head, base := &bench.Run{Host: bench.Host{Label: "lab"}, Metrics: []bench.Metric{metric}}, &bench.Run{Host: bench.Host{Label: "lab"}, Metrics: []bench.Metric{metric}}
	base.Earlier = make([]bench.Point, runs)
	for i := range n {
		cell := bench.Cell{Suite: "s", Params: []bench.Param{{Key: "model", Value: fmt.Sprintf("m%d", i%2)}, {Key: "feature", Value: fmt.Sprintf("f%d", i/2)}, {Key: "env.KV", Value: []string{"f16", "q8"}[i%2]}}}
		value := func() float64 { return 100 * (1 + 0.02*rng.NormFloat64()) }
		old := bench.Sample{Metric: metric.Name, Summary: &bench.Summary{Median: 100, MAD: 1, N: 3}, Anchor: 104}
		for range runs {
			old.History = append(old.History, []float64{value()})
		}
		now := bench.Sample{Metric: metric.Name}
		for range 3 {
			v := value()
			if i%50 == 0 {
				v *= 0.7
			}
			now.Values = append(now.Values, v)
		}
		operators := func(x float64) []bench.Breakdown {
			return []bench.Breakdown{{Title: "operators", Unit: "ms", Entries: []bench.Entry{{Name: "matmul", Total: 2 + x, Calls: 3}, {Name: "add", Total: 1, Calls: 2}}}}
		}
		base.Results = append(base.Results, bench.Result{Cell: cell, Outcome: bench.Passed, Samples: []bench.Sample{old}, Breakdowns: operators(0)})
		head.Results = append(head.Results, bench.Result{Cell: cell, Outcome: bench.Passed, Samples: []bench.Sample{now}, Breakdowns: operators(0.5), Output: "an answer", Command: []string{"./bench", cell.ID()}})
	}
	policy := gate.DefaultPolicy()
	c := gate.Compare("the baseline", base, head, policy)
	return report.Input{Tool: "accelgate", Policy: policy, Decision: gate.Decide([]gate.Comparison{c}, policy),
		Hosts: []report.HostInput{{Run: head, Reference: base, Path: "baselines/baseline-lab.json", Comparison: c}}}
}

func rendered(t testing.TB, r report.Report) string {
	t.Helper()
	var b bytes.Buffer
	if err := report.HTML(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHTMLHasEveryCell: each cell has a fold with its values and its trend, and the page needs nothing from elsewhere.
func TestHTMLHasEveryCell(t *testing.T) {
	t.Parallel()
	page := rendered(t, wide(120, 12))
	if n := strings.Count(page, `<details class="cell"`); n != 120 {
		t.Errorf("%d cells, want 120", n)
	}
	for _, want := range []string{"decode_tps: values", "earlier runs and this one", "operators: what changed", `class="anchor"`, "matmul", "0.7"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
	if from := regexp.MustCompile(`(?i)(src|href|url\()\s*=?\s*["']?(https?:)?//`).FindString(page); from != "" {
		t.Errorf("the page fetches %q", from)
	}
}

// TestHTMLIsInert: whatever names, units, logs and reasons hold, the page has only the elements and attributes that it
// wrote itself, and one script.
func TestHTMLIsInert(t *testing.T) {
	t.Parallel()
	for _, hostile := range []string{`"><script>alert(1)</script>`, `</script><img src=x onerror=alert(1)>`, `' onmouseover='x`, "a\u202eb\x00\x1b[31m", `<!--`, `]]>`, `&lt;script&gt;`, `javascript:alert(1)`} {
		page := rendered(t, hostileReport(hostile))
		inspect(t, hostile, page)
	}
}

func hostileReport(s string) report.Report {
	m := bench.Metric{Name: s, Unit: s, Better: bench.Higher}
	cell := bench.Cell{Suite: s, Params: []bench.Param{{Key: s, Value: s}, {Key: "b", Value: s + "2"}}}
	other := bench.Cell{Suite: s, Params: []bench.Param{{Key: s, Value: s + "3"}, {Key: "b", Value: s}}}
	result := func(c bench.Cell, v float64) bench.Result {
		return bench.Result{Cell: c, Outcome: bench.Passed, Output: s, Log: s, Command: []string{s}, Env: []string{"A=" + s}, Device: s, Samples: []bench.Sample{{Metric: s, Values: []float64{v, v + 1}}},
			Health: &bench.Health{Status: bench.Unhealthy, Reasons: []string{s}}, Breakdowns: []bench.Breakdown{{Title: s, Unit: s, Entries: []bench.Entry{{Name: s, Total: v, Calls: 1}}}}}
	}
	head := &bench.Run{Host: bench.Host{Label: s, Fingerprint: bench.Fingerprint{CPU: s}}, Revision: s, Tool: s, Metrics: []bench.Metric{m}, Warnings: []string{s}, Context: map[string]string{s: s},
		Results: []bench.Result{result(cell, 1), result(other, 50), {Cell: bench.Cell{Raw: s}, Outcome: bench.Failed, Reason: s, Log: s}}}
	base := &bench.Run{Host: head.Host, Metrics: head.Metrics, Results: []bench.Result{result(cell, 100), result(other, 50)}}
	policy := gate.DefaultPolicy()
	c := gate.Compare("the baseline", base, head, policy)
	return report.New(report.Input{Tool: s, Policy: policy, Decision: gate.Decide([]gate.Comparison{c}, policy), Revision: s, Base: s, Config: s, Links: report.Links{Run: s},
		Hosts: []report.HostInput{{Run: head, Reference: base, Path: s, Comparison: c}}})
}

// inspect parses the page as a browser does.
func inspect(t *testing.T, hostile, page string) {
	t.Helper()
	root, err := html.Parse(strings.NewReader(page))
	if err != nil {
		t.Fatal(err)
	}
	scripts := 0
	for n := range root.Descendants() {
		if n.Type != html.ElementNode {
			if n.Type == html.CommentNode {
				t.Errorf("%q: a comment", hostile)
			}
			continue
		}
		if n.Data == "script" {
			scripts++
		}
		if n.Data == "img" || n.Data == "iframe" || n.Data == "object" {
			t.Errorf("%q: an element %s", hostile, n.Data)
		}
		for _, a := range n.Attr {
			if strings.HasPrefix(a.Key, "on") || a.Key == "style" || a.Key == "href" && !strings.HasPrefix(a.Val, "http") {
				t.Errorf("%q: attribute %s=%q of %s", hostile, a.Key, a.Val, n.Data)
			}
		}
	}
	if scripts != 1 {
		t.Errorf("%q: %d scripts, want 1", hostile, scripts)
	}
}

// TestHTMLOfImpossibleNumbers: no chart and no number makes the page invalid.
func TestHTMLOfImpossibleNumbers(t *testing.T) {
	t.Parallel()
	for _, x := range []float64{math.NaN(), math.Inf(1), math.Inf(-1), math.MaxFloat64, -math.MaxFloat64, math.SmallestNonzeroFloat64, 0} {
		head := &bench.Run{Metrics: []bench.Metric{{Name: "a", Better: bench.Lower}}, Results: []bench.Result{{Cell: bench.Cell{Raw: "c"}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "a", Values: []float64{x, 1, x}}}}}}
		base := &bench.Run{Metrics: head.Metrics, Results: []bench.Result{{Cell: bench.Cell{Raw: "c"}, Outcome: bench.Passed, Samples: []bench.Sample{{Metric: "a", Values: []float64{1, x}, History: [][]float64{{1}, {x}, {}, {2}}, Anchor: x}}}}}
		policy := gate.DefaultPolicy()
		c := gate.Compare("the baseline", base, head, policy)
		page := rendered(t, report.New(report.Input{Policy: policy, Decision: gate.Decide([]gate.Comparison{c}, policy), Hosts: []report.HostInput{{Run: head, Reference: base, Comparison: c}}}))
		inspect(t, fmt.Sprint(x), page)
		if coordinates := regexp.MustCompile(` d="[^"]*(NaN|Inf|e\+)`).FindString(page); coordinates != "" {
			t.Errorf("%v: %s", x, coordinates)
		}
	}
}

// TestHTMLIsBounded: a page of any number of cells has at most 3 MB. The worst cells are whole, the others have a line, and
// the rest is counted with the commands that show it.
func TestHTMLIsBounded(t *testing.T) {
	t.Parallel()
	page := rendered(t, wide(12_000, 12))
	if len(page) > 3_000_000 {
		t.Errorf("the page has %d bytes", len(page))
	}
	cells := strings.Split(page, `<details class="cell"`)[1:]
	whole := func(cell string) bool { return strings.Contains(cell, "decode_tps: values") }
	if n := len(cells); n < 5000 || n >= 12_000 || !whole(cells[0]) || whole(cells[n-1]) {
		t.Errorf("%d cells, the first %.300s, the last %.300s", n, cells[0], cells[n-1])
	}
	for _, want := range []string{">12000 cells</h2>", " in one line and ", "accelgate explain CELL", "accelgate report --format html --out report.html RUN"} {
		if !strings.Contains(page, want) {
			t.Errorf("no %q", want)
		}
	}
}

// TestHTMLWithFiles: each cell stands whole in the page or in a file, and has a line in one of them. What files hold is as inert
// as the page.
func TestHTMLWithFiles(t *testing.T) {
	t.Parallel()
	const cells = 12_000
	page, files := renderedWith(t, wide(cells, 12))
	if len(page) > 3_000_000 || !strings.Contains(page, "script-src 'sha256-") || !strings.Contains(page, "' 'self'; base-uri") {
		t.Errorf("the page has %d bytes: %.500s", len(page), page)
	}
	inPage := strings.Count(page, `<details class="cell"`)
	whole := strings.Count(page, "decode_tps: values")
	lines, bodies := 0, 0
	for name, values := range files {
		for _, v := range values {
			if body, ok := v.(string); ok {
				bodies++
				inspect(t, name, "<script></script>"+body)
			} else {
				lines++
			}
		}
	}
	if whole == 0 || whole+bodies != cells || inPage+lines != cells {
		t.Errorf("%d cells whole in the page and %d in files, %d and %d lines, want %d of each", whole, bodies, inPage, lines, cells)
	}
	for i := range files["cells-0"] {
		if body := files["cells-0"][i].(string); !strings.Contains(body, "decode_tps") || !strings.Contains(body, "an answer") {
			t.Fatalf("cell %d of a file: %s", i, body)
		}
	}
}

// renderedWith returns the page and the values of its files.
func renderedWith(t *testing.T, r report.Report) (page string, files map[string][]any) {
	t.Helper()
	var b bytes.Buffer
	var mu sync.Mutex
	files = map[string][]any{}
	write := func(name string, data []byte) error {
		var call []any
		list := strings.TrimSuffix(strings.TrimPrefix(string(data), "accelgate("), ");\n")
		if err := json.Unmarshal([]byte("["+list+"]"), &call); err != nil {
			return err
		}
		mu.Lock()
		defer mu.Unlock()
		files[call[1].(string)] = call[2].([]any)
		if name != call[1].(string)+".js" {
			t.Errorf("%s holds %s", name, call[1])
		}
		return nil
	}
	if err := report.HTMLWith(report.Files{Folder: "x", Write: write})(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String(), files
}

func BenchmarkHTML(b *testing.B) {
	for _, cells := range []int{1000, 5000} {
		r := wide(cells, 200)
		b.Run(fmt.Sprint(cells), func(b *testing.B) {
			size := countingWriter(0)
			for b.Loop() {
				size = 0
				if err := report.HTML(&size, r); err != nil {
					b.Fatal(err)
				}
			}
			b.ReportMetric(float64(size)/1e6, "MB")
		})
	}
}

type countingWriter int

func (c *countingWriter) Write(p []byte) (int, error) {
	*c += countingWriter(len(p))
	return len(p), nil
}

var _ io.Writer = (*countingWriter)(nil)
