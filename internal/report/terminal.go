package report

import (
	"bufio"
	"cmp"
	"io"
	"slices"
	"strings"

	"github.com/accelgate/accelgate/internal/text"
	"github.com/accelgate/accelgate/internal/text/terminal"
)

// TerminalOptions describe what the terminal can show.
type TerminalOptions struct {
	Columns int  // width; 0 means a log, whose tables are laid out for 100 and whose lines stay whole
	Color   bool // paint verdicts
	Links   bool // show addresses as hyperlinks
}

// TerminalWith renders plain text. The verdict comes first, whole, however long. What the report quotes cannot move the cursor, and no line is
// a command to GitHub's runner.
func TerminalWith(o TerminalOptions) Renderer {
	return func(w io.Writer, r Report) error {
		const rows = 20
		p := newPrinter(w, o)
		p.page(r.page(caps{maxAction, rows}), &r)
		p.line(visible(shorten(r.in.Tool, maxName)))
		return p.w.Flush()
	}
}

// printer writes lines. Write errors are kept by its buffer.
type printer struct {
	w       *bufio.Writer
	options TerminalOptions
	log     bool // is no terminal
}

func newPrinter(w io.Writer, o TerminalOptions) printer {
	p := printer{w: bufio.NewWriter(w), options: o, log: o.Columns <= 0}
	if p.log {
		p.options.Columns = 100
	}
	p.options.Columns = max(p.options.Columns, terminal.Narrowest)
	return p
}

// line writes a line, as several where the terminal is narrower.
func (p *printer) line(s string) {
	columns := p.options.Columns
	if p.log {
		columns = 0
	}
	for _, line := range terminal.Fold(s, columns) {
		p.w.WriteString(inert(strings.TrimRight(line, " ")))
		p.w.WriteByte('\n')
	}
}

func (p *printer) page(page page, r *Report) {
	p.line(p.paint(page.status.mark) + ": " + p.spans(page.sentence))
	p.blocks(page.lead)
	p.blocks([]block{page.hosts})
	for _, s := range page.parts() {
		if s.title == nextTitle {
			p.suspects(r)
		}
		p.section(s.title, s.blocks)
	}
	for _, s := range page.folded {
		p.section(s.title, s.blocks)
	}
	p.line("")
	p.line(page.footer)
}

func (p *printer) section(title string, blocks []block) {
	if len(blocks) == 0 {
		return
	}
	p.line("")
	p.line("== " + title)
	p.blocks(blocks)
}

func (p *printer) blocks(blocks []block) {
	for i, b := range blocks {
		if isTable(b) || i > 0 && isTable(blocks[i-1]) {
			p.line("")
		}
		b.terminal(p)
	}
}

func isTable(b block) bool { _, ok := b.(*table); return ok }

func (p *printer) paint(mark string) string {
	if !p.options.Color {
		return mark
	}
	colour := cmp.Or(map[string]string{failed.mark: "31", passed.mark: "32"}[mark], "33")
	return "\x1b[1;" + colour + "m" + mark + "\x1b[0m"
}

func (p paragraph) terminal(out *printer) { out.line(out.spans(inline(p))) }

// spans is a line whose commands stay whole, and whose addresses are hyperlinks where the
// terminal has them.
func (p *printer) spans(in inline) string {
	var b strings.Builder
	for _, s := range in {
		switch {
		case s.kind == shell:
			b.WriteString(terminal.Whole(s.text))
		case p.options.Links && s.kind == address && len(s.alt) <= longestURL && safeURL.MatchString(s.alt):
			b.WriteString(terminal.Link(terminal.Whole(s.text), s.alt))
		default:
			b.WriteString(inline{s}.String())
		}
	}
	return b.String()
}

func (l bullets) terminal(out *printer) {
	for _, item := range l {
		out.line("- " + out.spans(item))
	}
}

// terminal marks each line, so that it cannot pass for a line of the report.
func (l preformatted) terminal(out *printer) {
	for _, line := range l {
		const mark = "  | "
		if out.log {
			out.line(mark + line)
			continue
		}
		for _, part := range terminal.Fold(line, out.options.Columns-len(mark)) {
			out.line(mark + terminal.Whole(part))
		}
	}
}

// terminal aligns the columns. In a log that they are wider than, the first one, a name
// that people copy, gets a line of its own; if that is not enough, so do long last cells,
// and then soft columns are shortened. A terminal has no line wider than itself.
func (t *table) terminal(out *printer) {
	grid := t.grid()
	if w := widths(grid); !out.log {
		for _, row := range grid {
			for i := range row {
				row[i] = inert(row[i])
			}
		}
		for _, line := range terminal.Grid(t.shapes(), grid, out.options.Columns) {
			out.line(terminal.Whole(line))
		}
	} else if total(w) <= out.options.Columns {
		for _, row := range grid {
			out.row(t.columns, row, w, "")
		}
	} else {
		out.stacked(t.columns[1:], grid)
	}
	if more := t.total - len(t.rows); more > 0 {
		out.line("... and " + text.Plural(more, "more row"))
	}
}

func (t *table) shapes() []terminal.Column {
	shapes := make([]terminal.Column, len(t.columns))
	for i, c := range t.columns {
		shapes[i] = terminal.Column{Right: c.right, Long: c.soft}
	}
	return shapes
}

// grid is the table as text, its header in the first row.
func (t *table) grid() [][]string {
	header := make([]string, len(t.columns))
	for i, c := range t.columns {
		header[i] = strings.ToUpper(c.name)
	}
	grid := [][]string{header}
	for _, row := range t.rows {
		cells := make([]string, len(row))
		for i, cell := range row {
			cells[i] = cell.String()
		}
		grid = append(grid, cells)
	}
	return grid
}

const gap = "  "

func widths(grid [][]string) []int {
	w := make([]int, len(grid[0]))
	for _, row := range grid {
		for i, cell := range row {
			w[i] = max(w[i], terminal.Width(cell))
		}
	}
	return w
}

func total(widths []int) int {
	n := 0
	for _, w := range widths {
		n += w + len(gap)
	}
	return n
}

func (p *printer) stacked(columns []column, grid [][]string) {
	const indent = "    "
	rest := make([][]string, len(grid))
	for i, row := range grid {
		rest[i] = row[1:]
	}
	w := widths(rest)
	fit(columns, w, p.options.Columns-len(indent))
	last := len(columns) - 1
	for i, cells := range rest {
		p.line(grid[i][0])
		long := columns[last].soft && terminal.Width(cells[last]) > w[last]
		if !long {
			p.row(columns, cells, w, indent)
			continue
		}
		p.row(columns, append(slices.Clone(cells[:last]), ""), w, indent)
		p.line(indent + indent + cells[last])
	}
}

// fit narrows soft columns until all fit, the last one first: what is too long
// for that gets a line of its own.
func fit(columns []column, w []int, width int) {
	narrow := 20 // less than that says nothing
	for i := len(columns) - 1; i >= 0; i-- {
		if columns[i].soft {
			w[i] = min(w[i], max(narrow, w[i]-(total(w)-width)))
		}
		narrow = 12
	}
}

func (p *printer) row(columns []column, cells []string, widths []int, indent string) {
	var b strings.Builder
	b.WriteString(indent)
	for i, cell := range cells {
		cell = shorten(cell, widths[i])
		pad := strings.Repeat(" ", max(0, widths[i]-terminal.Width(cell)))
		if columns[i].right {
			cell = pad + cell
		} else {
			cell += pad
		}
		b.WriteString(cell + gap)
	}
	p.line(b.String())
}
