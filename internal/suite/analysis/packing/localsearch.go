package packing

import "slices"

// searchSteps limits the exchanges that a local search looks at, about a third
// of a second's worth; reach limits the rows whose lightest cell one row may
// exchange with.
const (
	searchSteps = 1 << 26
	reach       = 64
)

// localSearch starts with the best of the other algorithms and, while it finds
// one, makes the move of a sequence out of a row's heaviest cell, or the swap of two,
// that lowers the sum of row maxima most. It never adds a row.
func localSearch(in *instance) layout {
	in.enough = in.run(bestFitEntry).rows
	start := in.best([]Algorithm{greedyEntry, lptEntry, globalLPTEntry, bestFitEntry, kkEntry})
	l := in.cut(slices.Clone(start.cells), start.rows*in.Ranks)
	s := search{instance: in, left: searchSteps}
	for sum := in.sumOfMaxima(l); s.left > 0; {
		s.load(l)
		s.improve()
		// Rows of cells of like weight may only now be possible.
		next := s.layout()
		after := in.sumOfMaxima(next)
		if after >= sum {
			break
		}
		l, sum = next, after
	}
	return l
}

// search is a layout that is being changed.
type search struct {
	*instance
	cells [][]item
	loads []bin
	left  int // exchanges that may still be looked at
}

func (s *search) load(l layout) {
	s.cells = make([][]item, l.rows*s.Ranks)
	s.loads = make([]bin, len(s.cells))
	sizes := make([]int, len(s.cells))
	for _, it := range s.items {
		sizes[l.cells[it.index]]++
	}
	all := make([]item, len(s.items))
	for i, n := range sizes {
		s.cells[i], all = all[:0:n], all[n:]
	}
	for _, it := range s.items {
		s.add(l.cells[it.index], it)
	}
}

func (s *search) layout() layout {
	l := s.blank()
	for i, cell := range s.cells {
		for _, it := range cell {
			l.cells[it.index] = i
		}
	}
	return s.cut(l.cells, len(s.cells))
}

func (s *search) add(cell int, it item) {
	s.cells[cell] = append(s.cells[cell], it)
	s.loads[cell].weight += it.weight
	s.loads[cell].tokens += it.length
}

func (s *search) remove(cell, i int) item {
	it := s.cells[cell][i]
	s.cells[cell] = slices.Delete(s.cells[cell], i, i+1)
	s.loads[cell].weight -= it.weight
	s.loads[cell].tokens -= it.length
	return it
}

func (s *search) improve() {
	rows := len(s.cells) / s.Ranks
	for row := range rows {
		for s.left > 0 && s.exchange(row, rows) {
		}
	}
}

// exchange is a sequence that leaves the heaviest cell of a row, and the one that
// comes instead, or -1.
type exchange struct {
	gain     int64 // of the sum of row maxima
	from, to int   // cells
	out, in  int   // positions in them
}

// exchange makes the best exchange of a row, and says whether there is one.
func (s *search) exchange(row, rows int) bool {
	heavy, second, _ := s.extremes(row)
	limit := s.loads[heavy].weight - second
	s.left -= s.Ranks
	if limit <= 0 {
		return false // another cell is as heavy: no exchange of one lowers the maximum
	}
	var found exchange
	for to := row * s.Ranks; to < (row+1)*s.Ranks; to++ {
		if to != heavy {
			s.look(&found, exchange{from: heavy, to: to}, limit, s.loads[heavy].weight)
		}
	}
	// The last rows are the loosest, as rows are cut from sorted cells.
	for other := rows - 1; other >= max(0, rows-reach); other-- {
		if other == row || s.left <= 0 {
			continue
		}
		top, _, light := s.extremes(other)
		s.left -= s.Ranks
		s.look(&found, exchange{from: heavy, to: light}, limit, s.loads[top].weight)
	}
	if found.gain <= 0 {
		return false
	}
	s.apply(found)
	return true
}

// look compares found with the exchanges between two cells. The maximum of
// from's row falls by what leaves, at most limit; that of to's row is top.
func (s *search) look(found *exchange, e exchange, limit, top int64) {
	same := e.from/s.Ranks == e.to/s.Ranks
	for e.out = range s.cells[e.from] {
		it := s.cells[e.from][e.out]
		for e.in = -1; e.in < len(s.cells[e.to]); e.in++ {
			if s.left--; s.left < 0 {
				return
			}
			weight, length := it.weight, it.length
			if e.in >= 0 {
				weight -= s.cells[e.to][e.in].weight
				length -= s.cells[e.to][e.in].length
			}
			if weight <= 0 || length > s.Max-s.loads[e.to].tokens {
				continue
			}
			over := s.loads[e.to].weight + weight - top // over the maximum that is
			if e.gain = min(weight, limit); same {
				e.gain = min(e.gain, -over)
			} else {
				e.gain -= max(0, over)
			}
			if e.gain > found.gain {
				*found = e
			}
		}
	}
}

func (s *search) apply(e exchange) {
	out := s.remove(e.from, e.out)
	if e.in >= 0 {
		s.add(e.from, s.remove(e.to, e.in))
	}
	s.add(e.to, out)
}

// extremes returns the heaviest cell of a row, the weight of the next, and the
// lightest cell.
func (s *search) extremes(row int) (heavy int, second int64, light int) {
	heavy, light = row*s.Ranks, row*s.Ranks
	for i := heavy + 1; i < (row+1)*s.Ranks; i++ {
		weight := s.loads[i].weight
		switch top := s.loads[heavy].weight; {
		case weight > top:
			heavy, second = i, top
		case weight > second:
			second = weight
		}
		if weight < s.loads[light].weight {
			light = i
		}
	}
	return heavy, second, light
}
