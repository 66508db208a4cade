package analyze

import (
	"fmt"
	"io"

	"github.com/accelgate/accelgate/internal/report"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
	"github.com/accelgate/accelgate/internal/text"
)

// packingText renders comparisons of packers as plain text, one table each.
func packingText(w io.Writer, all []packing.Comparison) error {
	var t report.Text
	for _, c := range all {
		t.Section("")
		packed(&t, c)
	}
	t.Section("")
	t.Line(report.Plain(
		"step efficiency is the share of the ranks' time that is not spent waiting for the slowest; nothing can do with fewer rows than the bound",
	))
	return t.Terminal(w, 140)
}

// packingMarkdown renders them for GitHub.
func packingMarkdown(w io.Writer, all []packing.Comparison) error {
	var t report.Text
	t.Section("Batch packing")
	for _, c := range all {
		packed(&t, c)
	}
	return t.Markdown(w)
}

func packed(t *report.Text, c packing.Comparison) {
	t.Line(report.Code(c.Name), report.Plain(fmt.Sprintf(": %s on %s of %d tokens; at least %s",
		text.Plural(len(c.Problem.Lengths), "sequence"), text.Plural(c.Problem.Ranks, "rank"), c.Problem.Max,
		text.Plural(c.LowerBound(), "row"))))
	var rows [][]report.Line
	for _, r := range c.Results {
		m := r.Metrics
		row := []report.Line{{report.Code(r.Algorithm)}}
		for _, text := range []string{
			fmt.Sprint(m.TotalMinibatches), fmt.Sprint(m.RowsOverBound), fmt.Sprintf("%.4f", m.StepEfficiency),
			fmt.Sprintf("%.4f", m.OverallEfficiency),
			fmt.Sprintf("%.3f", m.AvgRowBalanceRatio), fmt.Sprintf("%.3f", m.WorstRowBalanceRatio), fmt.Sprintf("%.1f %%",
				100*m.IdleShare), packingTime(r.Milliseconds()),
		} {
			row = append(row, report.Line{report.Plain(text)})
		}
		rows = append(rows, row)
	}
	t.Table(
		[]string{"Algorithm", "Rows>", "Over bound>", "Step efficiency>", "Efficiency>", "Balance>", "Worst balance>", "Idle>", "Time ms>"},
		rows, len(rows))
	if m := c.Results[0].Metrics; m.LeftOut > 0 {
		t.Line(report.Plain(text.Plural(m.LeftOut, "sequence") + " left out: longer than a rank's tokens, or empty"))
	}
}

// packingTime is the median with its interval.
func packingTime(ms []float64) string {
	if len(ms) == 0 {
		return "–"
	}
	low, high, ok := stats.MedianInterval(ms)
	if !ok {
		return fmt.Sprintf("%.3g", stats.Median(ms))
	}
	return fmt.Sprintf("%.3g (%.3g–%.3g)", stats.Median(ms), low, high)
}
