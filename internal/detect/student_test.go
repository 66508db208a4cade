package detect

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

// TestStudentIsGonums: not a bit differs, so that no verdict does.
func TestStudentIsGonums(t *testing.T) {
	for _, df := range []float64{1, 1.5, 2, 3, 4.25, 9, 19, 30, 120, 1e4, 1e9} {
		d := distuv.StudentsT{Sigma: 1, Nu: df}
		for _, x := range []float64{-1e300, -40, -3, -1, -1e-9, 0, 1e-300, 0.1, 0.5, 1, 2, 2.776, 5, 12, 1e3, 1e200, math.Inf(1), math.NaN()} {
			if got, want := StudentTail(x, df), d.Survival(x); math.Float64bits(got) != math.Float64bits(want) && !(math.IsNaN(got) && math.IsNaN(want)) {
				t.Errorf("StudentTail(%g, %g) = %v, want %v", x, df, got, want)
			}
		}
		for _, p := range []float64{0, 1e-12, 1e-4, 0.005, 0.025, 0.05, 0.1, 0.25, 0.4999, 0.5, 0.5001, 0.75, 0.8, 0.9, 0.95, 0.975, 0.99, 0.995, 0.9999, 1} {
			if got, want := invertTail(p, df), d.Quantile(p); math.Float64bits(got) != math.Float64bits(want) {
				t.Errorf("invertTail(%g, %g) = %v, want %v", p, df, got, want)
			}
		}
	}
}
