package packing

import (
	"errors"
	"math"
	"slices"
)

// item is a sequence that fits into a cell.
type item struct {
	length, weight int64
	index          int
}

// instance is a problem prepared for the algorithms, which see only what fits.
type instance struct {
	Problem
	items   []item  // length descending, index ascending
	weights []int64 // by index
	linear  bool    // weights are tokens
	bound   int     // rows that the items need at least
	enough  int     // an algorithm may return none in place of more rows than these
	done    map[string]layout
}

// layout describes for each index of the problem in which cell it is, row by row,
// or noCell.
type layout struct {
	cells []int
	rows  int
}

const noCell = -1

// none is no layout.
var none = layout{rows: math.MaxInt}

func prepare(p Problem) *instance {
	in := &instance{Problem: p, weights: p.Cost.weights(p.Lengths), linear: p.Cost.linear(), enough: math.MaxInt, done: map[string]layout{}}
	in.items = make([]item, 0, len(p.Lengths))
	for i, length := range p.Lengths {
		if p.fits(length) {
			in.items = append(in.items, item{length, in.weights[i], i})
		}
	}
	in.items = sortDescending(in.items)
	in.bound = ceilDiv(l2(func(i int) int64 { return in.items[i].length }, len(in.items), p.Max), p.Ranks)
	return in
}

// sortDescending sorts items that are in order of their index by length. It is
// a radix sort of eight bits a pass, stable and linear, which for a million
// lengths takes a tenth of the time of comparing them. It may sort in place.
func sortDescending(items []item) []item {
	var longest int64
	for _, it := range items {
		longest = max(longest, it.length)
	}
	from, to := items, make([]item, len(items))
	for shift := 0; shift < 63 && longest>>shift > 0; shift += 8 {
		var next [257]int
		for _, it := range from {
			next[256-it.length>>shift&255]++
		}
		for digit := range 256 {
			next[digit+1] += next[digit]
		}
		for _, it := range from {
			place := &next[255-it.length>>shift&255]
			to[*place] = it
			*place++
		}
		from, to = to, from
	}
	return from
}

func (in *instance) blank() layout {
	cells := make([]int, len(in.Lengths))
	for i := range cells {
		cells[i] = noCell
	}
	return layout{cells: cells}
}

// run returns what a step of the table makes of the instance, and makes it once.
func (in *instance) run(a Algorithm) layout {
	l, ok := in.done[a.Name]
	if !ok {
		l = a.place(in)
		in.done[a.Name] = l
	}
	return l
}

// packing turns a layout of the items into a packing of the problem: with the
// rows of sequences that are too long, and with empty sequences.
func (in *instance) packing(l layout) (Packing, error) {
	var k Packing
	var own, empty []int
	for i, length := range in.Lengths {
		switch {
		case in.rejects(length):
			k.LeftOut = append(k.LeftOut, i)
		case length > in.Max:
			own = append(own, i)
		case length == 0:
			empty = append(empty, i)
		}
	}
	slices.SortStableFunc(own, func(a, b int) int { return compareDescending(in.Lengths[a], in.Lengths[b]) })
	rows := len(own) + l.rows
	if rows == 0 && len(empty) > 0 {
		rows = 1
	}
	if rows > maxCells/in.Ranks {
		return Packing{}, errTooMany
	}
	k.Rows = in.fill(l, rows, own)
	for i, index := range empty {
		cell := &k.Rows[rows-1][i%in.Ranks]
		*cell = append(*cell, index)
	}
	return k, nil
}

// fill makes the rows of own items and those of a layout. All cells share one
// array, each with no capacity beyond its own.
func (in *instance) fill(l layout, rows int, own []int) [][][]int {
	cells := make([][]int, rows*in.Ranks)
	for i, index := range own {
		cells[i*in.Ranks] = []int{index}
	}
	sizes := make([]int, len(cells))
	first := len(own) * in.Ranks
	for _, it := range in.items {
		sizes[first+l.cells[it.index]]++
	}
	all := make([]int, len(in.items))
	for i, n := range sizes {
		if n > 0 {
			cells[i], all = all[:0:n], all[n:]
		}
	}
	for _, it := range in.items {
		cell := &cells[first+l.cells[it.index]]
		*cell = append(*cell, it.index)
	}
	return slices.Collect(slices.Chunk(cells, in.Ranks))
}

var errTooMany = errors.New("rows times ranks are too many: use fewer ranks, or split the list")

func compareDescending(a, b int64) int {
	switch {
	case a > b:
		return -1
	case a < b:
		return 1
	}
	return 0
}

func ceilDiv(a, b int) int { return (a + b - 1) / b }
