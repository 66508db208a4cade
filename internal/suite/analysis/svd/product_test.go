package svd_test

import (
	"math"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
)

func TestReconstructIsTheSumOfItsParts(t *testing.T) {
	r := random(t)
	const m, n, k = 23, 17, 17
	f := svd.Factors{M: m, N: n, K: k, U: make([]float64, m*k), S: make([]float64, k), VT: make([]float64, k*n)}
	for _, x := range [][]float64{f.U, f.S, f.VT} {
		for i := range x {
			x[i] = r.NormFloat64()
		}
	}
	for _, part := range [][2]int{{0, k}, {0, 0}, {0, 8}, {8, k}, {16, k}, {k, k}} {
		got := svd.Reconstruct(f, part[0], part[1])
		for i := range m {
			for j := range n {
				var want float64
				for l := part[0]; l < part[1]; l++ {
					want += f.U[i*k+l] * f.S[l] * f.VT[l*n+j]
				}
				if math.Abs(got[i*n+j]-want) > 1e-13 {
					t.Fatalf("%v: element %d, %d is %g, want %g", part, i, j, got[i*n+j], want)
				}
			}
		}
	}
}

func TestOrthogonality(t *testing.T) {
	const c, s = 0.6, 0.8
	for _, test := range []struct {
		name            string
		u               []float64
		rows, columns   int
		columnwise, row float64
	}{
		{"rotation", []float64{c, s, -s, c}, 2, 2, 0, 0},
		{"column", []float64{c, s}, 2, 1, 0, s * s},
		{"row", []float64{c, s}, 1, 2, s * s, 0},
		{"longer", []float64{2, 0, 0, 1}, 2, 2, 3, 3},
		{"oblique", []float64{1, 0.25, 0, 1}, 2, 2, 0.25, 0.25},
		{"zero", make([]float64, 6), 3, 2, 1, 1},
		{"no columns", nil, 3, 0, 0, 1},
		{"nothing", nil, 0, 0, 0, 0},
	} {
		got, row := svd.Orthogonality(test.u, test.rows, test.columns), svd.RowOrthogonality(test.u, test.rows, test.columns)
		near := func(x, y float64) bool { return x == y || math.Abs(x-y) < 1e-15 }
		if !near(got, test.columnwise) || !near(row, test.row) {
			t.Errorf("%s: got %g and %g, want %g and %g", test.name, got, row, test.columnwise, test.row)
		}
	}
	for i := range 4 {
		for _, bad := range []float64{math.NaN(), math.Inf(1)} {
			u := []float64{1, 0, 0, 1}
			u[i] = bad
			if got, row := svd.Orthogonality(u, 2, 2), svd.RowOrthogonality(u, 2, 2); got < math.Inf(1) || row < math.Inf(1) {
				t.Errorf("%g in place %d: got %g and %g", bad, i, got, row)
			}
		}
	}
}
