package svd

import (
	"gonum.org/v1/gonum/blas/blas32"
	"gonum.org/v1/gonum/blas/blas64"
)

// float is the format that singular vectors are computed in.
type float interface{ float32 | float64 }

// precision is what the iterations on the few numbers of a bidiagonal matrix,
// which are made in float64, have to reach for vectors in a format.
type precision struct {
	epsilon float64 // half the distance from 1 to the next number
	// tolerance is what relative error of a singular value a small e may cost, as
	// in LAPACK's dbdsqr and sbdsqr: eps^(-1/8), but 10 at least, times eps.
	tolerance float64
	smallest  float64 // the smallest number with all its digits
}

var (
	double = precision{epsilon: 0x1p-53, tolerance: 98.7 * 0x1p-53, smallest: 0x1p-1022}
	single = precision{epsilon: 0x1p-24, tolerance: 10 * 0x1p-24, smallest: 0x1p-126}
)

// axpy adds a*x to y, which is as long.
func axpy[F float](a F, x, y []F) {
	switch x := any(x).(type) {
	case []float32:
		blas32.Implementation().Saxpy(len(x), float32(a), x, 1, any(y).([]float32), 1)
	case []float64:
		blas64.Implementation().Daxpy(len(x), float64(a), x, 1, any(y).([]float64), 1)
	}
}

// scal multiplies x by a.
func scal[F float](a F, x []F) {
	switch x := any(x).(type) {
	case []float32:
		blas32.Implementation().Sscal(len(x), float32(a), x, 1)
	case []float64:
		blas64.Implementation().Dscal(len(x), float64(a), x, 1)
	}
}
