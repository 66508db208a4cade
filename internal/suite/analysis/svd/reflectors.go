package svd

import (
	"math"

	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// reflector returns beta and tau of the reflection I - tau*v*vᵀ that turns x
// into (beta, 0, ...), and replaces x by v, which begins with 1.
func reflector(x []float32) (beta, tau float32) {
	l := blas32.Implementation()
	alpha, rest := x[0], x[1:]
	x[0] = 1
	norm := l.Snrm2(len(rest), rest, 1)
	if norm == 0 {
		return alpha, 0
	}
	// Near the end of float32 numbers have few digits, and 1/x is infinite.
	unit := float32(1)
	if max(norm, float32(math.Abs(float64(alpha)))) < 0x1p-80 {
		unit = 0x1p-64
		alpha /= unit
		scal(1/unit, rest)
		norm = l.Snrm2(len(rest), rest, 1)
	}
	beta = -float32(math.Copysign(math.Hypot(float64(alpha), float64(norm)), float64(alpha)))
	scal(1/(alpha-beta), rest)
	return beta * unit, (beta - alpha) / beta
}

// reflectors is the product Q of the reflections I - tau[i]*v*vᵀ, whose v are
// the columns of a trapezoid of rows x len(tau).
type reflectors struct {
	rows   int
	v, tau []float32
}

// multiply replaces c, which has as many rows, by Qc. The rows of c are stride
// apart.
func (q reflectors) multiply(c []float32, stride, columns int) {
	k := len(q.tau)
	for from := (k - 1) / panel * panel; from >= 0; from -= panel {
		to := min(from+panel, k)
		h := newBlock(trapezoid(q.v[from*k+from:], k, q.rows-from, to-from), q.rows-from, q.tau[from:to])
		h.apply(blas.NoTrans, c[from*stride:], stride, columns)
	}
}

// block is a product of up to panel reflections as I - V*T*Vᵀ, see LAPACK's
// larft: T is upper triangular.
type block struct {
	rows, k int
	v, t    []float32
}

func newBlock(v []float32, rows int, tau []float32) block {
	l, k := blas32.Implementation(), len(tau)
	b := block{rows: rows, k: k, v: v, t: make([]float32, k*k)}
	products := make([]float32, k*k)
	l.Sgemm(blas.Trans, blas.NoTrans, k, k, rows, 1, v, k, v, k, 0, products, k)
	for j, x := range tau {
		b.t[j*k+j] = x
		for i := range j {
			var sum float32
			for p := i; p < j; p++ {
				sum += b.t[i*k+p] * products[p*k+j]
			}
			b.t[i*k+j] = -x * sum
		}
	}
	return b
}

// apply multiplies the columns of c from the left by the product, for
// blas.Trans by its transpose.
func (b block) apply(trans blas.Transpose, c []float32, stride, columns int) {
	l := blas32.Implementation()
	w, tw := make([]float32, b.k*columns), make([]float32, b.k*columns)
	l.Sgemm(blas.Trans, blas.NoTrans, b.k, columns, b.rows, 1, b.v, b.k, c, stride, 0, w, columns)
	l.Sgemm(trans, blas.NoTrans, b.k, columns, b.k, 1, b.t, b.k, w, columns, 0, tw, columns)
	l.Sgemm(blas.NoTrans, blas.NoTrans, b.rows, columns, b.k, -1, b.v, b.k, tw, columns, 1, c, stride)
}

// trapezoid copies what is below the diagonal of the m x n matrix a, whose rows
// are stride apart, with 1 on the diagonal.
func trapezoid(a []float32, stride, m, n int) []float32 {
	t := make([]float32, m*n)
	for i := range m {
		copy(t[i*n:i*n+min(i, n)], a[i*stride:])
		if i < n {
			t[i*n+i] = 1
		}
	}
	return t
}

func widened(x []float32) []float64 {
	wide := make([]float64, len(x))
	for i, v := range x {
		wide[i] = float64(v)
	}
	return wide
}

// narrow rounds x to dst, which is not shorter.
func narrow(dst []float32, x []float64) {
	for i, v := range x {
		dst[i] = float32(v)
	}
}
