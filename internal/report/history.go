package report

import (
	"slices"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate"
	"github.com/accelgate/accelgate/internal/report/chart"
)

// withHistory adds a column with the earlier runs of each row and the present one, where a
// row has some. Its place is before a last column that is long.
func (r *Report) withHistory(t *table, rows []finding) *table {
	cells, found := make([]inline, len(t.rows)), false
	for i := range t.rows {
		cells[i] = none
		if line := r.sparkline(rows[i]); line != "" {
			cells[i], found = only(code(line)), true
		}
	}
	if !found {
		return t
	}
	at := len(t.columns)
	if t.columns[at-1].soft {
		at--
	}
	t.columns = slices.Insert(t.columns, at, column{name: "History", spare: true})
	for i := range t.rows {
		t.rows[i] = slices.Insert(t.rows[i], at, cells[i])
	}
	return t
}

// sparkline is a character for each run, the newest last; "" without two earlier runs.
func (r *Report) sparkline(f finding) string {
	const maximum = 20 // characters
	old := sampleOf(r.hosts[f.host].olds[f.Cell], f.Metric)
	if old == nil || f.alike != nil || f.Finding == gate.Missing {
		return ""
	}
	runs := medians(old.History)
	if len(slices.DeleteFunc(slices.Clone(runs), func(x float64) bool { return !bench.Finite(x) })) < 2 {
		return ""
	}
	return chart.Sparkline(append(runs, f.New), maximum)
}

// linked is the cell of a finding, as a link to its page.
func (r *Report) linked(f finding) inline {
	in := f.cell()
	if r.in.Links.Cell == nil || f.alike != nil || f.Cell == "" {
		return in
	}
	in[0].alt = r.in.Links.Cell(r.hosts[f.host].Run.Host.Label, f.Cell)
	return in
}

// short leaves out the columns that a short page does without.
func (p *page) short() {
	p.tables(func(t *table) {
		for at := len(t.columns) - 1; at >= 0; at-- {
			if !t.columns[at].spare {
				continue
			}
			t.columns = slices.Delete(t.columns, at, at+1)
			for i := range t.rows {
				t.rows[i] = slices.Delete(t.rows[i], at, at+1)
			}
		}
	})
}

// unlinked leaves out the links of cells.
func (p *page) unlinked() {
	p.tables(func(t *table) {
		for _, row := range t.rows {
			for _, cell := range row {
				for i := range cell {
					if cell[i].kind == verbatim {
						cell[i].alt = ""
					}
				}
			}
		}
	})
}

func (p *page) tables(do func(*table)) {
	blocks := slices.Concat(p.action, p.undecided, p.excused)
	for i := range p.folded {
		blocks = append(blocks, p.folded[i].blocks...)
	}
	for _, b := range blocks {
		if t, ok := b.(*table); ok {
			do(t)
		}
	}
}
