package report

import (
	"bufio"
	"fmt"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/suite/analysis/packing"
	"github.com/accelgate/accelgate/internal/text"
)

// Packing renders comparisons of packers as plain text, one table each.
func Packing(w io.Writer, all []packing.Comparison) error {
	p := printer{w: bufio.NewWriter(w), options: TerminalOptions{Columns: 140}}
	for i, c := range all {
		if i > 0 {
			p.line("")
		}
		p.blocks(packed(c))
	}
	p.line("")
	p.line("step efficiency is the share of the ranks' time that is not spent waiting for the slowest; nothing can do with fewer rows than the bound")
	return p.w.Flush()
}

// PackingMarkdown renders them for GitHub.
func PackingMarkdown(w io.Writer, all []packing.Comparison) error {
	var b strings.Builder
	b.WriteString("### Batch packing\n")
	for _, c := range all {
		for _, block := range packed(c) {
			b.WriteByte('\n')
			block.markdown(&b)
		}
	}
	_, err := io.WriteString(w, b.String())
	return err
}

func packed(c packing.Comparison) []block {
	lead := inline{code(c.Name), plain(fmt.Sprintf(": %s on %s of %d tokens; at least %s",
		text.Plural(len(c.Problem.Lengths), "sequence"), text.Plural(c.Problem.Ranks, "rank"), c.Problem.Max, text.Plural(c.LowerBound(), "row")))}
	t := &table{columns: columns("Algorithm", "Rows>", "Over bound>", "Step efficiency>", "Efficiency>", "Balance>", "Worst balance>", "Idle>", "Time ms>")}
	for _, r := range c.Results {
		m := r.Metrics
		row := []inline{only(code(r.Algorithm))}
		for _, text := range []string{
			fmt.Sprint(m.TotalMinibatches), fmt.Sprint(m.RowsOverBound), fmt.Sprintf("%.4f", m.StepEfficiency), fmt.Sprintf("%.4f", m.OverallEfficiency),
			fmt.Sprintf("%.3f", m.AvgRowBalanceRatio), fmt.Sprintf("%.3f", m.WorstRowBalanceRatio), fmt.Sprintf("%.1f %%", 100*m.IdleShare), packingTime(r.Milliseconds()),
		} {
			row = append(row, only(plain(text)))
		}
		t.rows = append(t.rows, row)
	}
	t.total = len(t.rows)
	blocks := []block{paragraph(lead), t}
	if m := c.Results[0].Metrics; m.LeftOut > 0 {
		blocks = append(blocks, paragraph{plain(text.Plural(m.LeftOut, "sequence") + " left out: longer than a rank's tokens, or empty")})
	}
	return blocks
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
