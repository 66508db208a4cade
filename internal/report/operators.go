package report

import (
	"slices"

	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/text"
)

// operators explains the worst cells whose time changed: by what the case file
// recorded where there is such a comparison, else by the breakdowns of run and
// baseline.
func (r *Report) operators() (title string, blocks []block, n int) {
	const maximum = 3
	type place struct {
		host int
		cell string
	}
	seen := map[place]bool{}
	noun := "slower cell"
	for _, f := range slices.Concat(r.shown.action.rows, r.shown.undecided.rows, r.shown.excused.rows) {
		at := place{f.host, f.Cell}
		if n == maximum || seen[at] {
			continue
		}
		explanation := r.explain(f)
		if explanation == nil {
			continue
		}
		seen[at] = true
		n++
		blocks = append(blocks, explanation...)
		if f.Finding != gate.Regressed {
			noun = "cell"
		}
	}
	return "Where the time went in " + text.Plural(n, noun), blocks, n
}

// explain is nil where nothing is known of a cell's parts.
func (r *Report) explain(f finding) []block {
	h := &r.hosts[f.host]
	switch {
	case f.Finding == gate.Regressed && f.Blocks:
	case f.Finding == gate.Improved, f.Finding == gate.Unrecorded, f.Finding == gate.Drifted, f.Finding == gate.PartsDiffer,
		f.Finding == gate.Incorrect && f.Metric != "":
	default:
		return nil
	}
	if c := h.checks[f.Cell]; c != nil {
		if blocks := r.partsOf(c, f.Verdict); len(blocks) > 0 {
			return blocks
		}
	}
	result := h.results[f.Cell]
	if result == nil || len(result.Breakdowns) == 0 {
		return nil
	}
	now := &result.Breakdowns[0]
	return []block{paragraph{code(f.Cell), plain(": "), reason(now.Title)}, operatorTable(now, sameTitle(h.olds[f.Cell], now.Title))}
}
