package packing

import (
	"cmp"
	"slices"
)

// lpt takes the longest sequences first: each row gets the longest prefix of the
// rest that fits if each sequence goes to the lightest rank.
//
// mini_trainer searches for the length of that prefix and places every
// candidate anew. A shorter prefix is placed identically, so the one that fits ends
// where the first sequence finds no room, and one pass finds it.
func lpt(in *instance) layout {
	l := in.blank()
	ranks := newBins(in.Ranks, in)
	for _, it := range in.items {
		l.next(ranks, it, in.Ranks)
	}
	return l
}

// globalLPT spreads the longest sequences first over the cells of all rows at
// once, for the smallest number of rows, from the lower bound on, at which they
// fit.
func globalLPT(in *instance) layout {
	rows := fewest(in.bound, func(rows int) bool { return in.spread(rows*in.Ranks, nil) })
	cells := in.blank().cells
	in.spread(rows*in.Ranks, cells)
	return in.cut(cells, rows*in.Ranks)
}

// nearBound is how many numbers of rows are tried one after the other. Then
// each attempt doubles the distance: one per row could take hours for lists that are
// far from their bound. Below the first success the search is by halves, as if
// more rows could never fit less; if they do, a row or so is lost.
const nearBound = 16

func fewest(rows int, fits func(rows int) bool) int {
	for range nearBound {
		if fits(rows) {
			return rows
		}
		rows++
	}
	low, step := rows, 1 // all below low failed
	for !fits(rows) {
		low = rows + 1
		rows += step
		step *= 2
	}
	for low < rows {
		if middle := low + (rows-low)/2; fits(middle) {
			rows = middle
		} else {
			low = middle + 1
		}
	}
	return rows
}

// spread puts each item into the lightest of n bins and says whether all found
// room. If cells is not nil it is filled with the bins.
func (in *instance) spread(n int, cells []int) bool {
	all := newBins(n, in)
	for _, it := range in.items {
		id, ok := all.place(it)
		if !ok {
			return false
		}
		if cells != nil {
			cells[it.index] = id
		}
	}
	return true
}

// cut puts bins into rows, heaviest first, which for given bins minimises the sum
// of row maxima: each row's heaviest is then as light as what is heavier allows.
// cells, which holds a bin for each item, is overwritten.
func (in *instance) cut(cells []int, n int) layout {
	loads := make([]bin, n)
	for i := range loads {
		loads[i].id = i
	}
	for _, it := range in.items {
		loads[cells[it.index]].weight += it.weight
		loads[cells[it.index]].tokens += it.length
	}
	slices.SortFunc(loads, func(a, b bin) int {
		// An item may weigh nothing, by rounding: tokens tell it from no item.
		return cmp.Or(cmp.Compare(b.weight, a.weight), cmp.Compare(b.tokens, a.tokens), cmp.Compare(a.id, b.id))
	})
	place, used := make([]int, n), 0
	for i, load := range loads {
		place[load.id] = i
		if load.tokens > 0 {
			used = i + 1
		}
	}
	for _, it := range in.items {
		cells[it.index] = place[cells[it.index]]
	}
	return layout{cells, ceilDiv(used, in.Ranks)}
}
