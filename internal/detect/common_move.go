package detect

import (
	"cmp"
	"math"
	"slices"
)

// minCenter is how many earlier runs a cell needs to say how far it moved.
const minCenter = 3

// common finds what moved all cells of History in each run, the oldest first,
// takes it out of the rows at once, so that a bad night is not what the nights
// after it are compared with, and judges that of the head.
func (r *reporter) common() {
	heads, span := r.extent()
	shifts := make([]float64, span+heads)
	known := make([]bool, len(shifts))
	var moves, weights []float64
	for t := range shifts {
		moves, weights = moves[:0], weights[:0]
		for i := range r.rows {
			if move, ok := r.move(i, t-span); ok {
				moves, weights = append(moves, move), append(weights, 1/r.rows[i].noise)
			}
		}
		if known[t] = len(moves) >= minReport; known[t] {
			shifts[t] = weightedMedian(moves, weights)
			r.subtract(shifts[t], t-span)
		}
	}
	r.host(shifts, known, span)
}

// extent is how many runs the longest head and base of History have.
func (r *reporter) extent() (heads, span int) {
	for i, c := range r.cells {
		if c.Options.mode() == History {
			heads, span = max(heads, len(r.rows[i].head)), max(span, len(r.rows[i].base))
		}
	}
	return heads, span
}

// move is how far a cell is, in a run, from the median of the 10 before it.
// Run 0 is the first of the head, -1 the last of the base. All runs of the head
// are compared with the base.
func (r *reporter) move(cell, run int) (float64, bool) {
	if r.cells[cell].Options.mode() != History {
		return 0, false
	}
	base, head := r.rows[cell].base, r.rows[cell].head
	before := base
	var y float64
	switch {
	case run >= len(head) || -run > len(base):
		return 0, false
	case run >= 0:
		y = head[run]
	default:
		y, before = base[len(base)+run], base[:len(base)+run]
	}
	if math.IsNaN(y) {
		return 0, false
	}
	var memory [longBase]float64 // a report asks this millions of times
	earlier := memory[:0]
	for _, v := range before[len(before)-min(len(before), longBase):] {
		if !math.IsNaN(v) {
			earlier = append(earlier, v)
		}
	}
	if len(earlier) < minCenter {
		return 0, false
	}
	slices.Sort(earlier)
	n := len(earlier)
	return y - (earlier[(n-1)/2]/2 + earlier[n/2]/2), true
}

// subtract takes a shift out of one run of all cells of History.
func (r *reporter) subtract(shift float64, run int) {
	for i, c := range r.cells {
		w := &r.rows[i]
		switch {
		case c.Options.mode() != History:
		case run >= 0 && run < len(w.head):
			w.head[run] -= shift
		case run < 0 && -run <= len(w.base):
			w.base[len(w.base)+run] -= shift
		}
	}
}

// corrected are the samples of a cell without what moved all of them.
func (r *reporter) corrected(cell int) samples {
	w, o := r.rows[cell], r.cells[cell].Options
	s := samples{history: present(w.base), head: present(w.head)}
	s.lostHead = len(w.head) - len(s.head)
	s.lostBase = len(w.base) - len(s.history)
	s.base = s.history[len(s.history)-min(len(s.history), s.span(o)):]
	return s
}

// host judges the common mode of the head by that of earlier runs.
func (r *reporter) host(shifts []float64, known []bool, span int) {
	var s samples
	for t, shift := range shifts {
		switch {
		case !known[t]:
		case t < span:
			s.history = append(s.history, shift)
		default:
			s.head = append(s.head, shift)
			r.out.Shifts = append(r.out.Shifts, relative(shift))
		}
	}
	s.base = s.history[len(s.history)-min(len(s.history), s.span(Options{})):]
	r.out.Host, _ = s.judge(Options{})
	if len(s.head) == 0 || len(s.base) == 0 {
		r.out.Host.Reason = "what moves all cells alike takes 20 cells with 3 earlier runs each, twice"
	}
}

// weightedMedian returns the least value at which half of the weight is reached.
func weightedMedian(values, weights []float64) float64 {
	order := make([]int, len(values))
	var total, sum float64
	for i := range order {
		order[i] = i
		total += weights[i]
	}
	slices.SortFunc(order, func(a, b int) int { return cmp.Compare(values[a], values[b]) })
	for _, i := range order {
		if sum += weights[i]; sum >= total/2 {
			return values[i]
		}
	}
	return values[order[len(order)-1]]
}
