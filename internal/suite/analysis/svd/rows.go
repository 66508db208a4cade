package svd

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"
)

// rows is a matrix whose rows are rotated in pairs. Row i is scale[i] times the
// stored row slot[i].
//
// A rotation by c and s costs two vector additions p += a*q; q += b*p, since
// it is the product of two shears and a scaling, and the scaling is left to
// scale: with |c| >= |s|
//
//	| c s|   |c  0 | | 1  0| |1 s/c|
//	|-s c| = |0 1/c| |-cs 1| |0  1 |
//
// and otherwise the same with the rows exchanged, which is left to slot. This
// is 2/3 of the operations of the plain rotation, has no temporary vector, and
// loses no accuracy: the factors are of the order of 1.
type rows[F float] struct {
	data  []F
	width int
	slot  []int
	scale []float64
	shear []shear[F] // gathered, not applied yet
}

// shear stands for p += a*q; q += b*p on stored rows, or for p *= a where q is
// scaleOnly.
type shear[F float] struct {
	p, q int
	a, b F
}

const scaleOnly = -1

func newRows[F float](data []F, width int) *rows[F] {
	r := &rows[F]{data: data, width: width, slot: make([]int, len(data)/width), scale: make([]float64, len(data)/width)}
	for i := range r.slot {
		r.slot[i], r.scale[i] = i, 1
	}
	return r
}

// rotate gathers the rotation of rows i and j: i becomes c*i + s*j, and j
// becomes c*j - s*i.
func (r *rows[F]) rotate(i, j int, t rotation) {
	c, s := t.c, t.s
	x, y := r.scale[i], r.scale[j]
	switch {
	case s == 0:
		r.scale[i], r.scale[j] = c*x, c*y
	case math.Abs(c) >= math.Abs(s):
		ratio := y / x
		r.shear = append(r.shear, shear[F]{p: r.slot[i], q: r.slot[j], a: F(s / c * ratio), b: F(-s * c / ratio)})
		r.scale[i], r.scale[j] = c*x, y/c
	default:
		ratio := x / y
		r.shear = append(r.shear, shear[F]{p: r.slot[j], q: r.slot[i], a: F(c / s * ratio), b: F(-s * c / ratio)})
		r.slot[i], r.slot[j] = r.slot[j], r.slot[i]
		r.scale[i], r.scale[j] = s*y, -x/s
	}
	r.settle(i)
	r.settle(j)
}

// farScale is the scale from which a row is multiplied out, long before ratios
// of scales get near the ends of float64. One rotation changes a scale little,
// but a row that is exchanged at each step of a sweep takes part in all of it.
const farScale = 1 << 30

// settle multiplies row i out if its scale is far from 1.
func (r *rows[F]) settle(i int) {
	scale := math.Abs(r.scale[i])
	if scale < farScale && scale > 1.0/farScale {
		return
	}
	r.shear = append(r.shear, shear[F]{p: r.slot[i], q: scaleOnly, a: F(scale)})
	r.scale[i] = math.Copysign(1, r.scale[i])
}

// copyRow writes sign times row i to dst.
func (r *rows[F]) copyRow(dst []float64, i int, sign float64) {
	for k, x := range r.stored(r.slot[i], 0, r.width) {
		dst[k] = float64(F(sign * r.scale[i] * float64(x)))
	}
}

// stored returns the columns [from, to) of a stored row.
func (r *rows[F]) stored(slot, from, to int) []F {
	return r.data[slot*r.width+from : slot*r.width+to]
}

// strip is how many columns are rotated at a time: as many as let the rows
// that a group of sweeps has under way, groupSweeps+1 of them, stay in or near
// a first level cache of 32 KiB. Shorter ones spend more on calls.
const strip = 256

// apply does what was gathered for all of matrices, on all cores.
func apply[F float](matrices ...*rows[F]) {
	type job struct {
		r        *rows[F]
		from, to int
	}
	var jobs []job
	for _, r := range matrices {
		for from := 0; from < r.width; from += strip {
			jobs = append(jobs, job{r, from, min(from+strip, r.width)})
		}
	}
	var next atomic.Int64
	work := func() {
		for i := int(next.Add(1)) - 1; i < len(jobs); i = int(next.Add(1)) - 1 {
			jobs[i].r.applyColumns(jobs[i].from, jobs[i].to)
		}
	}
	var group sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(jobs)) - 1 {
		group.Go(work)
	}
	work()
	group.Wait()
	for _, r := range matrices {
		r.shear = r.shear[:0]
	}
}

func (r *rows[F]) applyColumns(from, to int) {
	for i := range r.shear {
		s := &r.shear[i]
		p := r.stored(s.p, from, to)
		if s.q == scaleOnly {
			scal(s.a, p)
			continue
		}
		q := r.stored(s.q, from, to)
		axpy(s.a, q, p)
		axpy(s.b, p, q)
	}
}
