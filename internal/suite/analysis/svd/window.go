package svd

import (
	"math"
	"slices"

	"gonum.org/v1/gonum/lapack/gonum"
)

// window is a copy of the block of a bidiagonal matrix that is being iterated
// on, in the order in which the iteration runs.
//
// Iterations move small singular values to their end, and converge fast if the
// block is large where they begin. A block that is larger at its lower end is
// therefore transposed and read backwards, which is an upper bidiagonal matrix
// again, with left and right exchanged.
type window struct {
	precision   precision
	first, last int
	backwards   bool
	d, e        []float64
	lowest      float64 // a lower bound of the smallest singular value
}

// load fills w with rows first to last of a matrix. The direction is chosen when the
// block is another one than before, not one with the same end that grew
// smaller: turning round in the middle would undo what was achieved.
func (w *window) load(d, e []float64, first, last int) {
	if first > w.last || last < w.first || w.d == nil {
		w.backwards = math.Abs(d[first]) < math.Abs(d[last])
	}
	w.first, w.last = first, last
	w.d = append(w.d[:0], d[first:last+1]...)
	w.e = append(w.e[:0], e[first:last]...)
	w.turn()
}

// store writes w back.
func (w *window) store(d, e []float64) {
	w.turn()
	copy(d[w.first:], w.d)
	copy(e[w.first:], w.e)
}

func (w *window) turn() {
	if w.backwards {
		slices.Reverse(w.d)
		slices.Reverse(w.e)
	}
}

// deflate sets an e to 0 that is negligible by one of the criteria of Demmel
// and Kahan, and says whether there was one.
func (w *window) deflate() bool {
	n := len(w.d)
	if math.Abs(w.e[n-2]) <= w.precision.tolerance*math.Abs(w.d[n-1]) {
		w.e[n-2] = 0
		return true
	}
	mu := math.Abs(w.d[0])
	w.lowest = mu
	for i, e := range w.e {
		if math.Abs(e) <= w.precision.tolerance*mu {
			w.e[i] = 0
			return true
		}
		mu = math.Abs(w.d[i+1]) * (mu / (mu + math.Abs(e)))
		w.lowest = min(w.lowest, mu)
	}
	return false
}

// iterate does one QR iteration. n is the size of the whole matrix.
func (w *window) iterate(n int) sweep {
	s := sweep{first: w.first, step: 1, left: make([]rotation, len(w.e)), right: make([]rotation, len(w.e))}
	if w.backwards {
		s.first, s.step = w.last, -1
	}
	if shift := w.shift(n); shift == 0 {
		w.iterateUnshifted(s.left, s.right)
	} else {
		w.iterateShifted(shift, s.left, s.right)
	}
	if w.backwards {
		s.left, s.right = s.right, s.left
	}
	return s
}

// shift returns the smaller singular value of the last 2 x 2 block, or 0 where
// subtracting it would cost the small singular values their accuracy, or where
// it does not matter.
func (w *window) shift(n int) float64 {
	var l gonum.Implementation
	var largest float64
	for i, d := range w.d {
		largest = max(largest, math.Abs(d))
		if i < len(w.e) {
			largest = max(largest, math.Abs(w.e[i]))
		}
	}
	if float64(n)*w.precision.tolerance*(w.lowest/largest) <= max(w.precision.epsilon, w.precision.tolerance/100) {
		return 0
	}
	k := len(w.e)
	shift, _ := l.Dlas2(w.d[k-1], w.e[k-1], w.d[k])
	if ratio := shift / w.d[0]; ratio*ratio < w.precision.epsilon {
		return 0
	}
	return shift
}

// iterateShifted chases the bulge that the shift makes along the block.
func (w *window) iterateShifted(shift float64, left, right []rotation) {
	d, e := w.d, w.e
	f := (math.Abs(d[0]) - shift) * (math.Copysign(1, d[0]) + shift/d[0])
	g := e[0]
	var norm float64
	for i := range e {
		right[i], norm = givens(f, g)
		if i > 0 {
			e[i-1] = norm
		}
		c, s := right[i].c, right[i].s
		f, e[i] = c*d[i]+s*e[i], c*e[i]-s*d[i]
		g, d[i+1] = s*d[i+1], c*d[i+1]
		left[i], d[i] = givens(f, g)
		c, s = left[i].c, left[i].s
		f, d[i+1] = c*e[i]+s*d[i+1], c*d[i+1]-s*e[i]
		if i+1 < len(e) {
			g, e[i+1] = s*e[i+1], c*e[i+1]
		}
	}
	e[len(e)-1] = f
}

// iterateUnshifted is the iteration with shift 0 that keeps the relative
// accuracy of small singular values. A 0 in d makes the last e 0.
func (w *window) iterateUnshifted(left, right []rotation) {
	d, e := w.d, w.e
	last := rotation{c: 1}
	c := 1.0
	for i := range e {
		var norm float64
		right[i], norm = givens(d[i]*c, e[i])
		if i > 0 {
			e[i-1] = last.s * norm
		}
		c = right[i].c
		last, d[i] = givens(last.c*norm, d[i+1]*right[i].s)
		left[i] = last
	}
	k := len(e)
	h := d[k] * c
	d[k], e[k-1] = h*last.c, h*last.s
}

// givens returns the rotation that turns (f, g) into (norm, 0), with c >= 0
// unless f is 0.
func givens(f, g float64) (t rotation, norm float64) {
	if g == 0 {
		return rotation{c: 1}, f
	}
	if f == 0 {
		return rotation{s: 1}, g
	}
	square := f*f + g*g
	if square > 0x1p-900 && square < 0x1p900 {
		norm = math.Sqrt(square)
	} else {
		norm = math.Hypot(f, g)
	}
	norm = math.Copysign(norm, f)
	return rotation{f / norm, g / norm}, norm
}
