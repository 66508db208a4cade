package report

import (
	"io"
	"strings"
)

// Text is a report without a verdict, such as the result of an analysis: sections of lines, lists and tables. Its
// renderers escape and shorten foreign text as those of a [Report] do. The zero value is empty; it is not safe for concurrent use.
type Text struct{ sections []section }

type (
	// Line is one line of a text, span by span.
	Line = inline
	// Span is a piece of a line, made by [Plain], [Code] or [Foreign].
	Span = span
)

// Plain returns a span of the program's own text, which is written as it is.
func Plain(s string) Span { return plain(s) }

// Code returns a span of foreign text that is shown as code, in at most 160 characters; "–" if it is blank.
func Code(s string) Span { return code(s) }

// Foreign returns a span of foreign text that is shown as text, in at most 240 characters.
func Foreign(s string) Span { return reason(s) }

// Section begins a section. The title is the program's own and may be empty; a section without content is not rendered.
func (t *Text) Section(title string) { t.sections = append(t.sections, section{title: title}) }

// Line adds a line.
func (t *Text) Line(spans ...Span) { t.add(paragraph(spans)) }

// List adds a list, unless it is empty.
func (t *Text) List(items []Line) {
	if len(items) > 0 {
		t.add(bullets(items))
	}
}

// Table adds a table of so many rows in total, of which rows are shown, with a span for each column. ">" at the end of a
// column's name aligns it to the right, "~" lets a narrow terminal shorten it.
func (t *Text) Table(names []string, rows [][]Span, total int) {
	grid := &table{columns: columns(names...), total: total}
	for _, row := range rows {
		cells := make([]inline, len(row))
		for i, cell := range row {
			cells[i] = only(cell)
		}
		grid.rows = append(grid.rows, cells)
	}
	t.add(grid)
}

func (t *Text) add(b block) {
	if len(t.sections) == 0 {
		t.Section("")
	}
	last := &t.sections[len(t.sections)-1]
	last.blocks = append(last.blocks, b)
}

// Terminal renders plain text for a terminal of so many columns.
func (t *Text) Terminal(w io.Writer, columns int) error {
	p := newPrinter(w, TerminalOptions{Columns: columns})
	for i, s := range t.sections {
		if s.title != "" {
			p.section(s.title, s.blocks)
			continue
		}
		if i > 0 && len(s.blocks) > 0 {
			p.line("")
		}
		p.blocks(s.blocks)
	}
	return p.w.Flush()
}

// Markdown renders for GitHub.
func (t *Text) Markdown(w io.Writer) error {
	var b strings.Builder
	for _, s := range t.sections {
		if s.title != "" && len(s.blocks) > 0 {
			b.WriteString("### " + s.title + "\n\n")
		}
		for _, block := range s.blocks {
			block.markdown(&b)
			b.WriteByte('\n')
		}
	}
	_, err := io.WriteString(w, strings.TrimSuffix(b.String(), "\n"))
	return err
}
