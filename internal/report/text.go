package report

import (
	"bufio"
	"io"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// Text is a report without a verdict, such as the result of an analysis: sections of lines, lists and tables. Its
// renderers escape and shorten foreign text as the renderers of a [Report] do. The zero value is empty; it is not safe for concurrent use.
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

// CodeLink is [Code] as a link to an address; it is text alone where that is no address.
func CodeLink(s, address string) Span {
	span := code(s)
	span.alt = address
	return span
}

// Foreign returns a span of foreign text that is shown as text, in at most 500 characters.
func Foreign(s string) Span { return reason(s) }

// Bold returns a span of the program's own text, with emphasis.
func Bold(s string) Span { return bold(s) }

// Command returns a span of a command, which is shown as code and never shortened.
func Command(s string) Span { return command(s) }

// Only returns a line of one span, for a table.
func Only(s Span) Line { return only(s) }

// None returns the line of a table's cell without a value.
func None() Line { return none }

// FormatNumber writes a number with four significant digits, and whole numbers in full up to a billion.
func FormatNumber(x float64) string { return number(x) }

// FormatChange writes a change in percent with its meaning, "+31.0 % (worse)". Beside a limit it has the digits that show on
// which side of it the change is.
func FormatChange(percent, limit float64, better bench.Direction) string {
	return inWords(percent, limit, better)
}

// Label returns the word for a finding, "slower", and its rank among the words, the worst first.
func Label(v *gate.Verdict) (rank int, word string) {
	rank = labelOf(v)
	return rank, labels[rank].word
}

// Word returns what a verdict found, in a few words: "slower", "slower (undecided)", "slower (waived)".
func Word(v *gate.Verdict) string { return wordOf(v) }

// Clip makes one printable line of foreign text, of at most so many characters.
func Clip(s string, limit int) string { return clip(s, limit) }

// LogLine makes one printable line of s that no runner takes for a command.
func LogLine(s string) string { return inert(visible(s)) }

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

// Table adds a table of so many rows in total, of which rows are shown, with a line for each column. ">" at the end of a
// column's name aligns it to the right, "~" lets a narrow terminal shorten it.
func (t *Text) Table(names []string, rows [][]Line, total int) {
	t.add(&table{columns: columns(names...), rows: rows, total: total})
}

// Excerpt adds the last lines of a log, at most so many of them, unless it is blank.
func (t *Text) Excerpt(log string, maximum int) {
	if lines, _ := excerpt(log, true); len(lines) > 0 {
		t.add(preformatted(lines[max(0, len(lines)-maximum):]))
	}
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
	return t.print(newPrinter(w, TerminalOptions{Columns: columns}))
}

// Log renders plain text for a log: tables are laid out for so many columns, and lines stay whole.
func (t *Text) Log(w io.Writer, columns int) error {
	return t.print(printer{w: bufio.NewWriter(w), options: TerminalOptions{Columns: columns}, log: true})
}

func (t *Text) print(p printer) error {
	for i, s := range t.sections {
		if s.title != "" {
			p.section(s.title, s.blocks)
			continue
		}
		if i > 0 && len(s.blocks) > 0 && !isTable(s.blocks[0]) {
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
