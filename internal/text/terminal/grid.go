package terminal

import (
	"strings"
)

// Column is how the cells of a column are shown.
type Column struct {
	Right bool // aligned
	Long  bool // holds sentences: where space is short, its cells take several lines
}

const (
	gap    = "  "
	indent = "    "
	narrow = 30 // a column of sentences below this is hard to read
)

// Grid lays out rows of as many cells as there are columns. If they are too wide together,
// the last column takes several lines if it is long; else the first one, of names, gets a
// line of its own, and the others as many lines below it as it takes.
func Grid(columns []Column, rows [][]string, width int) []string {
	w := widths(rows)
	last := len(w) - 1
	before := total(w[:last])
	switch {
	case before+w[last] <= width:
	case last > 0 && columns[last].Long && width-before >= max(narrow, width/2):
		w[last] = width - before
	case last == 0:
		w[0] = width
	default:
		return stack(columns, rows, width)
	}
	var lines []string
	for _, row := range rows {
		lines = append(lines, band{columns: columns, widths: w}.lines(row, "")...)
	}
	return lines
}

func widths(rows [][]string) []int {
	w := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			w[i] = max(w[i], Width(cell))
		}
	}
	return w
}

func total(widths []int) (n int) {
	for _, w := range widths {
		n += w + len(gap)
	}
	return n
}

// stack puts the first cells on lines of their own.
func stack(columns []Column, rows [][]string, width int) (lines []string) {
	names, rest := make([]string, len(rows)), make([][]string, len(rows))
	for i, row := range rows {
		names[i], rest[i] = row[0], row[1:]
	}
	names = CutAlike(names, width)
	bands := split(columns[1:], widths(rest), width-len(indent))
	for i, cells := range rest {
		lines = append(lines, names[i])
		for _, b := range bands {
			n := len(b.columns)
			if text := strings.Join(cells[:n], ""); text != "" {
				lines = append(lines, b.lines(cells[:n], indent)...)
			}
			cells = cells[n:]
		}
	}
	return lines
}

// band is columns that stand beside each other.
type band struct {
	columns []Column
	widths  []int
	below   int // width of the lines that take a last cell that does not fit; 0 beside the others
}

// split puts as many columns beside each other as fit. Of sentences those that do not fit
// go below.
func split(columns []Column, w []int, width int) (bands []band) {
	const short = 16 // columns that are worth having beside the others
	from, used := 0, 0
	for i := range w {
		if used > 0 && used+w[i] > width && !(columns[i].Long && width-used >= short) {
			bands = append(bands, band{columns[from:i], w[from:i], width})
			from, used = i, 0
		}
		w[i] = min(w[i], width-used)
		used += w[i] + len(gap)
	}
	return append(bands, band{columns[from:], w[from:], width})
}

// lines are those of one row. Only the last cell can be wider than its column.
func (b band) lines(cells []string, indent string) []string {
	var beside strings.Builder
	beside.WriteString(indent)
	last := len(cells) - 1
	for i, cell := range cells[:last] {
		beside.WriteString(b.padded(i, cell) + gap)
	}
	first, hang := beside.String(), strings.Repeat(" ", Width(beside.String()))
	width := b.widths[last]
	if Width(cells[last]) <= width {
		return []string{strings.TrimRight(first+b.padded(last, cells[last]), " ")}
	}
	var lines []string
	if b.below > 0 && last > 0 {
		if beside := strings.TrimRight(first, " "); beside != "" {
			lines = append(lines, beside)
		}
		first, hang, width = indent+indent, indent+indent, b.below-len(indent)
	}
	for _, line := range fill(spaced(cells[last]), width, width) {
		lines = append(lines, first+line)
		first = hang
	}
	return lines
}

func (b band) padded(i int, cell string) string {
	pad := strings.Repeat(" ", max(0, b.widths[i]-Width(cell)))
	if b.columns[i].Right {
		return pad + cell
	}
	return cell + pad
}
