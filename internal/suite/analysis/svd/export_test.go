package svd

import (
	"gonum.org/v1/gonum/blas"
	"gonum.org/v1/gonum/blas/blas64"
	"math"
)

// Reconstruct returns the M x N matrix that the factors from up to, not
// including, to make: (U[:, from:to] * S[from:to]) VT[from:to, :]. It is the
// whole matrix for 0 and K, and 0 where from equals to. It uses all cores.
//
// It panics where a slice expression would, for 0 <= from <= to <= K does not
// hold or slices too short; [Factors.Check] reports those, and NaN, which
// may get lost in the product.
func Reconstruct(f Factors, from, to int) []float64 {
	product := make([]float64, f.M*f.N)
	s := f.S[from:to]
	if len(s) == 0 || len(product) == 0 {
		return product
	}
	scaled := make([]float64, f.M*len(s))
	for i := range f.M {
		row := f.U[i*f.K+from : i*f.K+to]
		for k, x := range row {
			scaled[i*len(s)+k] = x * s[k]
		}
	}
	blas64.Gemm(blas.NoTrans, blas.NoTrans, 1, general(scaled, f.M, len(s)), general(f.VT[from*f.N:to*f.N], len(s), f.N),
		0, general(product, f.M, f.N))
	return product
}

// Orthogonality returns how far the columns of the rows x columns matrix u are
// from orthonormal: max |UᵀU - I|, 0 for a matrix without columns. It uses all
// cores. A NaN or an infinity in u makes it NaN or infinite. It panics if u has
// another size.
func Orthogonality(u []float64, rows, columns int) float64 {
	return distanceToIdentity(ColumnGram(u, rows, columns), columns)
}

// RowOrthogonality is [Orthogonality] for the rows of v, as those of VT:
// max |VVᵀ - I|.
func RowOrthogonality(v []float64, rows, columns int) float64 {
	return distanceToIdentity(RowGram(v, rows, columns), rows)
}

func distanceToIdentity(g []float64, n int) float64 {
	var distance float64
	for i, x := range g {
		if i/n == i%n {
			x--
		}
		distance = max(distance, math.Abs(x)) // NaN if either is
	}
	return distance
}
