package svd

import (
	"sync"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/lapack"
	"gonum.org/v1/gonum/lapack/gonum"
)

// Go returns the solver in Go, which works everywhere and uses all cores.
//
// A wide matrix is transposed, a tall one reduced to its R first (QR
// decomposition). What remains becomes bidiagonal by Householder reflections,
// and diagonal by implicit QR iterations; see J. Demmel, W. Kahan, "Accurate
// singular values of bidiagonal matrices" (1990). The error of a singular
// value is of the order of eps*max(m, n) times the largest one.
//
// Divide and conquer would need fewer operations and much more code; with
// rotations in blocks the iterations take about as long as all the rest.
func Go() Solver { return goSolver{} }

type goSolver struct{}

func (goSolver) Name() string { return "go" }

func (goSolver) Thin(a []float64, m, n int) (Factors, error) {
	return guard(a, m, n, extreme, func(a []float64, m, n int) (Factors, error) {
		return thin(a, m, n, thinTall, thinSquare)
	})
}

func (goSolver) ThinSingle(a []float64, m, n int) (Factors, error) {
	return guardSingle(a, m, n, func(a []float32, m, n int) (Factors, error) {
		return thin(a, m, n, thinSingleTall, thinSingleSquare)
	})
}

// tall is the ratio of rows to columns from which QR first is less work, the
// one of LAPACK's dgesvd (ilaenv, ispec 6).
const tall = 1.6

func thin[F float](a []F, m, n int, tallest, square thinner[F]) (Factors, error) {
	switch {
	case m < n:
		f, err := thin(transposed(a, m, n), n, m, tallest, square)
		if err != nil {
			return Factors{}, err
		}
		return Factors{M: m, N: n, K: m, U: transposed(f.VT, m, m), S: f.S, VT: transposed(f.U, n, m)}, nil
	case float64(m) >= tall*float64(n):
		return tallest(a, m, n)
	default:
		return square(a, m, n)
	}
}

// thinTall decomposes A = QR, then R = U S VT, and returns (QU) S VT. It
// overwrites a.
func thinTall(a []float64, m, n int) (Factors, error) {
	var l gonum.Implementation
	tau := make([]float64, n)
	withWork(func(work []float64, length int) { l.Dgeqrf(m, n, a, n, tau, work, length) })
	r := make([]float64, n*n)
	l.Dlacpy(blas.Upper, n, n, a, n, r, n)
	f, err := thinSquare(r, n, n)
	if err != nil {
		return Factors{}, err
	}
	u := make([]float64, m*n)
	copy(u, f.U)
	withWork(func(work []float64, length int) {
		l.Dormqr(blas.Left, blas.NoTrans, m, n, n, a, n, tau, u, n, work, length)
	})
	return Factors{M: m, N: n, K: n, U: u, S: f.S, VT: f.VT}, nil
}

// thinSquare decomposes A = Q B PT with B bidiagonal, then B. It needs m >= n
// and overwrites a.
func thinSquare(a []float64, m, n int) (Factors, error) {
	var l gonum.Implementation
	b := bidiagonal[float64]{precision: double, d: make([]float64, n), e: make([]float64, n-1)}
	tauQ, tauP := make([]float64, n), make([]float64, n)
	withWork(func(work []float64, length int) { l.Dgebrd(m, n, a, n, b.d, b.e, tauQ, tauP, work, length) })

	pt := append([]float64(nil), a[:n*n]...)
	var group sync.WaitGroup
	group.Go(func() {
		withWork(func(work []float64, length int) { l.Dorgbr(lapack.GeneratePT, n, n, n, pt, n, tauP, work, length) })
	})
	withWork(func(work []float64, length int) { l.Dorgbr(lapack.GenerateQ, m, n, n, a, n, tauQ, work, length) })
	group.Wait()

	b.left, b.right = newRows(transposed(a, m, n), m), newRows(pt, n)
	if err := b.diagonalize(); err != nil {
		return Factors{}, err
	}
	return b.factors(m), nil
}

// withWork calls a LAPACK routine twice: to ask how much work space makes it
// fastest, and to do its work.
func withWork(routine func(work []float64, length int)) {
	size := make([]float64, 1)
	routine(size, -1)
	work := make([]float64, max(1, int(size[0])))
	routine(work, len(work))
}

// transposed returns the n x m transpose of the m x n matrix a, made in tiles
// so that no cache line is fetched again for each of its numbers.
func transposed[F float](a []F, m, n int) []F {
	const tile = 16
	t := make([]F, len(a))
	for i0 := 0; i0 < m; i0 += tile {
		for j0 := 0; j0 < n; j0 += tile {
			for j := j0; j < min(j0+tile, n); j++ {
				for i := i0; i < min(i0+tile, m); i++ {
					t[j*m+i] = a[i*n+j]
				}
			}
		}
	}
	return t
}
