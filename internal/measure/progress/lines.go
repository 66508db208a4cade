package progress

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/stats"
	"github.com/accelgate/accelgate/internal/text"
)

// line is one measurement.
func (m *Measurement) line(shown func(string) bool) string {
	r := &m.Result
	word := string(r.Outcome)
	if m.Reused {
		word = "kept"
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[round %d/%d] %-9s %s", m.Round, m.Rounds, word, text.OneLine(r.Cell.ID()))
	if r.Outcome != bench.Passed {
		return b.String() + ": " + text.OneLine(r.Reason)
	}
	for _, s := range r.Samples {
		if shown(s.Metric) && len(s.Values) > 0 {
			fmt.Fprintf(&b, "  %s %.4g", text.OneLine(s.Metric), s.Values[len(s.Values)-1])
		}
	}
	return b.String()
}

// cellLine is one cell with the medians of its metrics.
func (s *state) cellLine(c *cell, shown func(string) bool) string {
	word := string(c.outcome)
	if c.reused {
		word = "kept"
	}
	of := 0
	if s.current != nil {
		of = len(s.current.Todo)
	}
	var b strings.Builder
	fmt.Fprintf(&b, "[%d/%d] %-9s %s", s.at, of, word, text.OneLine(c.id))
	if c.outcome != bench.Passed {
		return b.String() + ": " + text.OneLine(c.reason)
	}
	maximum := 0
	for _, metric := range c.order {
		if shown(metric) {
			fmt.Fprintf(&b, "  %s %.4g", text.OneLine(metric), stats.Median(c.values[metric]))
			maximum = max(maximum, len(c.values[metric]))
		}
	}
	if maximum > 1 {
		fmt.Fprintf(&b, "  (median of %d)", maximum)
	}
	if c.spent > 0 {
		fmt.Fprintf(&b, "  %s", short(c.spent))
	}
	return b.String()
}

// Table writes the medians of all cells, on a terminal only: a log has a line for each.
func (d *Display) Table(shown func(metric string) bool) {
	if !d.o.Live || d.o.Quiet || d.o.Each {
		return
	}
	d.mu.Lock()
	lines := d.s.table(shown, d.o.Columns)
	d.mu.Unlock()
	for _, line := range lines {
		d.line("%s", line)
	}
}

// maxRows is how many cells the table has: the report that follows has the rest.
const maxRows = 30

// table has a row for each cell and metric, as wide as the terminal.
func (s *state) table(shown func(string) bool, columns int) (lines []string) {
	if columns <= 0 {
		columns = 100
	}
	var rows [][3]string // id, metric, numbers
	for _, id := range s.order {
		c := s.cells[id]
		if c.outcome != bench.Passed {
			rows = append(rows, [3]string{id, string(c.outcome), c.reason})
			continue
		}
		for _, metric := range c.order {
			if values := c.values[metric]; shown(metric) {
				rows = append(rows,
					[3]string{id, metric, fmt.Sprintf("%.4g ± %.2g %% (n=%d)", stats.Median(values), spread(values), len(values))})
			}
			id = ""
		}
	}
	more := max(0, len(rows)-maxRows)
	rows = rows[:len(rows)-more]
	wide := [2]int{}
	for _, r := range rows {
		wide[0], wide[1] = max(wide[0], len([]rune(text.OneLine(r[0])))), max(wide[1], len([]rune(text.OneLine(r[1]))))
	}
	wide[1] = min(wide[1], 24)
	wide[0] = min(wide[0], max(12, columns-wide[1]-30))
	for _, r := range rows {
		line := fmt.Sprintf("%-*s  %-*s  %s", wide[0], middle(text.OneLine(r[0]), wide[0]), wide[1], middle(text.OneLine(r[1]), wide[1]),
			text.OneLine(r[2]))
		lines = append(lines, strings.TrimRight(middle(line, max(columns, 40)), " "))
	}
	if more > 0 {
		lines = append(lines, fmt.Sprintf("... and %s", text.Plural(more, "more row")))
	}
	return lines
}

// spread is the MAD in percent of the median.
func spread(values []float64) float64 {
	m := stats.Median(values)
	if m == 0 {
		return 0
	}
	return 100 * stats.MAD(values) / max(m, -m)
}

// middle cuts s in the middle, where names differ least.
func middle(s string, limit int) string {
	r := []rune(s)
	if len(r) <= limit {
		return s
	}
	head := (limit - 1) / 2
	return string(r[:head]) + "…" + string(r[len(r)-(limit-1-head):])
}
