package operators

import (
	"cmp"
	"math"
	"slices"
	"sync"

	"github.com/accelgate/accelgate/internal/bench"
	"github.com/accelgate/accelgate/internal/gate/compat"
	"github.com/accelgate/accelgate/internal/stats"
)

// parts are the operators of both sides, joined by name. The sides' own lists
// may name an operator twice: its parts are added up.
type parts struct {
	rows  []compat.OperatorRow
	index map[string]int        // of rows
	order []*compat.OperatorRow // those that are judged, once they are
	// Whether a side lists its operators by total, descending, each once, so
	// that ranks are places.
	oldSorted, newSorted bool
	oldSum, newSum       float64
}

// spareParts are those of cells that were judged.
var spareParts = sync.Pool{New: func() any { return new(parts) }}

// reset empties p for the next cell. What it holds is costly to make anew for
// each of thousands of cells.
func (p *parts) reset() {
	if p.index == nil {
		p.index = map[string]int{}
	}
	clear(p.index)
	*p = parts{rows: p.rows[:0], index: p.index, order: p.order[:0], oldSorted: true, newSorted: true}
}

// row finds or adds an operator. Nearly always the sides list the same ones in
// the same order: at is where it is likely to stand.
func (p *parts) row(name string, at int) *compat.OperatorRow {
	if at < len(p.rows) && p.rows[at].Name == name {
		return &p.rows[at]
	}
	i, ok := p.index[name]
	if !ok {
		i = len(p.rows)
		p.index[name] = i
		p.rows = append(p.rows, compat.OperatorRow{Name: name, Status: compat.OperatorsPass})
	}
	return &p.rows[i]
}

// recorded adds the recorded operators; they come first.
func (p *parts) recorded(entries []bench.Entry) {
	for i, e := range entries {
		r := p.row(e.Name, i)
		p.oldSorted = p.oldSorted && r.OldRank == 0 && (i == 0 || e.Total <= entries[i-1].Total)
		r.Old, r.OldCalls, r.OldRank = stats.Finite(r.Old+e.Total), calls(r.OldCalls, e.Calls), i+1
		p.oldSum = stats.Finite(p.oldSum + stats.Finite(e.Total))
	}
	if !p.oldSorted {
		p.rank(func(r *compat.OperatorRow) (float64, *int) { return r.Old, &r.OldRank })
	}
}

// measured adds the operators of the run.
func (p *parts) measured(entries []bench.Entry, unit scale) {
	for i, e := range entries {
		r := p.row(e.Name, i)
		p.newSorted = p.newSorted && r.NewRank == 0 && (i == 0 || e.Total <= entries[i-1].Total)
		r.New, r.NewCalls, r.NewRank = stats.Finite(r.New+unit.of(e.Total)), calls(r.NewCalls, e.Calls), i+1
		p.newSum = stats.Finite(p.newSum + max(0, unit.of(e.Total)))
	}
	if !p.newSorted {
		p.rank(func(r *compat.OperatorRow) (float64, *int) { return r.New, &r.NewRank })
	}
}

// rank numbers the rows of one side anew, by total, descending; equal ones stay
// in their order.
func (p *parts) rank(side func(*compat.OperatorRow) (float64, *int)) {
	var listed []*compat.OperatorRow
	for i := range p.rows {
		if _, rank := side(&p.rows[i]); *rank > 0 {
			listed = append(listed, &p.rows[i])
		}
	}
	slices.SortStableFunc(listed, func(a, b *compat.OperatorRow) int {
		x, _ := side(a)
		y, _ := side(b)
		return cmp.Compare(y, x)
	})
	for i, r := range listed {
		_, rank := side(r)
		*rank = i + 1
	}
}

// calls adds numbers of calls; what is negative is not known, which is 0.
func calls(a, b int64) int64 {
	if b = max(b, 0); a > math.MaxInt64-b {
		return math.MaxInt64
	}
	return a + b
}
