package terminal

import (
	"bytes"
	"io"
	"strings"
	"text/tabwriter"
	"unicode/utf8"
)

// Table aligns lines whose cells end in tabs, as a tabwriter does. Where that is wider
// than the terminal, the first cell of each line, a name that people copy, gets a line of
// its own, and the others stand aligned below it. Nothing is cut.
type Table struct {
	Columns int // of the terminal; 0 for any width

	w     io.Writer
	lines bytes.Buffer
}

// NewTable returns a table as wide as the terminal behind w; a file or a pipe has any
// width.
func NewTable(w io.Writer) *Table {
	return &Table{Columns: Of(w, func(string) string { return "" }).Columns, w: w}
}

// Write takes lines; [Table.Flush] writes them.
func (t *Table) Write(p []byte) (int, error) { return t.lines.Write(p) }

// Flush writes what was taken.
func (t *Table) Flush() error {
	text := t.lines.String()
	t.lines.Reset()
	out := align(text)
	if t.Columns > 0 && widest(out) > t.Columns {
		out = stack(text)
	}
	_, err := io.WriteString(t.w, out)
	return err
}

func align(text string) string {
	var b strings.Builder
	t := tabwriter.NewWriter(&b, 0, 0, 2, ' ', 0)
	_, _ = io.WriteString(t, text) // to memory
	t.Flush()
	return b.String()
}

func widest(text string) (n int) {
	for line := range strings.Lines(text) {
		n = max(n, utf8.RuneCountInString(strings.TrimRight(line, " \n")))
	}
	return n
}

// stack puts first cells on lines of their own. The others are aligned over all lines of
// a table, which a line without cells ends.
func stack(text string) string {
	var b strings.Builder
	var first, rest []string
	flush := func() {
		aligned := strings.Split(align(strings.Join(rest, "")), "\n")
		for i, name := range first {
			b.WriteString(name + "\n" + strings.TrimRight("    "+aligned[i], " ") + "\n")
		}
		first, rest = nil, nil
	}
	for line := range strings.Lines(text) {
		name, others, ok := strings.Cut(line, "\t")
		if !ok {
			flush()
			b.WriteString(line)
			continue
		}
		first, rest = append(first, name), append(rest, strings.TrimSuffix(others, "\n")+"\n")
	}
	flush()
	return b.String()
}
