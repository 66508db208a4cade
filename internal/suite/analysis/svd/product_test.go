package svd_test

import (
	"math"
	"strings"
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

func TestCheckRefuses(t *testing.T) {
	good := func() svd.Factors {
		return svd.Factors{M: 2, N: 3, K: 2, U: make([]float64, 4), S: make([]float64, 2), VT: make([]float64, 6)}
	}
	if err := good().Check(); err != nil {
		t.Fatal(err)
	}
	for want, change := range map[string]func(f *svd.Factors){
		"3 singular values":       func(f *svd.Factors) { f.K = 3 },
		"S has 1 values":          func(f *svd.Factors) { f.S = f.S[:1] },
		"factor U: 3 numbers":     func(f *svd.Factors) { f.U = f.U[:3] },
		"factor VT: 5 numbers":    func(f *svd.Factors) { f.VT = f.VT[:5] },
		"factor S: NaN in row 1":  func(f *svd.Factors) { f.S[1] = math.NaN() },
		"factor VT: +Inf in row ": func(f *svd.Factors) { f.VT[5] = math.Inf(1) },
	} {
		f := good()
		change(&f)
		if err := f.Check(); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
}
