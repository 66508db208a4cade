package report

import (
	"bufio"
	"cmp"
	"fmt"
	"io"
	"math"
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// Kernels renders a run of kernels that no baseline judges, as plain text: the
// first line says whether every case passed; the reasons of the others follow, then the
// numbers, at most some dozens of each.
func Kernels(w io.Writer, run *bench.Run, path string) error {
	const most = 40
	p := printer{w: bufio.NewWriter(w), options: TerminalOptions{Columns: 120}, log: true}
	by := map[bench.Outcome]int{}
	for i := range run.Results {
		by[run.Results[i].Outcome]++
	}
	p.line(kernelsSentence(len(run.Results), by))
	p.section("Not passed", kernelFailures(run, most))
	p.blocks([]block{kernelTable(run, most)})
	p.line("")
	next := "see why above, fix it and measure again"
	if n := len(run.Results); by[bench.Passed] == n && n > 0 {
		next = "accelgate baseline update --from " + text.ShellWord(path) + " --reason TEXT"
	}
	p.line("run: " + visible(path) + "; Next: " + next)
	return p.w.Flush()
}

func kernelsSentence(n int, by map[bench.Outcome]int) string {
	if by[bench.Passed] == n && n > 0 {
		return fmt.Sprintf("PASS: %s", text.Plural(n, "case"))
	}
	return fmt.Sprintf(
		"FAIL: of %s %d passed, %d computed wrongly, %d failed, %d timed out, %d could not be run here",
		text.Plural(n, "case"),
		by[bench.Passed],
		by[bench.Incorrect],
		by[bench.Failed],
		by[bench.Timeout],
		by[bench.Skipped],
	)
}

func kernelFailures(run *bench.Run, most int) []block {
	var items bullets
	n := 0
	for i := range run.Results {
		r := &run.Results[i]
		if r.Outcome == bench.Passed {
			continue
		}
		if n++; n <= most {
			items = append(items, inline{code(r.Cell.ID()), plain(": "), plain(string(r.Outcome)), plain(": "), reason(r.Reason)})
		}
	}
	if n > most {
		items = append(items, only(plain(fmt.Sprintf("and %d more", n-most))))
	}
	if items == nil {
		return nil
	}
	return []block{items}
}

// kernelColumn is a column of numbers. An optional one is absent if no solution has the metric.
type kernelColumn struct {
	metric, title string
	optional      bool
}

var kernelColumns = []kernelColumn{
	{
		latency,
		"Latency ms>",
		false,
	}, {"device_ms", "Device ms>", true}, {referenceLatency, "Reference ms>", false}, {speedup, "Speedup>", false},
	{"max_absolute_error", "Max abs error>", false}, {"setup_ms", "Setup ms>", true},
}

// kernelTable lists what passed, the smallest speedup first.
func kernelTable(run *bench.Run, most int) block {
	var passed []*bench.Result
	for i := range run.Results {
		if run.Results[i].Outcome == bench.Passed {
			passed = append(passed, &run.Results[i])
		}
	}
	slices.SortStableFunc(passed, func(a, b *bench.Result) int { return cmp.Compare(typical(a, speedup), typical(b, speedup)) })
	shown := slices.DeleteFunc(slices.Clone(kernelColumns), func(c kernelColumn) bool {
		return c.optional && !slices.ContainsFunc(passed, func(r *bench.Result) bool { return r.Sample(c.metric) != nil })
	})
	titles := []string{"Definition", "Solution", "Workload~"}
	for _, s := range shown {
		titles = append(titles, s.title)
	}
	t := &table{columns: columns(titles...), total: len(passed)}
	for _, r := range passed[:min(most, len(passed))] {
		row := []inline{only(code(r.Cell.Get("definition"))), only(code(r.Cell.Get("solution"))), only(code(r.Cell.Get("workload")))}
		for _, s := range shown {
			cell := none
			if x := typical(r, s.metric); !math.IsNaN(x) {
				cell = only(plain(number(x)))
			}
			row = append(row, cell)
		}
		t.rows = append(t.rows, row)
	}
	return t
}

// typical is the median of a metric, NaN without any value, which sorts first.
func typical(r *bench.Result, metric string) float64 {
	s := r.Sample(metric)
	if s == nil || len(s.Values) == 0 {
		return math.NaN()
	}
	return stats.Median(s.Values)
}
