package packing

import "container/heap"

// bin is a cell that is being filled.
type bin struct {
	weight, tokens int64
	id             int
}

// bins finds the lightest of several bins. Its heap is mini_trainer's, whose
// shape decides between bins of equal weight: an item goes to the root, which
// sinks while a child is strictly lighter, on the left unless the right one is
// strictly lighter.
type bins struct {
	open    []bin  // the heap
	full    byRoom // bins that lack room for the present item, if weights are not tokens
	max     int64
	linear  bool
	ordered bool // equal weights are ordered by id
}

func newBins(n int, in *instance) *bins {
	b := &bins{open: make([]bin, n), max: in.Max, linear: in.linear}
	b.reset()
	return b
}

// reset empties all bins.
func (b *bins) reset() {
	b.open = b.open[:len(b.open)+len(b.full)]
	b.full = b.full[:0]
	for i := range b.open {
		b.open[i] = bin{id: i}
	}
}

// place puts an item into the lightest bin that has room and returns which, and
// whether there is one. With weights other than tokens, the lightest one may
// have no room while another has. Over items of descending length it takes
// logarithmic time: a bin is set aside at most once for each item it gets.
func (b *bins) place(it item) (id int, ok bool) {
	if !b.linear {
		b.setAside(it.length)
	}
	if len(b.open) == 0 || it.length > b.max-b.open[0].tokens {
		return 0, false
	}
	root := &b.open[0]
	root.weight += it.weight
	root.tokens += it.length
	id = root.id
	b.sink()
	return id, true
}

func (b *bins) sink() {
	h := b.open
	moved := h[0]
	i := 0
	for {
		child := 2*i + 1
		if child >= len(h) {
			break
		}
		if right := child + 1; right < len(h) && b.less(&h[right], &h[child]) {
			child = right
		}
		if !b.less(&h[child], &moved) {
			break
		}
		h[i] = h[child]
		i = child
	}
	h[i] = moved
}

func (b *bins) less(x, y *bin) bool {
	return x.weight < y.weight || b.ordered && x.weight == y.weight && x.id < y.id
}

// setAside leaves a bin with room for length at the root, if there is one.
func (b *bins) setAside(length int64) {
	for len(b.full) > 0 && length <= b.max-b.full[0].tokens {
		b.rise(heap.Pop(&b.full).(bin))
	}
	for len(b.open) > 0 && length > b.max-b.open[0].tokens {
		heap.Push(&b.full, b.open[0])
		last := len(b.open) - 1
		b.open[0] = b.open[last]
		if b.open = b.open[:last]; last > 0 {
			b.sink()
		}
	}
}

func (b *bins) rise(x bin) {
	b.open = append(b.open, x)
	i := len(b.open) - 1
	for i > 0 && b.less(&x, &b.open[(i-1)/2]) {
		b.open[i] = b.open[(i-1)/2]
		i = (i - 1) / 2
	}
	b.open[i] = x
}

// byRoom is a heap with the bin that has most room at its root.
type byRoom []bin

func (h byRoom) Len() int           { return len(h) }
func (h byRoom) Less(i, j int) bool { return h[i].tokens < h[j].tokens }
func (h byRoom) Swap(i, j int)      { h[i], h[j] = h[j], h[i] }
func (h *byRoom) Push(x any)        { *h = append(*h, x.(bin)) }
func (h *byRoom) Pop() any {
	last := len(*h) - 1
	x := (*h)[last]
	*h = (*h)[:last]
	return x
}
