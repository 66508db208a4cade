package svd

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas32"
)

// thinSingleTall is thinTall in float32, which gonum's LAPACK lacks.
func thinSingleTall(a []float32, m, n int) (Factors, error) {
	q := factorQR(a, m, n)
	r := make([]float32, n*n)
	for i := range n {
		copy(r[i*n+i:(i+1)*n], a[i*n+i:(i+1)*n])
	}
	f, err := thinSingleSquare(r, n, n)
	if err != nil {
		return Factors{}, err
	}
	u := make([]float32, m*n)
	narrow(u, f.U)
	q.multiply(u, n, n)
	return Factors{M: m, N: n, K: n, U: widened(u), S: f.S, VT: f.VT}, nil
}

// thinSingleSquare is thinSquare in float32.
func thinSingleSquare(a []float32, m, n int) (Factors, error) {
	r := newReduction(a, m, n)
	for from := 0; from < n; from += panel {
		r.reduce(from, min(from+panel, n))
	}
	left, right := make([]float32, m*n), make([]float32, n*n)
	for i := range n {
		left[i*n+i], right[i*n+i] = 1, 1
	}
	columns := reflectors{rows: m, v: trapezoid(a, n, m, n), tau: r.tauQ}
	columns.multiply(left, n, n)
	if n > 1 {
		t := transposed(a[:n*n], n, n)
		rows := reflectors{rows: n - 1, v: trapezoid(t[n:], n, n-1, n-1), tau: r.tauP}
		rows.multiply(right[n+1:], n, n-1)
	}
	b := bidiagonal[float32]{precision: single, d: widened(r.d), e: widened(r.e),
		left: newRows(transposed(left, m, n), m), right: newRows(transposed(right, n, n), n)}
	if err := b.diagonalize(); err != nil {
		return Factors{}, err
	}
	return b.factors(m), nil
}

// factorQR returns Q of A = QR, m >= n, and writes R to the upper triangle of a.
func factorQR(a []float32, m, n int) reflectors {
	l := blas32.Implementation()
	tau, column, w := make([]float32, n), make([]float32, m), make([]float32, panel)
	for from := 0; from < n; from += panel {
		to := min(from+panel, n)
		for i := from; i < to; i++ {
			v := column[:m-i]
			l.Scopy(m-i, a[i*n+i:], n, v, 1)
			var beta float32
			beta, tau[i] = reflector(v)
			if rest := to - i - 1; rest > 0 {
				right := a[i*n+i+1:]
				l.Sgemv(blas.Trans, m-i, rest, 1, right, n, v, 1, 0, w, 1)
				l.Sger(m-i, rest, -tau[i], v, 1, w, 1, right, n)
			}
			l.Scopy(m-i, v, 1, a[i*n+i:], n)
			a[i*n+i] = beta
		}
		if to < n {
			h := newBlock(trapezoid(a[from*n+from:], n, m-from, to-from), m-from, tau[from:to])
			h.apply(blas.Trans, a[from*n+to:], n, n-to)
		}
	}
	return reflectors{rows: m, v: trapezoid(a, n, m, n), tau: tau}
}

// reduction is a matrix on its way to bidiagonal form, as in LAPACK's gebrd. The
// reflectors from the left are gathered in the columns of a, those from the
// right in its rows, one place right of the diagonal. Both have their 1 there.
type reduction struct {
	a          []float32
	m, n       int
	d, e       []float32
	tauQ, tauP []float32
	// x and y, transposed, are what a panel's reflectors subtract: a - V*yᵀ - x*U
	// is the matrix, where V and U are the reflectors. They are panel rows of m
	// and n numbers.
	x, y      []float32
	column, w []float32
}

func newReduction(a []float32, m, n int) *reduction {
	zeros := func(size int) []float32 { return make([]float32, size) }
	return &reduction{a: a, m: m, n: n, d: zeros(n), e: zeros(n - 1), tauQ: zeros(n), tauP: zeros(n - 1),
		x: zeros(panel * m), y: zeros(panel * n), column: zeros(m), w: zeros(panel)}
}

// panel is how many reflectors are made before what is below and right of them
// is brought up to date by products of matrices.
const panel = 32

// reduce brings the rows and columns [from, to) to bidiagonal form.
func (r *reduction) reduce(from, to int) {
	for i := from; i < to; i++ {
		r.left(from, i)
		if i+1 < r.n {
			r.right(from, i)
		}
	}
	if to == r.n {
		return
	}
	l, m, n, k := blas32.Implementation(), r.m, r.n, to-from
	rest := r.a[to*n+to:]
	l.Sgemm(blas.NoTrans, blas.NoTrans, m-to, n-to, k, -1, r.a[to*n+from:], n, r.y[to:], n, 1, rest, n)
	l.Sgemm(blas.Trans, blas.NoTrans, m-to, n-to, k, -1, r.x[to:], m, r.a[from*n+to:], n, 1, rest, n)
}

// left makes column i 0 below the diagonal, and its row of y.
func (r *reduction) left(from, i int) {
	l, m, n, k := blas32.Implementation(), r.m, r.n, i-from
	v := r.column[:m-i]
	l.Scopy(m-i, r.a[i*n+i:], n, v, 1)
	if k > 0 {
		l.Sgemv(blas.NoTrans, m-i, k, -1, r.a[i*n+from:], n, r.y[i:], n, 1, v, 1)
		l.Sgemv(blas.Trans, k, m-i, -1, r.x[i:], m, r.a[from*n+i:], n, 1, v, 1)
	}
	r.d[i], r.tauQ[i] = reflector(v)
	l.Scopy(m-i, v, 1, r.a[i*n+i:], n)
	if i+1 == n {
		return
	}
	y := r.y[k*n+i+1 : (k+1)*n]
	l.Sgemv(blas.Trans, m-i, len(y), 1, r.a[i*n+i+1:], n, v, 1, 0, y, 1)
	if k > 0 {
		l.Sgemv(blas.Trans, m-i, k, 1, r.a[i*n+from:], n, v, 1, 0, r.w, 1)
		l.Sgemv(blas.Trans, k, len(y), -1, r.y[i+1:], n, r.w, 1, 1, y, 1)
		l.Sgemv(blas.NoTrans, k, m-i, 1, r.x[i:], m, v, 1, 0, r.w, 1)
		l.Sgemv(blas.Trans, k, len(y), -1, r.a[from*n+i+1:], n, r.w, 1, 1, y, 1)
	}
	scal(r.tauQ[i], y)
}

// right makes row i 0 beyond the superdiagonal, and its row of x.
func (r *reduction) right(from, i int) {
	l, m, n, k := blas32.Implementation(), r.m, r.n, i-from
	u := r.a[i*n+i+1 : (i+1)*n]
	l.Sgemv(blas.Trans, k+1, len(u), -1, r.y[i+1:], n, r.a[i*n+from:], 1, 1, u, 1)
	if k > 0 {
		l.Sgemv(blas.Trans, k, len(u), -1, r.a[from*n+i+1:], n, r.x[i:], m, 1, u, 1)
	}
	r.e[i], r.tauP[i] = reflector(u)
	x := r.x[k*m+i+1 : (k+1)*m]
	if len(x) == 0 {
		return
	}
	l.Sgemv(blas.NoTrans, len(x), len(u), 1, r.a[(i+1)*n+i+1:], n, u, 1, 0, x, 1)
	l.Sgemv(blas.NoTrans, k+1, len(u), 1, r.y[i+1:], n, u, 1, 0, r.w, 1)
	l.Sgemv(blas.NoTrans, len(x), k+1, -1, r.a[(i+1)*n+from:], n, r.w, 1, 1, x, 1)
	if k > 0 {
		l.Sgemv(blas.NoTrans, k, len(u), 1, r.a[from*n+i+1:], n, u, 1, 0, r.w, 1)
		l.Sgemv(blas.Trans, k, len(x), -1, r.x[i+1:], m, r.w, 1, 1, x, 1)
	}
	scal(r.tauP[i], x)
}
