package optrace

import (
	"bytes"
	"fmt"
	"unicode/utf8"
)

// The limits bound the time that a row takes and the memory of all rows.
const (
	maxColumns = 64
	maxRows    = 1 << 20
)

// grid is the layout of a printed table: names in a header, and under it a rule
// of dashes that is as wide as each column. Columns are two spaces apart.
type grid struct {
	names    []string
	from, to []int // in characters; a column ends before to
}

// newGrid returns the layout of a header and the rule below it. The names are
// taken by the spaces between them and not by the rule, because PyTorch lets
// long ones overflow.
func newGrid(header, rule []byte) (g grid, ok bool) {
	for at := 0; at < len(rule) && len(g.from) <= maxColumns; {
		n := len(rule[at:]) - len(bytes.TrimLeft(rule[at:], "-"))
		g.from, g.to = append(g.from, at), append(g.to, at+n)
		at += n
		at += len(rule[at:]) - len(bytes.TrimLeft(rule[at:], " "))
	}
	for _, name := range fields(header, nil) {
		g.names = append(g.names, string(name))
	}
	return g, len(g.names) == len(g.from) && len(g.from) <= maxColumns
}

// column returns the first column of a name, or -1.
func (g *grid) column(name string) int {
	for i := range g.names {
		if g.names[i] == name {
			return i
		}
	}
	return -1
}

// cells returns the text of each column of a row, which it appends to buffer. A
// cell that is wider than its column moves the rest of the row to the right:
// then the spaces between the cells tell them apart, so long as none is empty.
func (g *grid) cells(line []byte, buffer [][]byte) (cells [][]byte, ok bool) {
	offset := offsets(line)
	for i := range g.from {
		from, to := offset.of(g.from[i]), offset.of(g.to[i])
		if i == len(g.from)-1 {
			to = len(line)
		} else if !blank(line[to:offset.of(g.from[i+1])]) {
			cells = fields(line, buffer[:0])
			return cells, len(cells) == len(g.from)
		}
		buffer = append(buffer, bytes.Trim(line[from:to], " "))
	}
	return buffer, true
}

// offsets returns where the characters of a line start, for the programs measure
// in characters.
func offsets(line []byte) position {
	p := position{size: len(line)}
	for i := range line {
		if line[i] >= utf8.RuneSelf {
			p.starts = make([]int, 0, len(line))
			for at := range string(line) {
				p.starts = append(p.starts, at)
			}
			break
		}
	}
	return p
}

type position struct {
	starts []int // nil where each character is a byte
	size   int
}

func (p position) of(character int) int {
	switch {
	case p.starts == nil:
		return min(character, p.size)
	case character < len(p.starts):
		return p.starts[character]
	}
	return p.size
}

// fields splits a line where two or more spaces stand.
func fields(line []byte, buffer [][]byte) [][]byte {
	for line = bytes.Trim(line, " "); len(line) > 0; line = bytes.TrimLeft(line, " ") {
		n := bytes.Index(line, []byte("  "))
		if n < 0 {
			n = len(line)
		}
		buffer = append(buffer, line[:n])
		line = line[n:]
	}
	return buffer
}

func blank(text []byte) bool { return len(bytes.TrimLeft(text, " ")) == 0 }

// isRule reports whether a line is the rule of a table of several columns.
func isRule(line []byte) bool {
	return len(line) > 0 && line[0] == '-' && len(bytes.Trim(line, "- ")) == 0
}

// table walks through an output.
type table struct {
	accepts func(g *grid) bool         // whether this is the table; of several, the first is read
	row     func(cells [][]byte) error // takes a row of it, the cells being valid until it returns
	footer  []byte                     // what the line begins with that ends a table without a rule at its end
	outside func(line []byte) error    // takes each other line
}

// read reports whether there was a table.
func (t *table) read(text []byte) (found bool, err error) {
	var (
		layout   grid
		inside   bool
		previous []byte
		buffer   [][]byte
		number   int
	)
	for line := range bytes.Lines(text) {
		line = bytes.TrimSuffix(bytes.TrimSuffix(line, []byte{'\n'}), []byte{'\r'})
		number++
		if inside && (isRule(line) || bytes.HasPrefix(line, t.footer)) {
			inside = false
		}
		switch {
		case inside && (blank(line) || string(bytes.Trim(line, " ")) == "..."):
		case inside:
			cells, ok := layout.cells(line, buffer[:0])
			if !ok {
				return true, fmt.Errorf("line %d does not fit the columns of the table, from %s: print nothing else into the table",
					number, quote(line))
			}
			if err := t.row(cells); err != nil {
				return true, fmt.Errorf("line %d: %w", number, err)
			}
			buffer = cells
		case isRule(line):
			if g, ok := newGrid(previous, line); ok && !found && t.accepts(&g) {
				layout, found, inside = g, true, true
			}
		default:
			if err := t.outside(line); err != nil {
				return found, fmt.Errorf("line %d: %w", number, err)
			}
		}
		previous = line
	}
	return found, nil
}
