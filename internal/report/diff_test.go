package report_test

import (
	"encoding/json"
	"fmt"
	"io"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/gate/diff"
	"github.com/accelgate/accelgate/internal/judge"
	"github.com/accelgate/accelgate/internal/report"
)

// diffScenario is testdata/diff/NAME/input.json.
type diffScenario struct {
	Tolerance  float64
	Strict     bool
	Difference diff.Difference
}

// diffRenderers are all, by the name of their golden file.
var diffRenderers = map[string]func(io.Writer, diff.Difference, report.DiffOptions) error{
	"diff.txt": report.DiffTerminal, "diff.md": report.DiffMarkdown, "diff.json": report.DiffJSON,
	"inferencebench.txt": compatible(judge.InferenceBenchTable), "inferencebench.json": compatible(judge.InferenceBenchJSON),
}

func compatible(f func(io.Writer, diff.Difference) error) func(io.Writer, diff.Difference, report.DiffOptions) error {
	return func(w io.Writer, d diff.Difference, _ report.DiffOptions) error {
		d.Compat = compat.InferenceBench
		return f(w, d)
	}
}

func renderDiff(t testing.TB, format string, d diff.Difference, o report.DiffOptions) string {
	t.Helper()
	var b strings.Builder
	if err := diffRenderers[format](&b, d, o); err != nil {
		t.Fatalf("%s: %v", format, err)
	}
	return b.String()
}

func TestDiffGolden(t *testing.T) {
	folders, err := filepath.Glob(filepath.Join("testdata", "diff", "*"))
	if err != nil || len(folders) == 0 {
		t.Fatalf("%d scenarios, %v", len(folders), err)
	}
	for _, folder := range folders {
		t.Run(filepath.Base(folder), func(t *testing.T) {
			data, err := os.ReadFile(filepath.Join(folder, "input.json"))
			if err != nil {
				t.Fatal(err)
			}
			var s diffScenario
			if err := json.Unmarshal(data, &s); err != nil {
				t.Fatal(err)
			}
			for format := range diffRenderers {
				text := renderDiff(t, format, s.Difference, report.DiffOptions{Tolerance: s.Tolerance, Strict: s.Strict})
				golden(t, filepath.Join(folder, format), text)
				checkPlain(t, text)
			}
		})
	}
}

// plantedDiff has s wherever a string can be and x for some numbers.
func plantedDiff(s string, x float64) diff.Difference {
	word := func(i int) string { return fmt.Sprintf("%c%sz", 'a'+i, s) }
	one := 1.0
	row := func(i int, v diff.Verdict) diff.Row {
		return diff.Row{Cell: word(i), Metric: s + "!", Unit: word(0), Baseline: &one, Candidate: &x, DeltaAbs: &x, DeltaRel: &x, Verdict: v, Reason: word(1)}
	}
	return diff.Difference{Baseline: s, Candidate: word(1), Refused: word(0), Compat: compat.Tool(s),
		Context: []diff.ContextMatch{{Name: "n" + s, Baseline: word(0), Candidate: word(1), Level: gate.Fail}, {Name: s, Baseline: s, Candidate: word(1), Level: gate.Warn}},
		Rows: []diff.Row{row(0, diff.Regression), row(1, diff.Improvement), {Cell: s, Metric: word(0), Verdict: diff.Missing},
			row(2, diff.Verdict("v"+s)), {Metric: s, Verdict: diff.NoChange}}}
}

// checkDiff holds for any text and number: no renderer emits a control
// character or a command to the runner, and Markdown keeps its structure.
func checkDiff(t *testing.T, s string, x float64) {
	t.Helper()
	d := plantedDiff(s, x)
	for format := range diffRenderers {
		checkPlain(t, renderDiff(t, format, d, report.DiffOptions{Tolerance: x}))
	}
	want := skeleton(t, renderDiff(t, "diff.md", plantedDiff("x", x), report.DiffOptions{}))
	if diff := cmp.Diff(want, skeleton(t, renderDiff(t, "diff.md", d, report.DiffOptions{}))); diff != "" {
		t.Errorf("%q changes the structure (-want +got):\n%s", s, diff)
	}
	var document report.DiffDocument
	if err := json.Unmarshal([]byte(renderDiff(t, "diff.json", d, report.DiffOptions{Tolerance: x})), &document); err != nil {
		t.Errorf("%q: %v", s, err)
	}
	if got, want := document.BaselinePath, strings.ToValidUTF8(s, "\ufffd"); len(document.Metrics) != len(d.Rows) || strings.Count(got, "\ufffd") == 0 && got != want {
		t.Errorf("%d metrics of %d; path %q, want %q", len(document.Metrics), len(d.Rows), got, want)
	}
}

func TestDiffIsHarmless(t *testing.T) {
	for i, evil := range hostile {
		checkDiff(t, "x"+evil+"x", []float64{math.NaN(), math.Inf(1), math.Inf(-1), 1e308, -1e-300, 0}[i%6])
		checkDiff(t, evil, 1)
	}
}

func FuzzDiff(f *testing.F) {
	f.Add("##[error]x", 1.5)
	f.Add("\n::error::x", math.NaN())
	f.Add("\x1b[31m\u202e\x7f", math.Inf(-1))
	f.Fuzz(func(t *testing.T, s string, x float64) { checkDiff(t, s[:min(len(s), 300)], x) })
}

// TestDiffNotFinite writes null for what JSON cannot hold.
func TestDiffNotFinite(t *testing.T) {
	nan, inf, one := math.NaN(), math.Inf(1), 1.0
	d := diff.Difference{Rows: []diff.Row{
		{Metric: "a", Baseline: &inf, Candidate: &inf, DeltaAbs: &nan, DeltaRel: &nan, Verdict: diff.Regression},
		{Metric: "b", Baseline: &one, Candidate: &one, Verdict: diff.NoChange}}}
	for format, want := range map[string]string{
		"diff.json":           `{"metric":"a","baseline":null,"candidate":null,"delta_abs":null,"change":null,"verdict":"regression","better":null,"not_finite":true},` + "\n" + `{"metric":"b","baseline":1,`,
		"inferencebench.json": "\"baseline\": Infinity,\n      \"candidate\": Infinity,\n      \"delta_abs\": NaN,\n      \"delta_rel\": NaN,",
		"inferencebench.txt":  "a            inf        inf    nan   nan%  regression\n",
		"diff.txt":            "a       infinite   infinite  not a number  not a number  regression\n",
	} {
		if got := renderDiff(t, format, d, report.DiffOptions{}); !strings.Contains(got, want) {
			t.Errorf("%s lacks %q:\n%s", format, want, got)
		}
	}
}

// TestDiffBounds keeps to every limit and says that rows are left out.
func TestDiffBounds(t *testing.T) {
	d := diff.Difference{Baseline: strings.Repeat("@", 500), Refused: strings.Repeat("#", 1000)}
	x := 2.0
	for i := range 3000 {
		d.Rows = append(d.Rows, diff.Row{Cell: fmt.Sprintf("c%04d%s", i, strings.Repeat("|", 200)), Metric: "m", Baseline: &x, Candidate: &x, Verdict: diff.NoChange})
		d.Context = append(d.Context, diff.ContextMatch{Name: strings.Repeat("<", 300), Level: gate.Warn})
	}
	for _, limit := range []int{0, 20_000, 5000, 1000, 1} {
		body := renderDiff(t, "diff.md", d, report.DiffOptions{Limit: limit})
		if limit == 0 {
			limit = report.MarkdownBytes
		}
		if len(body) > max(limit, 1000) || !strings.Contains(body, " more\n") && !strings.Contains(body, "Left out") {
			t.Errorf("limit %d: %d bytes that end in %q", limit, len(body), body[max(0, len(body)-100):])
		}
		skeleton(t, body)
	}
	if text := renderDiff(t, "diff.txt", d, report.DiffOptions{}); strings.Count(text, "\nc") != 100 || !strings.Contains(text, "... and 2900 more rows\n") {
		t.Errorf("%d rows are shown, and the end is %q", strings.Count(text, "\nc"), text[len(text)-100:])
	}
}

// TestDiffSmallChange does not show a change as none.
func TestDiffSmallChange(t *testing.T) {
	for _, c := range []struct {
		relative, tolerance float64
		want                string
	}{
		{0.0001, 0, " +0.01 % "}, {-1e-9, 0, " -1e-07 % "}, {0, 0, " 0.0 % "}, {0.02001, 0.02, " +2.001 % "}, {0.02, 0.02, " +2.0 % "}, {3, 0.02, " +300.0 % "},
	} {
		one := 1.0
		d := diff.Difference{Rows: []diff.Row{{Metric: "m", Baseline: &one, Candidate: &one, DeltaRel: &c.relative, Verdict: diff.NoChange}}}
		if got := renderDiff(t, "diff.txt", d, report.DiffOptions{Tolerance: c.tolerance}); !strings.Contains(got, c.want) {
			t.Errorf("%v with tolerance %v lacks %q:\n%s", c.relative, c.tolerance, c.want, got)
		}
	}
}
