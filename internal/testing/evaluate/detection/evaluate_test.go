package detection_test

import (
	"bytes"
	"flag"
	"fmt"
	"io"
	"maps"
	"math"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/testing/evaluate/detection"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

var update = flag.Bool("update", false, "write the tables into docs/detection/data")

func folder(t testing.TB) string {
	t.Helper()
	data := testtier.Data(t, "nothing was evaluated", "series/")
	return filepath.Join(data, "series")
}

func load(t testing.TB) (d detection.Data) {
	t.Helper()
	dir := folder(t)
	var errs [3]error
	d.Sets, errs[0] = detection.Load(dir)
	d.Own, errs[1] = detection.LoadPairs(dir)
	d.Kernels, errs[2] = detection.LoadRepeats(dir)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestTablesNightly measures the files of docs/detection/data about single cells, and compares or writes them.
func TestTablesNightly(t *testing.T) {
	testtier.Nightly(t)
	d := load(t)
	for _, table := range []struct {
		file  string
		print func(io.Writer)
	}{
		{"cells-generated.csv", func(w io.Writer) { detection.Generated(w, 2000) }},
		{"goals.csv", d.Goals},
		{"cells.csv", func(w io.Writer) { detection.Cells(w, d.Sets) }},
		{"noise.csv", func(w io.Writer) { detection.Classes(w, d.Sets) }},
		{"reports.csv", func(w io.Writer) { detection.Reports(w, d.Sets) }},
		{"pairs.csv", func(w io.Writer) { detection.Own(w, d.Own) }},
		{"sessions.csv", func(w io.Writer) { detection.Stored(w, d.Own) }},
		{"kernels.csv", func(w io.Writer) { detection.Kernels(w, d.Kernels) }},
	} {
		var printed bytes.Buffer
		table.print(&printed)
		t.Log(printed.String())
		if err := detection.Hold(filepath.Join("..", "..", "..", ".."), table.file, printed.String(), *update); err != nil {
			t.Error(err)
		}
	}
}

// goal is what a rate must hold: no more false alarms than, and no less power
// than.
type goal struct {
	falseAlarms float64
	power       []float64
}

func check(t *testing.T, name string, rates []detection.Rate, g goal) {
	t.Helper()
	if got := rates[0]; got.Of == 0 || got.Percent() > g.falseAlarms {
		t.Errorf("%s: false alarms %v %%, want at most %v %%", name, got, g.falseAlarms)
	}
	for i, want := range g.power {
		if got := rates[i+1]; got.Percent() < want {
			t.Errorf("%s: power %v %% at effect %d, want at least %v %%", name, got, i+1, want)
		}
	}
}

// missed are the goals that are not reached, with the results, which may not get
// worse.
var missed = map[string]float64{
	"accelerators, n 3: times fewer false alarms than fixed 10 %": 2.85,
	"accelerators, n 5: times fewer false alarms than fixed 10 %": 3.04,
	"quiet cells, n 3: power % at 5 %":                            90.8,
	"quiet cells, n 5: power % at 5 %":                            94.2,
	"quiet cells, n 5: power % at 3 %":                            88.3,
	"quiet cells, n 5, least effect 1 %: power % at 2 %":          79.0,
}

// TestGoalsThorough fails where a change of the rules loses a goal on the development
// series, or more of one that is missed.
func TestGoalsThorough(t *testing.T) {
	testtier.Thorough(t)
	d := load(t)
	goals, missed := d.All(), maps.Clone(missed)
	for _, g := range goals {
		known, bad := missed[g.Name]
		switch {
		case g.Holds() && bad:
			t.Errorf("%s: %.2f, and %s was missed: say so no longer", g.Name, g.Got, g.Want)
		case !g.Holds() && !bad:
			t.Errorf("%s: %.2f, want %s", g.Name, g.Got, g.Want)
		case bad && math.Abs(g.Got-known) > 1:
			t.Errorf("%s: %.2f, want %s; known as missed by %.1f", g.Name, g.Got, g.Want, known)
		}
		delete(missed, g.Name)
	}
	if len(goals) < 60 || len(missed) > 0 {
		t.Errorf("%d goals, and nothing is known of %v", len(goals), missed)
	}
}

// TestGenerated needs no data. Drift and autocorrelation are left out: there, a
// few runs in a row are not what the rule takes them for, which the table shows.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for _, noise := range []string{"Gaussian", "heavy-tailed", "bimodal", "quantised"} {
		for _, n := range detection.Ns {
			trials := detection.Generate(noise, n, 1500, 3)
			row := detection.Rules()[0].Judge(n, trials, detection.Effects)
			limit := 1.5
			if noise == "bimodal" && n == 1 {
				limit = 3 // a single run in the slow mode is like a slow-down
			}
			check(t, fmt.Sprint(noise, n), row.Rates, goal{limit, []float64{0, 25, 80}})
		}
	}
}

func TestWilson(t *testing.T) {
	t.Parallel()
	// Newcombe 1998, table I: 81 of 263, 1 of 29, 0 of 20.
	for _, c := range []struct {
		hits, of  int
		low, high float64
	}{{81, 263, 25.53, 36.62}, {1, 29, 0.61, 17.18}, {0, 20, 0, 16.11}} {
		low, high := detection.Rate{Hits: c.hits, Of: c.of}.Wilson()
		if math.Abs(low-c.low) > 0.01 || math.Abs(high-c.high) > 0.01 {
			t.Errorf("%d of %d: [%.2f, %.2f], want [%.2f, %.2f]", c.hits, c.of, low, high, c.low, c.high)
		}
	}
}

func TestPeers(t *testing.T) {
	t.Parallel()
	near := func(name string, got, want float64) {
		t.Helper()
		if math.Abs(got-want) > 5e-4 {
			t.Errorf("%s: %.4f, want %.4f", name, got, want)
		}
	}
	// The smallest p by samples a side, from the number of arrangements.
	near("n 3", detection.RankSumP([]float64{1, 2, 3}, []float64{4, 5, 6}), 2.0/20)
	near("n 4", detection.RankSumP([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}), 2.0/70)
	near("n 5", detection.RankSumP([]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}), 2.0/252)
	near("one swapped", detection.RankSumP([]float64{1, 2, 4}, []float64{3, 5, 6}), 4.0/20)
	near("equal", detection.RankSumP([]float64{1, 1}, []float64{1, 1}), 1)
	// t is -1 for both; 8 degrees of freedom.
	a, b := []float64{1, 2, 3, 4, 5}, []float64{2, 3, 4, 5, 6}
	near("Welch", detection.WelchP(a, b), 0.3466)
	near("Student", detection.StudentP(a, b), 0.3466)
	near("alone", detection.WelchP([]float64{1}, []float64{2}), 1)
}

// BenchmarkReport judges 100,000 cells with 30 runs of history each, from one
// real cell to the next.
func BenchmarkReport(b *testing.B) {
	trials := detection.Trials(load(b).Sets, 1)
	cells := make([]detect.Cell, 0, 100_000)
	for i := 0; len(cells) < cap(cells); i++ {
		t := trials[i%len(trials)]
		cells = append(cells, detect.Cell{Base: t.History[max(0, len(t.History)-30):], Head: t.Head})
	}
	b.ReportAllocs()
	for b.Loop() {
		detect.JudgeReport(cells, 0)
	}
}
