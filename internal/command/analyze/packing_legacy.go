package analyze

import (
	"bufio"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
)

// packingLegacy renders comparisons in the layout of mini_trainer's
// regression_tests/benchmark_batching.py, for whoever reads that by a program.
// Its scenarios stand where that program has them; others get a comparison at
// the end. Times are those of packing for all ranks at once, where the original
// packs once for each. Like there, the line of times is (lpt-greedy)/greedy, so
// that faster is below zero.
func packingLegacy(w io.Writer, all []packing.Comparison) error {
	l := legacyPacking{w: bufio.NewWriter(w), all: map[string]packing.Comparison{}}
	for _, c := range all {
		if c.Result("greedy") == nil || c.Result("lpt") == nil {
			return fmt.Errorf("the legacy layout compares greedy with lpt: leave --algorithms out, or name both")
		}
		l.all[c.Name] = c
	}
	l.analysis()
	l.comparison(all)
	l.banner("Analysis complete. These benchmarks help identify performance characteristics",
		"and potential optimization opportunities in the batching algorithms.")
	return l.w.Flush()
}

type legacyPacking struct {
	w     *bufio.Writer
	all   map[string]packing.Comparison
	shown []string
}

func (l *legacyPacking) line(format string, args ...any) { fmt.Fprintf(l.w, format+"\n", args...) }

func (l *legacyPacking) banner(lines ...string) {
	bar := strings.Repeat("=", 80)
	l.line("%s", bar)
	for _, line := range lines {
		l.line("%s", line)
	}
	l.line("%s", bar)
}

// take returns a scenario's comparison, once.
func (l *legacyPacking) take(name string) (packing.Comparison, bool) {
	c, ok := l.all[name]
	if ok {
		l.shown = append(l.shown, name)
	}
	return c, ok
}

func (l *legacyPacking) analysis() {
	l.banner("BATCHING EFFICIENCY ANALYSIS")
	for _, s := range []struct{ title, name string }{{"Small Batch Analysis", "analysis/small"}, {"Large Batch Analysis", "analysis/large_realistic_2000"}} {
		c, ok := l.take(s.name)
		if !ok {
			continue
		}
		l.line("\n=== %s ===", s.title)
		for _, a := range []struct{ title, name string }{{"Greedy", "greedy"}, {"LPT", "lpt"}} {
			m := c.Result(a.name).Metrics
			l.line("\n%s Algorithm:", a.title)
			if len(c.Problem.Lengths) > 100 {
				l.line("  Total sequences: %d", len(c.Problem.Lengths))
			}
			l.line("  Total minibatches: %d\n  Avg row balance ratio: %.3f\n  Worst row balance ratio: %.3f\n  Overall efficiency: %.3f",
				m.TotalMinibatches, m.AvgRowBalanceRatio, m.WorstRowBalanceRatio, m.OverallEfficiency)
		}
	}
	l.edges()
	l.outliers()
	l.line("")
	l.line("%s", strings.Repeat("=", 80))
}

func (l *legacyPacking) edges() {
	l.line("\n=== Edge Case Analysis ===\n")
	for _, e := range []struct {
		title, name string
		rows        bool
	}{{"Uniform lengths", "edge_uniform", false}, {"Mixed with outlier", "edge_mixed_outlier", false}, {"Tight fit", "edge_tight_fit", true}, {"With oversized", "edge_oversized", true}} {
		c, ok := l.take("analysis/" + e.name)
		switch {
		case ok && e.rows:
			l.line("%s - Total minibatches: %d", e.title, c.Result("greedy").Metrics.TotalMinibatches)
		case ok:
			l.line("%s - Avg row balance: %.3f", e.title, c.Result("greedy").Metrics.AvgRowBalanceRatio)
		}
	}
}

func (l *legacyPacking) outliers() {
	l.line("\n=== Realistic Outlier Scenarios ===")
	for _, s := range []struct{ title, name string }{{"Bimodal distribution", "bimodal"}, {"Power law distribution", "power_law"}, {"Extreme outliers", "extreme"}} {
		if c, ok := l.take("analysis/outlier_" + s.name); ok {
			m := c.Result("greedy").Metrics
			l.line("\n%s:\n  Avg row balance ratio: %.3f\n  Total minibatches: %d\n  Overall efficiency: %.3f", s.title,
				m.AvgRowBalanceRatio, m.TotalMinibatches, m.OverallEfficiency)
		}
	}
}

func (l *legacyPacking) comparison(all []packing.Comparison) {
	l.line("")
	l.banner("ALGORITHM COMPARISON: GREEDY vs LPT")
	n := 0
	show := func(title string, c packing.Comparison) {
		n++
		l.line("\n%d. %s\n", n, title)
		l.pair(c)
	}
	for _, s := range []struct{ title, name string }{
		{"SMALL BATCH TEST", "compare/1_small"}, {"LARGE REALISTIC BATCH", "compare/2_realistic_500"}, {"BIMODAL DISTRIBUTION", "compare/3_bimodal"},
		{"EXTREME OUTLIERS", "compare/4_extreme"}, {"POWER LAW DISTRIBUTION", "compare/5_power_law"},
	} {
		if c, ok := l.take(s.name); ok {
			show(s.title, c)
		}
	}
	speed, timed := l.take("speed/6_realistic_1000")
	for _, c := range all {
		if !slices.Contains(l.shown, c.Name) {
			show(report.Line{report.Code(c.Name)}.String(), c)
		}
	}
	if timed && len(speed.Results[0].Times) > 0 {
		l.line("\n%d. SPEED BENCHMARK (Multiple Iterations)", n+1)
		l.speed(speed)
	}
	l.line("")
}

func (l *legacyPacking) pair(c packing.Comparison) {
	l.line("%-30s %12s %12s %18s", "Metric", "Greedy", "LPT", "Improvement")
	l.line("%s", strings.Repeat("-", 75))
	g, t := c.Result("greedy"), c.Result("lpt")
	a, b := g.Metrics, t.Metrics
	l.row("Total minibatches", float64(a.TotalMinibatches), float64(b.TotalMinibatches), "%.0f", -1, "fewer")
	l.row("Avg row balance ratio", a.AvgRowBalanceRatio, b.AvgRowBalanceRatio, "%.3f", 1, "better")
	l.row("Worst row balance ratio", a.WorstRowBalanceRatio, b.WorstRowBalanceRatio, "%.3f", 1, "better")
	l.row("Row balance std dev", a.RowBalanceStd, b.RowBalanceStd, "%.3f", -1, "lower")
	l.row("Overall efficiency", a.OverallEfficiency, b.OverallEfficiency, "%.3f", 1, "higher")
	if len(g.Times) > 0 {
		x, y := stats.Median(g.Milliseconds()), stats.Median(t.Milliseconds())
		word := "slower"
		if y < x {
			word = "faster"
		}
		l.row("Execution time (ms)", x, y, "%.3f", 1, word)
	}
}

// row writes both values and by how much the second is larger, or smaller where
// the sign is -1, in percent of the first; nan or inf where that is zero, as numpy
// prints them.
func (l *legacyPacking) row(name string, greedy, lpt float64, format string, sign float64, word string) {
	change := "nan"
	switch x := 100 * sign * (lpt - greedy) / greedy; {
	case math.IsInf(x, 1):
		change = "inf"
	case math.IsInf(x, -1):
		change = "-inf"
	case !math.IsNaN(x):
		change = fmt.Sprintf("%.1f", x+0) // without a sign where nothing changed
	}
	l.line("%-25s %12s %12s %15s", name, fmt.Sprintf(format, greedy), fmt.Sprintf(format, lpt), change+"% "+word)
}

func (l *legacyPacking) speed(c packing.Comparison) {
	g, t := c.Result("greedy").Milliseconds(), c.Result("lpt").Milliseconds()
	l.line("%s\nTest setup: %d sequences, %d ranks, %d iterations\n", strings.Repeat("-", 50), len(c.Problem.Lengths), c.Problem.Ranks,
		len(g))
	l.line("%-15s %12s %15s %12s %12s", "Algorithm", "Mean (ms)", "Std Dev (ms)", "Min (ms)", "Max (ms)")
	l.line("%s", strings.Repeat("-", 75))
	for _, r := range []struct {
		name string
		ms   []float64
	}{{"Greedy", g}, {"LPT", t}} {
		mean, deviation := moments(r.ms)
		l.line("%-15s %12.2f %15.2f %12.2f %12.2f", r.name, mean, deviation, slices.Min(r.ms), slices.Max(r.ms))
	}
	x, _ := moments(g)
	switch y, _ := moments(t); {
	case y < x:
		l.line("\n🚀 LPT is %.2fx FASTER than Greedy", x/y)
	case y > x:
		l.line("\n⚠️  LPT is %.2fx SLOWER than Greedy", y/x)
	default:
		l.line("\n⚖️  Both algorithms have similar performance")
	}
}

// moments are the mean and the deviation of the population.
func moments(values []float64) (mean, deviation float64) {
	for _, v := range values {
		mean += v / float64(len(values))
	}
	for _, v := range values {
		deviation += (v - mean) * (v - mean) / float64(len(values))
	}
	return mean, math.Sqrt(deviation)
}
