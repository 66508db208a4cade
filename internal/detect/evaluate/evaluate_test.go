package evaluate_test

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"testing"

	"github.com/accelgate/accelgate/internal/detect"
	"github.com/accelgate/accelgate/internal/detect/evaluate"
	"github.com/accelgate/accelgate/internal/require"
)

func folder(t testing.TB) string {
	t.Helper()
	data := require.Data(t, "nothing was evaluated", "series/")
	return filepath.Join(data, "series")
}

type data struct {
	sets    []evaluate.Set
	own     []evaluate.Paired
	kernels []evaluate.Repeats
}

func load(t testing.TB) (d data) {
	t.Helper()
	dir := folder(t)
	var errs [3]error
	d.sets, errs[0] = evaluate.Load(dir)
	d.own, errs[1] = evaluate.LoadPairs(dir)
	d.kernels, errs[2] = evaluate.LoadRepeats(dir)
	for _, err := range errs {
		if err != nil {
			t.Fatal(err)
		}
	}
	return d
}

// TestTables prints what docs/detection.md holds, with -v.
func TestTables(t *testing.T) {
	if !testing.Verbose() {
		t.Skip("tables are printed with -v")
	}
	d, w := load(t), os.Stdout
	evaluate.Cells(w, d.sets)
	evaluate.Classes(w, d.sets)
	evaluate.Reports(w, d.sets)
	evaluate.Own(w, d.own)
	evaluate.Kernels(w, d.kernels)
	evaluate.Plans(w, d.sets, d.own)
	evaluate.Generated(w, 2000)
}

// goal is what a rate must hold: no more false alarms than, and no less power
// than.
type goal struct {
	falseAlarms float64
	power       []float64
}

func check(t *testing.T, name string, rates []evaluate.Rate, g goal) {
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

// TestGoals fails where a change of the rules has more than 1.5 % false alarms on
// the development series, or finds 3 points less than the reference does.
func TestGoals(t *testing.T) {
	d := load(t)
	reference := map[int][]float64{1: {26, 47, 68}, 3: {41, 64, 82}, 5: {47, 64, 83}, 10: {54, 77, 91}}
	for _, n := range evaluate.Ns {
		trials := evaluate.Trials(d.sets, n)
		ours := evaluate.Rules()[0].Judge(n, trials, evaluate.Effects)
		power := reference[n]
		check(t, ours.Rule, ours.Rates, goal{1.5, []float64{power[0] - 3, power[1] - 3, power[2] - 3}})
		t.Logf("n %d: %v", n, ours.Rates)
	}
}

// TestPairGoals: the figures are those of pairs that are known to be equal, or
// to differ by so much, and of GPU kernels.
func TestPairGoals(t *testing.T) {
	d := load(t)
	reference := map[int][]float64{3: {22, 36, 54}, 5: {33, 47, 67}, 10: {40, 61, 78}}
	for _, row := range evaluate.OwnRows(d.own) {
		power := reference[row.N]
		check(t, "own pairs", append(row.Rates[:1:1], row.Rates[4:]...), goal{1.5, []float64{power[0] - 3, power[1] - 3, power[2] - 3}})
		if low := row.Rates[0].Percent(); low < 0.5 {
			t.Errorf("n %d: %v %% false alarms: alpha is not used", row.N, low)
		}
	}
	for _, row := range evaluate.KernelRows(d.kernels) {
		if row.N == 5 {
			check(t, "GPU kernels", row.Rates, goal{1.5, []float64{0, 60, 75}})
		}
	}
}

// TestPlanGoals: the plan of repeated runs costs at most 1.5 runs for a cell that
// did not change.
func TestPlanGoals(t *testing.T) {
	d := load(t)
	a := evaluate.PlanHistory(evaluate.PlanTrials(d.sets), evaluate.Effects)
	check(t, "plan", a.Rates, goal{1.0, []float64{44, 61, 78}})
	if a.Cost[0] > 1.5 {
		t.Errorf("%.2f runs a cell, want at most 1.5", a.Cost[0])
	}
}

// TestGenerated needs no data. Drift and autocorrelation are left out: there, a
// few runs in a row are not what the rule takes them for, which the table shows.
func TestGenerated(t *testing.T) {
	t.Parallel()
	for _, noise := range []string{"Gaussian", "heavy-tailed", "bimodal", "quantised"} {
		for _, n := range evaluate.Ns {
			trials := evaluate.Generate(noise, n, 1500, 3)
			row := evaluate.Rules()[0].Judge(n, trials, evaluate.Effects)
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
		low, high := evaluate.Rate{Hits: c.hits, Of: c.of}.Wilson()
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
	near("n 3", evaluate.RankSumP([]float64{1, 2, 3}, []float64{4, 5, 6}), 2.0/20)
	near("n 4", evaluate.RankSumP([]float64{1, 2, 3, 4}, []float64{5, 6, 7, 8}), 2.0/70)
	near("n 5", evaluate.RankSumP([]float64{1, 2, 3, 4, 5}, []float64{6, 7, 8, 9, 10}), 2.0/252)
	near("one swapped", evaluate.RankSumP([]float64{1, 2, 4}, []float64{3, 5, 6}), 4.0/20)
	near("equal", evaluate.RankSumP([]float64{1, 1}, []float64{1, 1}), 1)
	// t is -1 for both; 8 degrees of freedom.
	a, b := []float64{1, 2, 3, 4, 5}, []float64{2, 3, 4, 5, 6}
	near("Welch", evaluate.WelchP(a, b), 0.3466)
	near("Student", evaluate.StudentP(a, b), 0.3466)
	near("alone", evaluate.WelchP([]float64{1}, []float64{2}), 1)
}

// BenchmarkReport judges 100,000 cells with 30 runs of history each, from one
// real cell to the next.
func BenchmarkReport(b *testing.B) {
	trials := evaluate.Trials(load(b).sets, 1)
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
