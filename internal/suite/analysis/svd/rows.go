package svd

import (
	"math"
	"runtime"
	"sync"
	"sync/atomic"

	"gonum.org/v1/gonum/blas/blas64"
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
type rows struct {
	data  []float64
	width int
	slot  []int
	scale []float64
	shear []shear // gathered, not applied yet
}

// shear stands for p += a*q; q += b*p on stored rows, or for p *= a where q is
// scaleOnly.
type shear struct {
	p, q int
	a, b float64
}

const scaleOnly = -1

func newRows(data []float64, width int) *rows {
	r := &rows{data: data, width: width, slot: make([]int, len(data)/width), scale: make([]float64, len(data)/width)}
	for i := range r.slot {
		r.slot[i], r.scale[i] = i, 1
	}
	return r
}

// rotate gathers the rotation of rows i and j: i becomes c*i + s*j, and j
// becomes c*j - s*i.
func (r *rows) rotate(i, j int, t rotation) {
	c, s := t.c, t.s
	x, y := r.scale[i], r.scale[j]
	switch {
	case s == 0:
		r.scale[i], r.scale[j] = c*x, c*y
	case math.Abs(c) >= math.Abs(s):
		ratio := y / x
		r.shear = append(r.shear, shear{p: r.slot[i], q: r.slot[j], a: s / c * ratio, b: -s * c / ratio})
		r.scale[i], r.scale[j] = c*x, y/c
	default:
		ratio := x / y
		r.shear = append(r.shear, shear{p: r.slot[j], q: r.slot[i], a: c / s * ratio, b: -s * c / ratio})
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
func (r *rows) settle(i int) {
	scale := math.Abs(r.scale[i])
	if scale < farScale && scale > 1.0/farScale {
		return
	}
	r.shear = append(r.shear, shear{p: r.slot[i], q: scaleOnly, a: scale})
	r.scale[i] = math.Copysign(1, r.scale[i])
}

// copyRow writes sign times row i to dst.
func (r *rows) copyRow(dst []float64, i int, sign float64) {
	for k, x := range r.stored(r.slot[i], 0, r.width).Data {
		dst[k] = sign * r.scale[i] * x
	}
}

// stored returns the columns [from, to) of a stored row.
func (r *rows) stored(slot, from, to int) blas64.Vector {
	return blas64.Vector{N: to - from, Inc: 1, Data: r.data[slot*r.width+from : slot*r.width+to]}
}

// strip is how many columns are rotated at a time: as many as let the rows
// that a group of sweeps has under way, groupSweeps+1 of them, stay in or near
// a first level cache of 32 KiB. Shorter ones spend more on calls.
const strip = 256

// apply does what was gathered for all of matrices, on all cores.
func apply(matrices ...*rows) {
	type job struct {
		r        *rows
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

func (r *rows) applyColumns(from, to int) {
	for i := range r.shear {
		s := &r.shear[i]
		p := r.stored(s.p, from, to)
		if s.q == scaleOnly {
			blas64.Scal(s.a, p)
			continue
		}
		q := r.stored(s.q, from, to)
		blas64.Axpy(s.a, q, p)
		blas64.Axpy(s.b, p, q)
	}
}
