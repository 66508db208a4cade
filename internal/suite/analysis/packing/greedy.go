package packing

import "slices"

// greedy takes the sequences as they come: each goes to the lightest rank, the
// first of several, and if that has no room a new row begins.
func greedy(in *instance) layout {
	l := in.blank()
	ranks := newBins(in.Ranks, in)
	ranks.ordered = true
	for i, length := range in.Lengths {
		if in.fits(length) {
			l.next(ranks, item{length, in.weights[i], i}, in.Ranks)
		}
	}
	return l
}

// next puts an item that fits into an empty row into the last row, or into a
// new one.
func (l *layout) next(ranks *bins, it item, n int) {
	rank, ok := ranks.place(it)
	if !ok || l.rows == 0 {
		if !ok {
			ranks.reset()
			rank, _ = ranks.place(it)
		}
		l.rows++
	}
	l.cells[it.index] = (l.rows-1)*n + rank
}

// legacyGreedy is greedy as mini_trainer has it; see [Legacy].
func legacyGreedy(p Problem) (Packing, error) {
	var k Packing
	row, ranks, loaded := make([][]int, p.Ranks), newMachines(p.Ranks), false
	for i, length := range p.Lengths {
		if length > p.Max-ranks.open[0].weight {
			if len(k.Rows) >= maxCells/p.Ranks {
				return Packing{}, errTooMany
			}
			k.Rows, row = append(k.Rows, row), make([][]int, p.Ranks)
			ranks.reset()
			loaded = false
		}
		rank := ranks.lightest()
		row[rank] = append(row[rank], i)
		ranks.charge(length)
		loaded = loaded || length > 0
	}
	if loaded {
		k.Rows = append(k.Rows, row)
	} else {
		k.LeftOut = row[0] // all of it, as rank 0 stays the first of the lightest
	}
	for _, row := range k.Rows {
		for _, cell := range row {
			slices.SortStableFunc(cell, func(a, b int) int { return compareDescending(p.Lengths[a], p.Lengths[b]) })
		}
	}
	return k, nil
}
