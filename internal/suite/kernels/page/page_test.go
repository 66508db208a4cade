package page_test

import (
	"bytes"
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/kernels/flashinfer"
	"github.com/accelgate/accelgate/internal/suite/kernels/page"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

// dataset writes definitions with one solution an author, and returns it loaded.
func dataset(t *testing.T, authors []string, traces ...string) *flashinfer.Dataset {
	t.Helper()
	dir := t.TempDir()
	files := map[string]string{"definitions/d.json": `{"name": "d", "op_type": "o", "axes": {"n": {"type": "var"}}, "inputs": {"x": {"shape": ["n"], "dtype": "float32"}},
		"outputs": {"y": {"shape": ["n"], "dtype": "float32"}}, "reference": "def run(x):\n    return x\n"}`, "traces/t.jsonl": strings.Join(traces, "\n")}
	for i, a := range authors {
		files[fmt.Sprintf("solutions/%d.json", i)] = fmt.Sprintf(`{"name": "by %[1]s", "definition": "d", "author": %[2]q,
			"spec": {"language": "python", "target_hardware": ["cpu"], "entry_point": "m.py::run"}, "sources": [{"path": "m.py", "content": ""}]}`, a, a)
	}
	for name, content := range files {
		path := filepath.Join(dir, name)
		if err := os.MkdirAll(filepath.Dir(path), 0o755); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(path, []byte(content), 0o644); err != nil {
			t.Fatal(err)
		}
	}
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	return ds
}

func passed(author, hardware string, n int, ms float64) string {
	return fmt.Sprintf(`{"definition":"d","workload":{"uuid":"w%[3]d","axes":{"n":%[3]d},"inputs":{}},"solution":"by %[1]s","evaluation":{"status":"PASSED",`+
		`"environment":{"hardware":"%[2]s","libs":{}},"timestamp":"t","log":"","correctness":{},"performance":{"latency_ms":%[4]g,"reference_latency_ms":8,"speedup_factor":%[5]g}}}`,
		author, hardware, n, ms, 8/ms)
}

func failed(author string, n int) string {
	return fmt.Sprintf(`{"definition":"d","workload":{"uuid":"w%[2]d","axes":{"n":%[2]d},"inputs":{}},"solution":"by %[1]s","evaluation":{"status":"TIMEOUT",`+
		`"environment":{"hardware":"A","libs":{}},"timestamp":"t","log":""}}`, author, n)
}

func draw(t *testing.T, ds *flashinfer.Dataset, baseline string) string {
	t.Helper()
	var b bytes.Buffer
	if err := page.HTML(&b, ds, baseline, "accelgate test"); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestNumbers: ratios are over the baseline where it has traces, a failed workload is
// not faster, the last trace of a case counts, and devices are apart.
func TestNumbers(t *testing.T) {
	t.Parallel()
	ds := dataset(t, []string{"baseline", "ann"},
		passed("baseline", "A", 1, 4), passed("baseline", "A", 2, 4), passed("baseline", "A", 3, 4),
		passed("ann", "A", 1, 9), passed("ann", "A", 1, 2), passed("ann", "A", 2, 5), failed("ann", 3), passed("ann", "B", 1, 1))
	html := draw(t, ds, "baseline")
	for _, want := range []string{
		`Ratios are over the solutions of the author baseline`,
		`<tr><td data-th="author">ann</td><td class="n" data-th="faster">33.3 %</td><td class="n" data-th="median">0.8 x</td><td class="n" data-th="workloads">3</td><td class="n" data-th="PASSED">3</td><td class="n" data-th="TIMEOUT">1</td></tr>`,
		`<strong>2</strong> (2 x)`, `<td class="n" data-th="by ann, ann, ms">5 (0.8 x)</td>`, `<td class="n fail" data-th="by ann, ann, ms">TIMEOUT</td>`, `<code>d</code> on B</h2>`,
		`class="curve c1"`, `class="curve c0"`, `Without a solution of that author, and so without ratios: <code>d</code>`,
	} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
	if html := draw(t, ds, "absent"); !strings.Contains(html, "over the definitions&#39; references") || !strings.Contains(html, "<strong>2</strong> (4 x)") {
		t.Error("without a baseline ratios are not over references")
	}
}

var outside = regexp.MustCompile(`(?i)(src|href)\s*=|url\(|@import|<script|<img|<iframe|javascript:`)

// TestHostileNames: names from a dataset become neither markup nor addresses, and
// nothing is loaded from elsewhere.
func TestHostileNames(t *testing.T) {
	t.Parallel()
	evil := `<img src=x onerror=alert(1)>'</style>{{.}}`
	ds := dataset(t, []string{evil}, passed(evil, evil+"[31m", 1, 1), passed(evil, evil+"[31m", 2, 1))
	html := draw(t, ds, evil)
	if strings.Contains(html, "<img") || strings.Count(html, "</style>") != 1 {
		t.Error("a name became markup")
	}
	markup := regexp.MustCompile(`>[^<]*<|"[^"]*"`).ReplaceAllString(html[strings.Index(html, "<body>"):], "><")
	if found := outside.FindString(markup); found != "" {
		t.Errorf("the page holds %q", found)
	}
}

// TestBounds: a large dataset is cut where the page says so.
func TestBounds(t *testing.T) {
	t.Parallel()
	var authors, traces []string
	for i := range 14 {
		authors = append(authors, fmt.Sprintf("a%d", i))
		for n := range 80 {
			traces = append(traces, passed(authors[i], "A", n+1, float64(i+1)))
		}
	}
	html := draw(t, dataset(t, authors, traces...), "baseline")
	for _, want := range []string{"… and 4 solutions more", "… and 20 workloads more", "<strong>1</strong>"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}

// TestRealTraces draws the traces of real runs, whose solutions mostly are not there.
func TestRealTraces(t *testing.T) {
	t.Parallel()
	dir := filepath.Join(testtier.Data(t, "real traces were NOT drawn", "flashinfer"), "flashinfer", "flashinfer-trace")
	ds, err := flashinfer.Load(dir)
	if err != nil {
		t.Fatal(err)
	}
	html := draw(t, ds, flashinfer.BaselineAuthor)
	for _, want := range []string{"78 traces, 53 passed", "<code>rmsnorm_h4096</code> on NVIDIA A800-SXM4-80GB", "COMPILE_ERROR", "gpt-5.2"} {
		if !strings.Contains(html, want) {
			t.Errorf("%q is not in the page", want)
		}
	}
}
