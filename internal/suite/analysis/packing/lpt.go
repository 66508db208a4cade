package packing

import (
	"cmp"
	"math/bits"
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
	rows, ok := fewest(in.bound, in.enough, func(rows int) bool { return in.spread(rows*in.Ranks, nil) })
	if !ok {
		return none
	}
	cells := in.blank().cells
	in.spread(rows*in.Ranks, cells)
	return in.cut(cells, rows*in.Ranks)
}

// nearBound is how many numbers of rows are tried one after the other. Then
// each attempt doubles the distance: one per row could take hours for lists that are
// far from their bound. Below the first success the search is by halves, as if
// more rows could never fit less; if they do, a row or so is lost.
const nearBound = 16

// fewest gives up where more than enough rows would be needed, if it finds that
// near the bound.
func fewest(rows, enough int, fits func(rows int) bool) (int, bool) {
	for range nearBound {
		if rows > enough {
			return 0, false
		}
		if fits(rows) {
			return rows, true
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
	return rows, true
}

// spread puts each item into the lightest of n bins and says whether all found
// room. If cells is not nil it is filled with the bins.
func (in *instance) spread(n int, cells []int) bool {
	if shift := bits.Len(uint(n)); in.linear && bits.Len64(uint64(in.Max))+shift < 64 {
		return in.spreadTokens(n, shift, cells)
	}
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

// spreadTokens is spread where weights are tokens: the heap of [bins] with a
// bin's tokens and id in one word, id in the lowest bits, which takes a third of the
// time.
func (in *instance) spreadTokens(n, shift int, cells []int) bool {
	heap := make([]uint64, n)
	for id := range heap {
		heap[id] = uint64(id)
	}
	ids := uint64(1)<<shift - 1
	for _, it := range in.items {
		lightest := heap[0]
		if it.length > in.Max-int64(lightest>>shift) {
			return false
		}
		if cells != nil {
			cells[it.index] = int(lightest & ids)
		}
		sinkRoot(heap, lightest+uint64(it.length)<<shift, ids)
	}
	return true
}

// sinkRoot replaces the root by a bin and lets it sink while a child has strictly
// fewer tokens.
func sinkRoot(heap []uint64, moved, ids uint64) {
	i, tokens := 0, moved&^ids
	for {
		child := 2*i + 1
		if child+1 >= len(heap) {
			if child < len(heap) && heap[child] < tokens {
				heap[i] = heap[child]
				i = child
			}
			break
		}
		// A branch would be mispredicted every second time.
		_, right := bits.Sub64(heap[child+1], heap[child]&^ids, 0)
		child += int(right)
		if heap[child] >= tokens {
			break
		}
		heap[i] = heap[child]
		i = child
	}
	heap[i] = moved
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
