package packing

import (
	"cmp"
	"container/heap"
	"slices"
)

// maxDifference limits the time that one row may take, in items times ranks.
const maxDifference = 1 << 26

// karmarkarKarp takes the rows of the better of lpt and global-lpt, and spreads
// each row's sequences over the ranks anew, by differencing. A row stays as it
// is if that would not lower its maximum, or if a cell would overflow.
func karmarkarKarp(in *instance) layout {
	start := in.best([]Algorithm{lptEntry, globalLPTEntry})
	if start.rows > in.enough {
		return none // the rows stay as many
	}
	l := layout{slices.Clone(start.cells), start.rows}
	rows := make([][]item, l.rows)
	for _, it := range in.items {
		row := l.cells[it.index] / in.Ranks
		rows[row] = append(rows[row], it)
	}
	for row, items := range rows {
		if len(items) > maxDifference/in.Ranks {
			continue
		}
		sets := difference(items, in.Ranks)
		before := in.heaviest(items, func(i int) int { return l.cells[items[i].index] - row*in.Ranks })
		after := in.heaviest(items, func(i int) int { return sets[i] })
		if after < 0 || after >= before {
			continue
		}
		for i, it := range items {
			l.cells[it.index] = row*in.Ranks + sets[i]
		}
	}
	return l
}

// heaviest returns the largest weight of a rank, or -1 if one holds too many tokens.
func (in *instance) heaviest(items []item, rank func(i int) int) int64 {
	loads := make([]bin, in.Ranks)
	var heaviest int64
	for i, it := range items {
		load := &loads[rank(i)]
		if it.length > in.Max-load.tokens {
			return -1
		}
		load.tokens += it.length
		load.weight += it.weight
		heaviest = max(heaviest, load.weight)
	}
	return heaviest
}

// difference divides items into n sets of nearly equal weight and returns each
// item's set. It is the largest differencing method of Karmarkar and Karp (1982) for
// several sets: the two partitions with the largest differences are joined so
// that these cancel, heavy sets with light ones, until one is left.
func difference(items []item, n int) []int {
	d := differencing{n: n, next: make([]int, len(items))}
	all := make([]subset, len(items))
	for i, it := range items {
		all[i] = subset{weight: it.weight, first: i, last: i}
		d.next[i] = -1
		d.heap = append(d.heap, partition{all[i : i+1 : i+1], i})
	}
	heap.Init(&d.heap)
	for len(d.heap) > 1 {
		a := heap.Pop(&d.heap).(partition)
		d.heap[0].sets = d.join(a.sets, d.heap[0].sets)
		heap.Fix(&d.heap, 0)
	}
	sets := make([]int, len(items))
	for rank, s := range d.heap[0].sets {
		for i := s.first; i >= 0; i = d.next[i] {
			sets[i] = rank
		}
	}
	return sets
}

// subset is a chain of items. Its weight is over that of its partition's
// lightest subset.
type subset struct {
	weight      int64
	first, last int
}

// partition is at most n subsets, heaviest first; those that hold nothing are
// not written down, so that all partitions together are no longer than the
// items.
type partition struct {
	sets []subset
	id   int
}

type differencing struct {
	n    int
	next []int // of each item, the one that follows in its subset
	heap partitions
}

// join adds b's lightest subset to a's heaviest, and so on.
func (d *differencing) join(a, b []subset) []subset {
	for i := range a {
		if j := d.n - 1 - i; j < len(b) {
			d.next[a[i].last] = b[j].first
			a[i].last = b[j].last
			a[i].weight += b[j].weight
		}
	}
	a = append(a, b[:min(len(b), d.n-len(a))]...)
	slices.SortStableFunc(a, func(x, y subset) int { return cmp.Compare(y.weight, x.weight) })
	if len(a) == d.n {
		minimum := a[len(a)-1].weight
		for i := range a {
			a[i].weight -= minimum
		}
	}
	return a
}

// partitions is a heap with the largest difference at its root.
type partitions []partition

func (h partitions) Len() int { return len(h) }
func (h partitions) Less(i, j int) bool {
	return cmp.Or(cmp.Compare(h[j].sets[0].weight, h[i].sets[0].weight), cmp.Compare(h[i].id, h[j].id)) < 0
}
func (h partitions) Swap(i, j int) { h[i], h[j] = h[j], h[i] }
func (h *partitions) Push(x any)   { *h = append(*h, x.(partition)) }
func (h *partitions) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
