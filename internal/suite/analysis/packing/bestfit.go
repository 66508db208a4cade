package packing

import (
	"cmp"
	"slices"
)

// bestFit takes the longest sequences first and puts each into the fullest cell
// that has room, or into a new one. It uses few cells, and balances nothing.
func bestFit(in *instance) layout {
	cells := in.blank().cells
	var open roomList
	n := 0
	for _, it := range in.items {
		r, ok := open.take(it.length)
		if !ok {
			r = room{in.Max, n}
			n++
		}
		cells[it.index] = r.id
		if r.free -= it.length; r.free > 0 {
			open.add(r)
		}
	}
	return in.cut(cells, n)
}

// room is what is left of a cell.
type room struct {
	free int64 // tokens
	id   int
}

func (a room) compare(b room) int {
	return cmp.Or(cmp.Compare(a.free, b.free), cmp.Compare(a.id, b.id))
}

// roomList is sorted, in blocks, so that adding and taking moves only a few
// hundred bytes at a time. No block is empty.
type roomList struct{ blocks [][]room }

const maxBlock = 512

// block returns the first block that ends at or after r.
func (l *roomList) block(r room) int {
	i, _ := slices.BinarySearchFunc(l.blocks, r, func(block []room, r room) int { return block[len(block)-1].compare(r) })
	return i
}

// take removes the smallest room of at least length, the first cell's of several.
func (l *roomList) take(length int64) (r room, ok bool) {
	i := l.block(room{length, 0})
	if i == len(l.blocks) {
		return room{}, false
	}
	j, _ := slices.BinarySearchFunc(l.blocks[i], room{length, 0}, room.compare)
	r = l.blocks[i][j]
	if l.blocks[i] = slices.Delete(l.blocks[i], j, j+1); len(l.blocks[i]) == 0 {
		l.blocks = slices.Delete(l.blocks, i, i+1)
	}
	return r, true
}

func (l *roomList) add(r room) {
	if len(l.blocks) == 0 {
		l.blocks = append(l.blocks, []room{r})
		return
	}
	i := min(l.block(r), len(l.blocks)-1)
	j, _ := slices.BinarySearchFunc(l.blocks[i], r, room.compare)
	block := slices.Insert(l.blocks[i], j, r)
	l.blocks[i] = block
	if half := len(block) / 2; len(block) > maxBlock {
		l.blocks[i] = block[:half:half]
		l.blocks = slices.Insert(l.blocks, i+1, slices.Clone(block[half:]))
	}
}
