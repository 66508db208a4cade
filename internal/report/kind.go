package report

import (
	"fmt"
	"strings"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/gate/compat"
)

// Kind is what a kind of suite adds to a report. A nil function adds nothing. The functions read what they get and
// may be called by several goroutines at once.
type Kind struct {
	// Blocks returns what hosts with their comparisons show of the kind's cells.
	Blocks func(hosts []HostInput) Blocks
	// Largest names the part with the largest share in the change that a verdict of the check's cell is about, as in
	// "mostly `matmul`: +12 ms, 85 %"; nil where no part explains it.
	Largest func(c *compat.Check, v *gate.Verdict) Line
	// Parts lists the parts of that change; it is empty where no parts are known.
	Parts func(c *compat.Check, v *gate.Verdict) Text
	// Formats are layouts of whole reports.
	Formats []Format
	// Figures draws a result for its page.
	Figures func(r *bench.Result) []Figure
}

// Blocks are pieces of a report. Tables hold all rows; renderers show the first ones and count the others.
type Blocks struct {
	Notes  Text // at the top, where everybody reads them
	Folded Text // sections with a title, which a reader opens
}

// Format is a layout with the name that --format takes.
type Format struct {
	Name   string
	Render Renderer
}

// Figure is a drawing with what it shows in a few plain words.
type Figure struct{ Caption, SVG string }

// Input returns what the report was made of; it is read-only.
func (r Report) Input() Input { return r.in }

// Fit renders a text below the title of the report for GitHub, in at most limit bytes of UTF-8; a limit below 1000
// counts as 1000. of gets the rows of a table, one of rows, the most first; what fits no number of rows is left out.
func (r Report) Fit(limit int, rows []int, of func(rows int) Text) string {
	limit = max(limit, minimum)
	st, sentence := r.verdict()
	p := page{status: st, sentence: sentence}
	for _, n := range rows {
		t := of(n)
		var b strings.Builder
		fmt.Fprintf(&b, "### %s %s\n\n", st.sign, p.headline().markdown())
		for _, s := range t.sections {
			for _, block := range s.blocks {
				block.markdown(&b)
				b.WriteByte('\n')
			}
		}
		fmt.Fprintf(&b, "<sub>%s</sub>\n", escapeText(name(r.in.Tool)))
		if b.Len() <= limit {
			return b.String()
		}
	}
	return fmt.Sprintf("### %s %s\n\n%s\n", st.sign, p.brief(), omitted([]string{"everything but the verdict"}))
}

// addBlocks collects the blocks of all kinds.
func (r *Report) addBlocks() {
	for _, k := range r.in.Kinds {
		if k.Blocks != nil {
			r.added = append(r.added, k.Blocks(r.in.Hosts))
		}
	}
}

// addedNotes are the notes of all kinds, in their order.
func (r *Report) addedNotes() (blocks []block) {
	for i := range r.added {
		for _, s := range r.added[i].Notes.sections {
			blocks = append(blocks, s.blocks...)
		}
	}
	return blocks
}

// addedSections are the folded sections of all kinds, with tables of at most so many rows.
func (r *Report) addedSections(maximum int) (sections []section) {
	for i := range r.added {
		for _, s := range r.added[i].Folded.sections {
			cut := section{title: s.title}
			for _, b := range s.blocks {
				if t, ok := b.(*table); ok && len(t.rows) > maximum {
					shorter := *t
					shorter.rows = t.rows[:maximum]
					b = &shorter
				}
				cut.blocks = append(cut.blocks, b)
			}
			if len(cut.blocks) > 0 {
				sections = append(sections, cut)
			}
		}
	}
	return sections
}

// partsOf lists the parts of a change that some kind explains.
func (r *Report) partsOf(c *compat.Check, v *gate.Verdict) (blocks []block) {
	for _, k := range r.in.Kinds {
		if k.Parts == nil {
			continue
		}
		t := k.Parts(c, v)
		for _, s := range t.sections {
			blocks = append(blocks, s.blocks...)
		}
	}
	return blocks
}

// contributor names the part that stands behind a change; nil if no part is known.
func (r *Report) contributor(f finding) inline {
	c := r.hosts[f.host].checks[f.Cell]
	if c == nil {
		return nil
	}
	for _, k := range r.in.Kinds {
		if k.Largest != nil {
			if line := k.Largest(c, f.Verdict); line != nil {
				return line
			}
		}
	}
	return nil
}
