package report

import (
	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
)

// Kind is what a kind of suite adds to a report. A nil function adds nothing. The functions read what they get and
// may be called by several goroutines at once.
type Kind struct {
	// Blocks returns what hosts with their comparisons show of the kind's cells.
	Blocks func(hosts []HostInput) Blocks
	// Largest names the part with the largest share in the change that a verdict of the check's cell is about, as in
	// "mostly `matmul`: +12 ms, 85 %"; nil where no part explains it.
	Largest func(c *gate.Check, v *gate.Verdict) Line
	// Parts lists the parts of that change; it is empty where none are known.
	Parts func(c *gate.Check, v *gate.Verdict) Text
	// Figures draws a result for its page.
	Figures func(r *bench.Result) []Figure
}

// Blocks are pieces of a report. Tables hold all rows; renderers show the first ones and count the others.
type Blocks struct {
	Notes  Text // at the top, where everybody reads them
	Folded Text // sections with a title, which a reader opens
}

// Figure is a drawing with what it shows in a few plain words.
type Figure struct{ Caption, SVG string }

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
func (r *Report) addedSections(most int) (sections []section) {
	for i := range r.added {
		for _, s := range r.added[i].Folded.sections {
			cut := section{title: s.title}
			for _, b := range s.blocks {
				if t, ok := b.(*table); ok && len(t.rows) > most {
					shorter := *t
					shorter.rows = t.rows[:most]
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
