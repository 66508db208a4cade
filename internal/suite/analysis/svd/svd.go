// Package svd computes thin singular value decompositions of dense matrices in
// float64 or float32, and the products that judge one: reconstruction and
// orthogonality.
//
// A matrix is a slice in row-major order without padding. The solver in Go
// needs nothing else: Householder bidiagonalization by gonum's LAPACK, then
// implicit QR iterations whose plane rotations are gathered and applied to
// contiguous rows, many at a time ([Go] says how).
//
// It is not a general linear algebra library: no partial decompositions, no
// complex matrices.
package svd

import (
	"errors"
	"fmt"
	"math"
)

// Factors is a thin singular value decomposition A = U diag(S) VT of an M x N
// matrix with K = min(M, N): U is M x K, VT is K x N, both row-major. S is
// descending and not negative. The columns of U and the rows of VT are
// orthonormal, also where S is 0.
type Factors struct {
	M, N, K  int
	U, S, VT []float64
}

// Solver decomposes matrices. It is safe for concurrent use.
type Solver interface {
	// Name is the implementation's, for reports: "go".
	Name() string
	// Thin decomposes the m x n matrix a, which is row-major and is not
	// changed. A matrix with a NaN or an infinity is an error, and so is one
	// whose singular values overflow or do not converge.
	Thin(a []float64, m, n int) (Factors, error)
	// ThinSingle rounds a to float32 and decomposes it in float32: each number
	// of the factors is one of float32, and the errors are of its size.
	ThinSingle(a []float64, m, n int) (Factors, error)
}

// check reports whether a is an m x n matrix of finite numbers.
func check(a []float64, m, n int) error {
	if m < 0 || n < 0 {
		return fmt.Errorf("a matrix of %d x %d: give sizes of 0 or more", m, n)
	}
	// Not m*n, which may overflow.
	if empty := m == 0 || n == 0; empty && len(a) != 0 || !empty && (len(a)%n != 0 || len(a)/n != m) {
		return fmt.Errorf("%d numbers for a matrix of %d x %d: give rows times columns of them", len(a), m, n)
	}
	for i, x := range a {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			return fmt.Errorf("%v in row %d, column %d: give finite numbers only", x, i/n, i%n)
		}
	}
	return nil
}

// thinner decomposes m x n matrices that are not empty and have been scaled,
// and may overwrite them.
type thinner[F float] func(a []F, m, n int) (Factors, error)

// guard hands thin a checked copy of a, scaled if it has numbers that are
// beyond 2^limit or all below 2^-limit.
func guard(a []float64, m, n, limit int, thin thinner[float64]) (Factors, error) {
	if err := check(a, m, n); err != nil {
		return Factors{}, err
	}
	if m == 0 || n == 0 {
		return Factors{M: m, N: n, U: []float64{}, S: []float64{}, VT: []float64{}}, nil
	}
	scaled, exponent := toUnit(a, limit)
	f, err := thin(scaled, m, n)
	if err != nil {
		return Factors{}, fmt.Errorf("decompose %d x %d: %w", m, n, err)
	}
	shift(f.S, exponent)
	if math.IsInf(f.S[0], 0) {
		return Factors{}, fmt.Errorf("decompose %d x %d: %w", m, n, errOverflow)
	}
	return f, nil
}

// guardSingle is guard for a thinner in float32.
func guardSingle(a []float64, m, n int, thin thinner[float32]) (Factors, error) {
	rounded := make([]float32, len(a))
	narrow(rounded, a)
	f, err := guard(widened(rounded), m, n, extremeSingle, func(scaled []float64, m, n int) (Factors, error) {
		narrow(rounded, scaled)
		return thin(rounded, m, n)
	})
	for i, s := range f.S {
		f.S[i] = float64(float32(s))
	}
	if err == nil && len(f.S) > 0 && math.IsInf(f.S[0], 0) {
		return Factors{}, fmt.Errorf("decompose %d x %d: %w", m, n, errOverflow)
	}
	return f, err
}

var errOverflow = errors.New("the largest singular value is beyond the format: scale the matrix down")

// extreme is the exponent of two beyond which squares of numbers, and sums of
// them, get near the ends of float64. extremeSingle is that of float32.
const extreme, extremeSingle = 300, 40

// toUnit returns a copy of a times 2^-exponent. The exponent is 0 unless the
// largest number is beyond limit; it is then brought to [0.5, 1). A power of two
// rounds nothing but what is negligible beside the largest number.
func toUnit(a []float64, limit int) (scaled []float64, exponent int) {
	var largest float64
	for _, x := range a {
		largest = max(largest, math.Abs(x))
	}
	if _, e := math.Frexp(largest); e < -limit || e > limit {
		exponent = e
	}
	scaled = append(scaled, a...)
	shift(scaled, -exponent)
	return scaled, exponent
}

// shift multiplies x by 2^exponent, in two steps because 2^exponent itself may
// be beyond float64.
func shift(x []float64, exponent int) {
	if exponent == 0 {
		return
	}
	first := math.Ldexp(1, exponent/2)
	second := math.Ldexp(1, exponent-exponent/2)
	for i := range x {
		x[i] = x[i] * first * second
	}
}
