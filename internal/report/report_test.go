package report_test

import (
	"encoding/json"
	"flag"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/reference/waiver"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/suite/cases"
	"github.com/accelgate/accelgate/internal/suite/cases/operators"
)

var update = flag.Bool("update", false, "rewrite the golden files")

// scenario is testdata/report/<name>/input.json.
type scenario struct {
	Tool, Revision, Base, Config string
	Now                          time.Time
	Policy                       gate.Policy
	Links                        report.Links
	Site                         string           // of the pages of cells
	Expected                     []bench.Expected // what case files say
	Waivers                      []waiver.Entry
	Hosts                        []struct {
		Path           string
		Run, Reference *bench.Run
		Comparison     *gate.Comparison     // in place of the gate's
		Anchors        map[string]float64   // of the first metric of the reference's cells, by id
		Earlier        map[string][]float64 // runs, likewise; 0 where a run lacks the cell
	}
}

// input judges the scenario as the command does.
func (s *scenario) input() report.Input {
	in := report.Input{Tool: s.Tool, Now: s.Now, Policy: s.Policy, Revision: s.Revision, Base: s.Base,
		Config: s.Config, Links: s.Links, Kinds: kinds}
	in.Policy.Expected = make(map[string]bench.Expected, len(s.Expected))
	in.Policy.Operators = map[string]gate.OperatorJudge{"": operators.Judge}
	in.Policy.Waivers, in.Policy.Today = s.Waivers, waiver.DateOf(s.Now)
	for i := range s.Waivers {
		s.Waivers[i].Source = fmt.Sprintf("waivers.yml:%d", 3+5*i)
	}
	for _, e := range s.Expected {
		in.Policy.Expected[e.Cell] = e
	}
	if s.Site != "" {
		in.Links.Cell = func(host, _ string) string { return s.Site + host + "/cell.html" }
	}
	var comparisons []gate.Comparison
	for _, h := range s.Hosts {
		name := ""
		if h.Reference != nil {
			name = h.Reference.Host.Label
		}
		for id, anchor := range h.Anchors {
			i := slices.IndexFunc(h.Reference.Results, func(r bench.Result) bool { return r.Cell.ID() == id })
			r := &h.Reference.Results[i]
			r.Samples[0].Anchor, r.Anchored = anchor, bench.Point{At: s.Now.AddDate(0, -2, 0), Revision: "89abdef"}
		}
		for id, values := range h.Earlier {
			i := slices.IndexFunc(h.Reference.Results, func(r bench.Result) bool { return r.Cell.ID() == id })
			h.Reference.Earlier = make([]bench.Point, len(values))
			history := make([][]float64, len(values))
			for n, v := range values {
				if v != 0 {
					history[n] = []float64{v}
				}
			}
			h.Reference.Results[i].Samples[0].History = history
		}
		c := gate.Compare(name, h.Reference, h.Run, in.Policy)
		if h.Comparison != nil {
			c = *h.Comparison
		}
		comparisons = append(comparisons, c)
		in.Hosts = append(in.Hosts, report.HostInput{Run: h.Run, Reference: h.Reference, Path: h.Path, Comparison: c})
	}
	in.Decision = gate.Decide(comparisons, in.Policy)
	return in
}

func load(t testing.TB, name string) *scenario {
	t.Helper()
	data, err := os.ReadFile(filepath.Join("testdata", "report", name, "input.json"))
	if err != nil {
		t.Fatal(err)
	}
	var s scenario
	if err := json.Unmarshal(data, &s); err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	return &s
}

func names(t testing.TB) []string {
	t.Helper()
	dirs, err := filepath.Glob(filepath.Join("testdata", "report", "*"))
	if err != nil || len(dirs) == 0 {
		t.Fatalf("no scenarios: %v", err)
	}
	for i := range dirs {
		dirs[i] = filepath.Base(dirs[i])
	}
	return dirs
}

func render(t testing.TB, f report.Renderer, r report.Report) string {
	t.Helper()
	var b strings.Builder
	if err := f(&b, r); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

func golden(t *testing.T, path, got string) {
	t.Helper()
	if *update {
		if err := os.WriteFile(path, []byte(got), 0o644); err != nil {
			t.Fatal(err)
		}
		return
	}
	want, err := os.ReadFile(path)
	if err != nil {
		t.Fatalf("%v; run go test ./internal/report -update", err)
	}
	if diff := cmp.Diff(string(want), got); diff != "" {
		t.Errorf("%s (-want +got):\n%s", path, diff)
	}
}

// console are the layouts of msmodeling's checker.
var console = map[string]report.Renderer{
	"test.txt": cases.PrintTest, "check.txt": cases.PrintCheck, "anomalies.txt": cases.Anomalies,
}

func TestGolden(t *testing.T) {
	for _, name := range names(t) {
		t.Run(name, func(t *testing.T) {
			in := load(t, name).input()
			r := report.New(in)
			renderers := map[string]report.Renderer{
				"report.md": report.Markdown, "report.txt": report.Terminal, "report.json": report.JSON,
			}
			if slices.ContainsFunc(in.Hosts, func(h report.HostInput) bool { return h.Comparison.Checks != nil }) {
				maps.Copy(renderers, console)
				renderers["cases.md"] = cases.Markdown
			}
			for file, f := range renderers {
				golden(t, filepath.Join("testdata", "report", name, file), render(t, f, r))
			}
		})
	}
}

// TestNumbersAddUp holds for every scenario: each verdict is counted once, and
// no sum in a report contradicts another.
func TestNumbersAddUp(t *testing.T) {
	for _, name := range names(t) {
		in := load(t, name).input()
		r := report.New(in)
		verdicts, measured, unselected, leftOut, refused := 0, 0, 0, 0, 0
		for _, h := range in.Hosts {
			verdicts += len(h.Comparison.Verdicts)
			measured += h.Comparison.Measured
			unselected += h.Comparison.Unselected
			for _, v := range h.Comparison.Verdicts {
				leftOut += map[bool]int{true: 1}[v.LeftOut()]
				refused += map[bool]int{true: 1}[v.Finding == gate.OtherHost && v.Blocks]
			}
		}
		got := r.Totals()
		want := report.Totals{Hosts: len(in.Hosts), Verdicts: verdicts, Measured: measured, Unselected: unselected, LeftOut: leftOut, Refused: refused,
			Retried: got.Retried, Undecided: got.Undecided, Excused: got.Excused, Cells: got.Cells, Right: got.Right, Checked: got.Checked, Checks: got.Checks, Numbers: got.Numbers, Judged: got.Judged, Blocking: got.Blocking}
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("%s: Totals() (-want +got):\n%s", name, diff)
		}
		checks := 0
		for _, n := range got.Checks {
			checks += n
		}
		if checks != got.Checked || got.Numbers < got.Judged || got.Checked > got.Measured || got.Right > got.Measured || got.Judged > got.Right || got.Measured > got.Cells || got.Blocking > got.Cells {
			t.Errorf("%s: Totals() = %+v contradicts itself", name, got)
		}
		if sum := summands(t, render(t, report.Terminal, r)); sum != verdicts {
			t.Errorf("%s: the sum's parts make %d, want %d", name, sum, verdicts)
		}
	}
}

// summands adds up the line "87 verdicts = 1 wrong + 86 unchanged".
func summands(t *testing.T, text string) int {
	t.Helper()
	for line := range strings.Lines(text) {
		head, parts, ok := strings.Cut(line, " = ")
		if !ok || !strings.Contains(head, " verdict") {
			continue
		}
		sum := 0
		parts, _, _ = strings.Cut(parts, ";")
		for part := range strings.SplitSeq(parts, " + ") {
			var n int
			if err := json.Unmarshal([]byte(strings.Fields(part)[0]), &n); err != nil {
				t.Fatalf("%q: %v", line, err)
			}
			sum += n
		}
		return sum
	}
	t.Fatal("no line of sums")
	return 0
}

// TestFindingsAreInOrder holds what annotations show: single printable lines, the worst first by
// the gate's order but for causes that cells share, and every finding that blocks.
func TestFindingsAreInOrder(t *testing.T) {
	for _, name := range names(t) {
		in := load(t, name).input()
		findings := report.New(in).Findings(9)
		blocking := 0
		for _, n := range in.Decision.Blocking {
			blocking += n
		}
		told, rows, full := 0, 0, map[gate.Finding]int{}
		for _, f := range findings {
			if f.Blocks {
				told, rows = told+f.Verdicts, rows+1
			}
			full[f.Finding]++
		}
		if rows > 15 || told != blocking && rows < 15 && !slices.Contains(slices.Collect(maps.Values(full)), 10) {
			t.Errorf("%s: %d findings of %d verdicts that block, want %d", name, rows, told, blocking)
		}
		if !slices.IsSortedFunc(findings, func(a, b report.Finding) int {
			if a.Verdicts > 1 || b.Verdicts > 1 {
				return 0
			}
			return report.WorstFirst(a, b)
		}) {
			t.Errorf("%s: out of order: %+v", name, findings)
		}
		for _, f := range findings {
			if strings.ContainsAny(f.Host+f.Cell+f.Metric+f.Message, "\r\n\x1b\u202e") {
				t.Errorf("%s: finding %+v is not one printable line", name, f)
			}
		}
	}
}

// TestReportGrowsWithWhatItShows compares the allocations of a small report
// with those of one over thirteen times the cells: no row is built that is not
// shown.
func TestReportGrowsWithWhatItShows(t *testing.T) {
	allocs := func(cells int) float64 {
		in := matrix(cells)
		return testing.AllocsPerRun(1, func() {
			r := report.New(in)
			render(t, report.Markdown, r)
			render(t, report.Terminal, r)
		})
	}
	small, large := allocs(400), allocs(5_400)
	// An id is built for each result while the shown ones are looked up.
	if perCell := (large - small) / 5_000; perCell > 4 {
		t.Errorf("%.1f allocations for each cell that is not shown, want at most 4", perCell)
	}
}
