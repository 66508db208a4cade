package svd_test

import (
	"fmt"
	"math"
	"math/bits"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"gonum.org/v1/gonum/mat"

	"github.com/accelgate/accelgate/internal/suite/analysis/svd"
	"github.com/accelgate/accelgate/internal/testing/testtier"
)

const epsilon = 0x1p-53

var solver = svd.Go()

func random(t testing.TB) *rand.Rand {
	t.Helper()
	return rand.New(rand.NewPCG(testtier.Seed(t), 0))
}

func TestThin(t *testing.T) {
	r := random(t)
	for name, shape := range shapes {
		t.Run(name, func(t *testing.T) {
			for _, size := range sizes(r) {
				m, n := size[0], size[1]
				a := fill(m, n, shape(r, m, n))
				f, err := solver.Thin(a, m, n)
				if err != nil {
					t.Fatalf("%d x %d: %v", m, n, err)
				}
				checkFactors(t, f, a, m, n)
				compareValues(t, f.S, a, m, n)
			}
		})
	}
}

// checkSizes demands as many numbers as M, N and K say, all finite.
func checkSizes(t *testing.T, f svd.Factors) {
	t.Helper()
	if f.K != min(f.M, f.N) || len(f.S) != f.K || len(f.U) != f.M*f.K || len(f.VT) != f.K*f.N {
		t.Fatalf("%d x %d has %d values, %d numbers in U and %d in VT", f.M, f.N, len(f.S), len(f.U), len(f.VT))
	}
	for _, x := range slices.Concat(f.U, f.S, f.VT) {
		if math.IsNaN(x) || math.IsInf(x, 0) {
			t.Fatalf("a factor of %d x %d has %g", f.M, f.N, x)
		}
	}
}

// checkFactors checks everything that defines a decomposition.
func checkFactors(t *testing.T, f svd.Factors, a []float64, m, n int) {
	t.Helper()
	if f.M != m || f.N != n {
		t.Fatalf("factors of %d x %d, want %d x %d", f.M, f.N, m, n)
	}
	checkSizes(t, f)
	if f.S[f.K-1] < 0 || !slices.IsSortedFunc(f.S, func(x, y float64) int { return -compare(x, y) }) {
		t.Errorf("%d x %d: S is not descending to 0: %v", m, n, f.S)
	}
	limit := 20 * epsilon * float64(max(m, n))
	if got := svd.Orthogonality(f.U, m, f.K); !(got <= limit) {
		t.Errorf("%d x %d: U is %g from orthonormal, limit %g", m, n, got, limit)
	}
	if got := svd.RowOrthogonality(f.VT, f.K, n); !(got <= limit) {
		t.Errorf("%d x %d: VT is %g from orthonormal, limit %g", m, n, got, limit)
	}
	product := svd.Reconstruct(f, 0, f.K)
	subnormal := float64(f.K) * math.SmallestNonzeroFloat64 // what rounding costs there
	for i, x := range a {
		if diff := math.Abs(product[i] - x); !(diff <= limit*f.S[0]+subnormal) {
			t.Fatalf("%d x %d: element %d is %g, want %g (largest singular value %g)", m, n, i, product[i], x, f.S[0])
		}
	}
}

func compare(x, y float64) int {
	switch {
	case x < y:
		return -1
	case x > y:
		return 1
	}
	return 0
}

// compareValues holds the values to gonum's.
func compareValues(t *testing.T, got, a []float64, m, n int) {
	t.Helper()
	largest := 0.0
	for _, x := range a {
		largest = max(largest, math.Abs(x))
	}
	// gonum does not scale: it fails on matrices this small or large.
	if largest > 0 && (largest < 1e-140 || largest > 1e140) {
		return
	}
	for i, want := range gonumValues(t, a, m, n) {
		if diff := math.Abs(got[i] - want); !(diff <= 1e-12*got[0]) {
			t.Fatalf("%d x %d: value %d is %g, gonum's is %g", m, n, i, got[i], want)
		}
	}
}

func gonumValues(t *testing.T, a []float64, m, n int) []float64 {
	t.Helper()
	var other mat.SVD
	if !other.Factorize(mat.NewDense(m, n, slices.Clone(a)), mat.SVDNone) {
		t.Fatalf("%d x %d: gonum does not converge", m, n)
	}
	return other.Values(nil)
}

// Chosen singular values come back, with multiplicity, from a matrix whose
// singular vectors are random.
func TestThinFindsChosenValues(t *testing.T) {
	r := random(t)
	const m, n = 70, 50
	normal := func(i, j int) float64 { return r.NormFloat64() }
	for name, value := range map[string]func(i int) float64{
		"all the same":     func(i int) float64 { return 2 },
		"in five clusters": func(i int) float64 { return float64(5 - i/10) },
		"near clusters":    func(i int) float64 { return float64(5-i/10) - float64(i)*1e-15 },
		"condition 1e15":   func(i int) float64 { return math.Pow(10, -15*float64(i)/(n-1)) },
		"rank 17":          func(i int) float64 { return max(0, float64(17-i)) },
		"one far off":      func(i int) float64 { return max(1e-8, 1-float64(i)) },
	} {
		t.Run(name, func(t *testing.T) {
			f, err := solver.Thin(fill(m, n, normal), m, n)
			if err != nil {
				t.Fatal(err)
			}
			want := make([]float64, n)
			for i := range want {
				want[i] = value(i)
			}
			f.S = want
			a := svd.Reconstruct(f, 0, n)
			got, err := solver.Thin(a, m, n)
			if err != nil {
				t.Fatal(err)
			}
			checkFactors(t, got, a, m, n)
			for i := range want {
				if diff := math.Abs(got.S[i] - want[i]); diff > 1e-13*want[0] {
					t.Errorf("value %d is %g, want %g", i, got.S[i], want[i])
				}
			}
		})
	}
}

// A bidiagonal matrix is not changed before the iterations, so small values
// keep their relative accuracy: the sum of their logarithms is that of the
// diagonal.
func TestSmallValuesOfBidiagonalMatricesAreAccurate(t *testing.T) {
	const n = 40
	for name, at := range map[string]func(i int) float64{
		"down":      func(i int) float64 { return math.Pow(10, -2*float64(i)) },
		"up":        func(i int) float64 { return math.Pow(10, 2*float64(i-n)) },
		"and again": func(i int) float64 { return math.Pow(10, -3*math.Abs(float64(i)-n/2)) },
	} {
		t.Run(name, func(t *testing.T) {
			a := fill(n, n, func(i, j int) float64 {
				if j != i && j != i+1 {
					return 0
				}
				return at(j)
			})
			f, err := svd.Go().Thin(a, n, n)
			if err != nil {
				t.Fatal(err)
			}
			checkFactors(t, f, a, n, n)
			var got, want float64
			for i, s := range f.S {
				got += math.Log(s)
				want += math.Log(at(i))
			}
			if diff := math.Abs(got - want); !(diff < 1e-11) {
				t.Errorf("the values' product is off by a factor of 1 + %g", diff)
			}
			for i, want := range gonumValues(t, a, n, n) {
				if diff := math.Abs(f.S[i]/want - 1); diff > 1e-12 {
					t.Errorf("value %d is %g, gonum's is %g", i, f.S[i], want)
				}
			}
		})
	}
}

// Large enough for several strips of columns and groups of sweeps in both
// directions.
func TestThinInStrips(t *testing.T) {
	r := random(t)
	for _, size := range [][2]int{{330, 280}, {530, 90}} {
		m, n := size[0], size[1]
		for _, grade := range []float64{0, 0.05, -0.05} {
			a := fill(m, n, func(i, j int) float64 { return r.NormFloat64() * math.Exp(grade*float64(i+j)) })
			f, err := solver.Thin(a, m, n)
			if err != nil {
				t.Fatal(err)
			}
			checkFactors(t, f, a, m, n)
			compareValues(t, f.S, a, m, n)
		}
	}
}

func TestThinKeepsItsInputAndIsConcurrent(t *testing.T) {
	r := random(t)
	const n = 50
	a := fill(n, n, func(i, j int) float64 { return r.NormFloat64() })
	before := slices.Clone(a)
	values := make([][]float64, 4)
	var group sync.WaitGroup
	for i := range values {
		group.Go(func() {
			f, err := solver.Thin(a, n, n)
			if err != nil {
				t.Error(err)
			}
			values[i] = f.S
		})
	}
	group.Wait()
	for i := range values {
		for k, s := range values[i] {
			if math.Abs(s-values[0][k]) > 1e-13*values[0][0] {
				t.Errorf("value %d is %g in one call and %g in another", k, values[0][k], s)
			}
		}
	}
	if !slices.Equal(a, before) {
		t.Error("the matrix was changed")
	}
}

func TestEmptyMatrices(t *testing.T) {
	for _, size := range [][2]int{{0, 0}, {0, 5}, {5, 0}} {
		f, err := solver.Thin(nil, size[0], size[1])
		if err != nil {
			t.Fatal(err)
		}
		checkSizes(t, f)
		if f.M != size[0] || f.N != size[1] || f.K != 0 {
			t.Errorf("%v gives %+v", size, f)
		}
		if product := svd.Reconstruct(f, 0, 0); len(product) != 0 {
			t.Errorf("%v reconstructs to %v", size, product)
		}
	}
}

func TestThinRefuses(t *testing.T) {
	four := func(x float64) []float64 { return []float64{1, 2, x, 4} }
	largest := four(math.MaxFloat64)
	for i := range largest {
		largest[i] = math.MaxFloat64
	}
	for _, test := range []struct {
		a    []float64
		m, n int
		want string
	}{
		{four(math.NaN()), 2, 2, "NaN in row 1, column 0"},
		{four(math.Inf(-1)), 2, 2, "-Inf in row 1, column 0"},
		{four(3), 2, 3, "4 numbers for a matrix of 2 x 3"},
		{four(3), 0, 3, "4 numbers for a matrix of 0 x 3"},
		{four(3), -2, -2, "sizes of 0 or more"},
		{nil, 1 << (bits.UintSize - 2), 4, "0 numbers for a matrix of"},
		{largest, 2, 2, "scale the matrix down"},
	} {
		_, err := solver.Thin(test.a, test.m, test.n)
		if err == nil || !strings.Contains(err.Error(), test.want) {
			t.Errorf("got %v, want an error with %q", err, test.want)
		}
	}
}

func ExampleGo() {
	f, err := svd.Go().Thin([]float64{3, 0, 0, -2, 0, 0}, 3, 2)
	if err != nil {
		panic(err)
	}
	fmt.Printf("%d x %d: %.0f\n", f.M, f.N, f.S)
	// Output: 3 x 2: [3 2]
}
