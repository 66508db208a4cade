package report

import (
	"slices"

	"github.com/accelgate/accelgate/internal/text"
)

// maxNamed is how many cells a printed command names.
const maxNamed = 5

// recordUntracked returns how to record the cells that a baseline does not have.
func (r *Report) recordUntracked() []block {
	rows := r.shown.untracked.rows
	i := slices.IndexFunc(rows, func(f finding) bool {
		h := &r.hosts[f.host]
		return f.Metric == "" && h.Reference != nil && h.Commands.Update != "" && r.in.Policy.Compat.Rules().Judge == nil
	})
	if i < 0 {
		return nil
	}
	first, only := rows[i], ""
	var cells []string
	for _, f := range rows {
		if f.host == first.host && f.Metric == "" && len(f.Cell) <= typable {
			cells = append(cells, f.Cell)
		}
	}
	if len(cells) <= maxNamed && r.shown.untracked.total == len(rows) {
		for _, cell := range cells {
			only += " --only " + text.ShellQuote(cell)
		}
	}
	h := &r.hosts[first.host]
	line := h.Commands.Update
	if only != "" {
		line = h.Commands.Record + only
	}
	return []block{paragraph(r.on(first, inline{plain("Only answers are judged until they are recorded: "),
		command(line + ` --reason "new cells"`)}))}
}
