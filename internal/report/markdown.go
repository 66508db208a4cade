package report

import (
	"fmt"
	"io"
	"slices"
	"strings"
	"unicode/utf8"
)

const (
	// MarkdownBytes is what [Markdown] keeps to: GitHub refuses a comment or a
	// check summary over 65,535 characters, and the sender adds a marker.
	MarkdownBytes = 60_000
	// minimum is what the shortest form may need.
	minimum = 1000
)

var (
	_ Renderer = Markdown
	_ Renderer = JSON
)

// Markdown renders for GitHub in at most [MarkdownBytes] bytes.
func Markdown(w io.Writer, r Report) error { return MarkdownLimit(MarkdownBytes)(w, r) }

// MarkdownLimit renders for GitHub in at most limit bytes of UTF-8; a limit
// below 1000 counts as 1000. What does not fit is left out in this order, and
// said to be: the history of rows; the links of cells; folded sections, the longest first;
// rows that need action beyond five of each class; everything but verdict and hosts;
// everything but the verdict.
func MarkdownLimit(limit int) Renderer {
	limit = max(limit, minimum)
	return func(w io.Writer, r Report) error {
		_, err := io.WriteString(w, r.fit(limit))
		return err
	}
}

func (r *Report) fit(limit int) string {
	p := r.page(caps{action: maxAction, folded: maxFolded})
	folded := p.sections()
	var left []string
	for _, drop := range []struct {
		name string
		do   func(*page)
	}{{"the history of rows", (*page).short}, {"the links of cells", (*page).unlinked}} {
		before := p.markdown(r.in.Tool, folded, left)
		if len(before) <= limit {
			return before
		}
		drop.do(&p)
		folded = p.sections()
		if p.markdown(r.in.Tool, folded, left) != before {
			left = append(left, drop.name)
		}
	}
	for {
		if s := p.markdown(r.in.Tool, folded, left); len(s) <= limit {
			return s
		}
		i := longest(folded)
		if i < 0 {
			break
		}
		left = append(left, p.folded[i].title)
		folded[i] = ""
	}
	p = r.page(caps{action: 5})
	p.short()
	p.unlinked()
	left = []string{"all details", "rows that need action beyond five of each class"}
	if s := p.markdown(r.in.Tool, nil, left); len(s) <= limit {
		return s
	}
	p.action, p.undecided, p.excused, p.next = nil, nil, nil, nil
	left = []string{"everything but the hosts"}
	if s := p.markdown(r.in.Tool, nil, left); len(s) <= limit {
		return s
	}
	return fmt.Sprintf("### %s %s\n\n%s\n", p.status.sign, p.brief(), omitted([]string{"everything but the verdict"}))
}

// sections are the folded sections, each as a whole.
func (p *page) sections() []string {
	folded := make([]string, len(p.folded))
	for i := range p.folded {
		folded[i] = p.folded[i].markdown()
	}
	return folded
}

// brief is the headline up to the first thing in it that is not ours, so that
// its length is known.
func (p *page) brief() string {
	s := p.headline()
	if i := slices.IndexFunc(s, func(s span) bool { return s.kind != ours }); i >= 0 {
		s = s[:i]
	}
	return strings.TrimSuffix(strings.TrimSuffix(strings.TrimSuffix(s.markdown(), ": "), ". Next"), " (")
}

// longest is the index of the longest string, or -1 if all are empty.
func longest(s []string) int {
	at := -1
	for i := range s {
		if s[i] != "" && (at < 0 || len(s[i]) > len(s[at])) {
			at = i
		}
	}
	return at
}

// markdown puts the page together; left names what was left out of it.
func (p *page) markdown(tool string, folded, left []string) string {
	var b strings.Builder
	write := func(blocks ...block) {
		for _, block := range blocks {
			block.markdown(&b)
			b.WriteByte('\n')
		}
	}
	write(p.lead...)
	write(p.hosts)
	for _, s := range p.parts() {
		if len(s.blocks) > 0 {
			b.WriteString("#### " + s.title + "\n\n")
			write(s.blocks...)
		}
	}
	for _, s := range folded {
		b.WriteString(s)
	}
	if len(left) > 0 {
		b.WriteString(omitted(left) + "\n\n")
	}
	fmt.Fprintf(&b, "<sub>%s · %s</sub>\n", escapeText(name(tool)), p.footer)
	return fmt.Sprintf("### %s %s\n\n", p.status.sign, p.headline().withoutRepeated(b.String()).markdown()) + b.String()
}

// withoutRepeated leaves out the command that a headline ends in, if the rest has it.
func (in inline) withoutRepeated(rest string) inline {
	i := slices.IndexFunc(in, func(s span) bool { return s.kind == shell })
	if i < 1 || !strings.Contains(rest, in[i].text) {
		return in
	}
	before := in[i-1]
	before.text = strings.TrimSuffix(before.text, ". Next: ")
	return append(slices.Clone(in[:i-1]), before)
}

func omitted(left []string) string {
	return "Left out to keep this within its size limit: " + enumerate(left) + "."
}

func (s *section) markdown() string {
	var b strings.Builder
	fmt.Fprintf(&b, "<details><summary>%s</summary>\n\n", s.title)
	for _, block := range s.blocks {
		block.markdown(&b)
		b.WriteByte('\n')
	}
	b.WriteString("</details>\n\n")
	return b.String()
}

func (p paragraph) markdown(b *strings.Builder) { b.WriteString(inline(p).markdown() + "\n") }

func (l bullets) markdown(b *strings.Builder) {
	for _, item := range l {
		b.WriteString("- " + item.markdown() + "\n")
	}
}

func (l preformatted) markdown(b *strings.Builder) { b.WriteString(escapeFence(l)) }

func (t *table) markdown(b *strings.Builder) {
	b.WriteString("|")
	for _, c := range t.columns {
		b.WriteString(" " + c.name + " |")
	}
	b.WriteString("\n|")
	for _, c := range t.columns {
		b.WriteString(map[bool]string{false: ":--|", true: "--:|"}[c.right])
	}
	b.WriteString("\n")
	var notes []string
	for _, row := range t.rows {
		b.WriteString("|")
		for _, cell := range row {
			if t.notes {
				cell = cell.noted(&notes)
			}
			b.WriteString(" " + cell.write(escapeCodeCell) + " |")
		}
		b.WriteString("\n")
	}
	if more := t.total - len(t.rows); more > 0 {
		fmt.Fprintf(b, "\n… and %d more\n", more)
	}
	if len(notes) > 0 {
		b.WriteString("\n")
	}
	for i, note := range notes {
		fmt.Fprintf(b, "%d. %s\n", i+1, escapeText(note))
	}
}

// maxCell is the longest reason in a cell of a table, in runes: longer ones make the
// other columns narrow, and are listed below the table, whole.
const maxCell = 80

// noted replaces long reasons by the numbers that they have among the notes.
func (in inline) noted(notes *[]string) inline {
	if !slices.ContainsFunc(in, span.isLong) {
		return in
	}
	in = slices.Clone(in)
	for i := range in {
		if !in[i].isLong() {
			continue
		}
		at := slices.Index(*notes, in[i].text)
		if at < 0 {
			at = len(*notes)
			*notes = append(*notes, in[i].text)
		}
		in[i] = plain(fmt.Sprintf("note %d", at+1))
	}
	return in
}

func (s span) isLong() bool { return s.kind == prose && utf8.RuneCountInString(s.text) > maxCell }

func (in inline) markdown() string { return in.write(escapeCode) }

func (in inline) write(code func(string) string) string {
	var b strings.Builder
	for _, s := range in {
		switch s.kind {
		case emphasis:
			b.WriteString("**" + s.text + "**")
		case verbatim, shell:
			b.WriteString(escapeLink(code(s.text), s.alt))
		case prose:
			b.WriteString(escapeText(s.text))
		case address:
			b.WriteString(escapeLink(s.text, s.alt))
		default:
			b.WriteString(s.text)
		}
	}
	return b.String()
}
