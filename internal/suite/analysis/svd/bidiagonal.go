package svd

import (
	"cmp"
	"errors"
	"math"
	"slices"

	"gonum.org/v1/gonum/lapack/gonum"
)

// bidiagonal is an upper bidiagonal matrix with diagonal d and superdiagonal e,
// on its way to become diagonal. What rotates its rows from the left also
// rotates the rows of left, and so for right: transpose(left) * B * right stays
// the same matrix.
type bidiagonal[F float] struct {
	d, e        []float64
	left, right *rows[F]
	group       group
	precision   precision
	negligible  float64 // the size of e that is 0
}

// sweepsPerValue is how many sweeps of full length a singular value may take on
// average, as in LAPACK's dbdsqr; about 2 are usual.
const sweepsPerValue = 6

var errConvergence = errors.New("the singular values do not converge: scale the matrix")

// diagonalize makes e 0.
func (b *bidiagonal[F]) diagonalize() error {
	n := len(b.d)
	b.negligible = b.threshold()
	budget := sweepsPerValue * n * n
	w := window{precision: b.precision}
	for last := n - 1; last > 0; {
		first := b.block(last)
		switch last - first {
		case 0:
			last--
			continue
		case 1:
			b.solve2(first)
			last--
			continue
		}
		if budget -= last - first; budget < 0 {
			return errConvergence
		}
		w.load(b.d, b.e, first, last)
		if !w.deflate() {
			b.add(w.iterate(n))
		}
		w.store(b.d, b.e)
	}
	b.flush()
	return nil
}

// block returns the first row of the block that ends with row last and has no
// negligible e inside.
func (b *bidiagonal[F]) block(last int) int {
	for i := last; i > 0; i-- {
		if math.Abs(b.e[i-1]) <= b.negligible {
			b.e[i-1] = 0
			return i
		}
	}
	return 0
}

// threshold returns a size of e that changes no singular value by more than
// tolerance, relative to itself: tolerance times a lower bound of the smallest
// one, see Demmel and Kahan, section 4.
func (b *bidiagonal[F]) threshold() float64 {
	mu := math.Abs(b.d[0])
	lowest := mu
	for i, e := range b.e {
		if lowest == 0 {
			break
		}
		mu = math.Abs(b.d[i+1]) * (mu / (mu + math.Abs(e)))
		lowest = min(lowest, mu)
	}
	n := float64(len(b.d))
	return max(b.precision.tolerance*lowest/math.Sqrt(n), sweepsPerValue*n*n*b.precision.smallest)
}

// solve2 diagonalizes the 2 x 2 block that begins with row i.
func (b *bidiagonal[F]) solve2(i int) {
	var l gonum.Implementation
	low, high, sr, cr, sl, cl := l.Dlasv2(b.d[i], b.e[i], b.d[i+1])
	b.d[i], b.e[i], b.d[i+1] = high, 0, low
	b.add(sweep{first: i, step: 1, left: []rotation{{cl, sl}}, right: []rotation{{cr, sr}}})
}

// add gathers a sweep, and applies what is gathered when it is enough or s
// goes the other way.
func (b *bidiagonal[F]) add(s sweep) {
	g := &b.group
	if len(g.sweeps) > 0 && g.sweeps[0].step != s.step || len(g.sweeps) == groupSweeps {
		b.flush()
	}
	g.sweeps = append(g.sweeps, s)
}

func (b *bidiagonal[F]) flush() {
	b.group.waves(func(s *sweep, k int) {
		i, j := s.first+k*s.step, s.first+(k+1)*s.step
		b.left.rotate(i, j, s.left[k])
		b.right.rotate(i, j, s.right[k])
	})
	apply(b.left, b.right)
	b.group.sweeps = b.group.sweeps[:0]
}

// factors returns the decomposition that the diagonal matrix, left (transposed,
// m columns) and right are, with the singular values made positive and sorted.
func (b *bidiagonal[F]) factors(m int) Factors {
	n := len(b.d)
	f := Factors{M: m, N: n, K: n, U: make([]float64, m*n), S: make([]float64, n), VT: make([]float64, n*n)}
	order := make([]int, n)
	for i := range order {
		order[i] = i
	}
	slices.SortStableFunc(order, func(i, j int) int { return cmp.Compare(math.Abs(b.d[j]), math.Abs(b.d[i])) })
	ut := make([]float64, m*n)
	for k, i := range order {
		f.S[k] = math.Abs(b.d[i])
		b.left.copyRow(ut[k*m:(k+1)*m], i, 1)
		b.right.copyRow(f.VT[k*n:(k+1)*n], i, math.Copysign(1, b.d[i]))
	}
	f.U = transposed(ut, n, m)
	return f
}
