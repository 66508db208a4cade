package terminal

import (
	"bytes"
	"io"
	"strings"
	"text/tabwriter"
)

// Table aligns lines whose cells end in tabs, as a tabwriter does. Where that is wider than
// the terminal, they are laid out by [Grid], and lines without cells by [Fold].
type Table struct {
	w       io.Writer
	columns int
	lines   bytes.Buffer
}

// NewTable returns a table for a terminal of so many columns; 0 for any width.
func NewTable(w io.Writer, columns int) *Table { return &Table{w: w, columns: columns} }

// Write takes lines; [Table.Flush] writes them.
func (t *Table) Write(p []byte) (int, error) { return t.lines.Write(p) }

// Flush writes what was taken.
func (t *Table) Flush() error {
	text := t.lines.String()
	t.lines.Reset()
	if t.columns > 0 {
		text = t.fitted(text)
	} else {
		text = align(text)
	}
	_, err := io.WriteString(t.w, text)
	return err
}

func align(text string) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(t, text) // to memory
	t.Flush()
	return b.String()
}

// fitted lays out each table, which a line without cells ends.
func (t *Table) fitted(text string) string {
	var b strings.Builder
	var rows [][]string
	put := func(lines []string) {
		for _, line := range lines {
			b.WriteString(line + "\n")
		}
	}
	flush := func() {
		if len(rows) > 0 {
			put(Grid(evened(rows), rows, max(t.columns, Narrowest)))
		}
		rows = nil
	}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		if cells := strings.Split(line, "\t"); len(cells) > 1 {
			rows = append(rows, cells)
			continue
		}
		flush()
		put(Fold(line, max(t.columns, Narrowest)))
	}
	flush()
	return b.String()
}

// evened gives all rows as many cells, of which the last may be long.
func evened(rows [][]string) []Column {
	n := 0
	for _, row := range rows {
		n = max(n, len(row))
	}
	for i := range rows {
		rows[i] = append(rows[i], make([]string, n-len(rows[i]))...)
	}
	columns := make([]Column, n)
	columns[n-1].Long = true
	return columns
}
