package kernels

import (
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// PrintRun renders a run of kernels that no baseline judges, as plain text: the
// first line states whether every case passed; the reasons of the others follow, then the
// numbers, at most some dozens of each.
func PrintRun(w io.Writer, run *bench.Run, path string) error {
	const maximum, columns = 40, 120
	by := map[bench.Outcome]int{}
	for i := range run.Results {
		by[run.Results[i].Outcome]++
	}
	var t report.Text
	t.Line(report.Plain(sentence(len(run.Results), by)))
	t.Section("Not passed")
	t.List(failures(run, maximum))
	t.Section("")
	addNumbers(&t, run, maximum)
	t.Section("")
	next := "see why above, fix it and measure again"
	if n := len(run.Results); by[bench.Passed] == n && n > 0 {
		next = "accelgate baseline update --from " + text.ShellWord(path) + " --reason TEXT"
	}
	t.Line(report.Plain("run: "), report.Command(path), report.Plain("; Next: "), report.Command(next))
	return t.Log(w, columns)
}

func sentence(n int, by map[bench.Outcome]int) string {
	if by[bench.Passed] == n && n > 0 {
		return fmt.Sprintf("PASS: %s", text.Plural(n, "case"))
	}
	return fmt.Sprintf("FAIL: of %s %d passed, %d computed wrongly, %d failed, %d timed out, %d could not be run here",
		text.Plural(n, "case"), by[bench.Passed], by[bench.Incorrect], by[bench.Failed], by[bench.Timeout], by[bench.Skipped])
}

func failures(run *bench.Run, maximum int) (items []report.Line) {
	n := 0
	for i := range run.Results {
		r := &run.Results[i]
		if r.Outcome == bench.Passed {
			continue
		}
		if n++; n <= maximum {
			why := report.Plain(": " + string(r.Outcome) + ": ")
			items = append(items, report.Line{report.Code(r.Cell.ID()), why, report.Foreign(r.Reason)})
		}
	}
	if n > maximum {
		items = append(items, report.Only(report.Plain(fmt.Sprintf("and %d more", n-maximum))))
	}
	return items
}

// numberColumn is a column of numbers. An optional one is absent if no solution has the metric.
type numberColumn struct {
	metric, title string
	optional      bool
}

var numberColumns = []numberColumn{
	{latencyMetric, "Latency ms>", false}, {"device_ms", "Device ms>", true}, {referenceMetric, "Reference ms>", false},
	{speedupMetric, "Speedup>", false}, {"max_absolute_error", "Max abs error>", false}, {"setup_ms", "Setup ms>", true},
}

// addNumbers lists the cases that passed, the smallest speedup first.
func addNumbers(t *report.Text, run *bench.Run, maximum int) {
	var passed []*bench.Result
	for i := range run.Results {
		if run.Results[i].Outcome == bench.Passed {
			passed = append(passed, &run.Results[i])
		}
	}
	slices.SortStableFunc(passed, func(a, b *bench.Result) int {
		return cmp.Compare(measured(a, speedupMetric), measured(b, speedupMetric))
	})
	shown := slices.DeleteFunc(slices.Clone(numberColumns), func(c numberColumn) bool {
		return c.optional && !slices.ContainsFunc(passed, func(r *bench.Result) bool { return r.Sample(c.metric) != nil })
	})
	names := []string{"Definition", "Solution", "Workload~"}
	for _, c := range shown {
		names = append(names, c.title)
	}
	var rows [][]report.Line
	for _, r := range passed[:min(maximum, len(passed))] {
		var row []report.Line
		for _, param := range []string{paramDefinition, paramSolution, paramWorkload} {
			row = append(row, report.Only(report.Code(r.Cell.Get(param))))
		}
		for _, c := range shown {
			cell := report.None()
			if x := measured(r, c.metric); !math.IsNaN(x) {
				cell = report.Only(report.Plain(report.FormatNumber(x)))
			}
			row = append(row, cell)
		}
		rows = append(rows, row)
	}
	t.Table(names, rows, len(passed))
}

// measured is the median of a metric, NaN without any value, which sorts first.
func measured(r *bench.Result, metric string) float64 {
	if s := r.Sample(metric); s != nil {
		return stats.Median(s.Values)
	}
	return math.NaN()
}
