package svd_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
)

const epsilonSingle = 0x1p-24

// TestThinSingle: of every shape, also of several panels of reflectors, factors
// in float32 are all of float32, orthonormal and sorted, and give the matrix
// back within what float32 rounds.
func TestThinSingle(t *testing.T) {
	r := random(t)
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, size := range append(sizes(r), []int2{{33, 33}, {70, 65}, {97, 40}, {40, 97}}...) {
				m, n := size[0], size[1]
				a := fill(m, n, shape(r, m, n))
				f, err := solver.ThinSingle(a, m, n)
				if slices.ContainsFunc(a, func(x float64) bool { return math.Abs(x) > math.MaxFloat32 }) {
					if err == nil || !strings.Contains(err.Error(), "Inf in row") {
						t.Fatalf("beyond float32: %v", err)
					}
					continue
				}
				if err != nil {
					t.Fatalf("%d x %d: %v", m, n, err)
				}
				checkSingle(t, f, a)
			}
		})
	}
}

type int2 = [2]int

func checkSingle(t *testing.T, f svd.Factors, a []float64) {
	t.Helper()
	checkSizes(t, f)
	for _, part := range [][]float64{f.U, f.S, f.VT} {
		if slices.ContainsFunc(part, func(x float64) bool { return float64(float32(x)) != x }) {
			t.Fatal("the factors have numbers that float32 has not")
		}
	}
	if f.S[f.K-1] < 0 || !slices.IsSortedFunc(f.S, func(x, y float64) int { return -compare(x, y) }) {
		t.Errorf("S is not descending to 0: %v", f.S)
	}
	limit := 20 * epsilonSingle * max(4, math.Sqrt(float64(max(f.M, f.N))))
	if u, v := svd.Orthogonality(f.U, f.M, f.K), svd.RowOrthogonality(f.VT, f.K, f.N); !(max(u, v) <= limit) {
		t.Errorf("%d x %d: U is %g and VT %g from orthonormal, limit %g", f.M, f.N, u, v, limit)
	}
	product := svd.Reconstruct(f, 0, f.K)
	subnormal := float64(f.K) * math.SmallestNonzeroFloat32
	for i, x := range a {
		if diff := math.Abs(product[i] - float64(float32(x))); !(diff <= limit*f.S[0]+subnormal) {
			t.Fatalf("%d x %d: element %d is %g, want %g (largest singular value %g)", f.M, f.N, i, product[i], x, f.S[0])
		}
	}
}

// TestSingleErrsAsFloat32: factors that are rounded from float64 would give a
// normal matrix back with a relative error of 1e-7. LAPACK's, as torch calls it,
// have 1.2e-6 at 256 x 256, and 98.6 % of 8 times a normal matrix is within
// 1e-5, absolute and relative.
func TestSingleErrsAsFloat32(t *testing.T) {
	r := random(t)
	const n = 256
	a := fill(n, n, func(i, j int) float64 { return float64(float32(8 * r.NormFloat64())) })
	f, err := solver.ThinSingle(a, n, n)
	if err != nil {
		t.Fatal(err)
	}
	var inside, lost, all, largest float64
	for i, x := range svd.Reconstruct(f, 0, n) {
		d := math.Abs(x - a[i])
		if d <= 1e-5+1e-5*math.Abs(a[i]) {
			inside++
		}
		lost, all, largest = lost+d*d, all+a[i]*a[i], max(largest, d)
	}
	share, relative := inside/(n*n), math.Sqrt(lost/all)
	t.Logf("%.2f %% inside, %.2g at most, relative %.2g", 100*share, largest, relative)
	if relative < 7e-7 || relative > 2e-6 || share < .96 || share > .996 || largest < 2e-5 || largest > 2e-4 {
		t.Errorf("%.2f %% inside, %.2g at most, relative %.2g: not as float32 errs", 100*share, largest, relative)
	}
}

// TestSingleRefuses: what rounds to an infinity, and what overflows.
func TestSingleRefuses(t *testing.T) {
	largest := []float64{math.MaxFloat32, math.MaxFloat32, math.MaxFloat32, math.MaxFloat32}
	for want, a := range map[string][]float64{"+Inf in row 1, column 0": {1, 2, 1e39, 4}, "beyond the format: scale the matrix down": largest, "3 numbers for": {1, 2, 3}} {
		if _, err := solver.ThinSingle(a, 2, 2); err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("got %v, want an error with %q", err, want)
		}
	}
	if f, err := solver.ThinSingle(nil, 0, 5); err != nil || f.K != 0 {
		t.Errorf("no rows: %+v, %v", f, err)
	}
}
