package evaluator

import (
	"math"
	"testing"

	"gonum.org/v1/gonum/stat/distuv"
)

func TestChiSquareTailAgreesWithGonum(t *testing.T) {
	t.Parallel()
	for _, df := range []float64{1, 2, 3, 10, 99, 1000, 12_345, 128_255} {
		for z := -6.0; z <= 12; z += 0.25 {
			x := df + z*math.Sqrt(2*df)
			if x <= 0 {
				continue
			}
			got, want := chiSquareTail(x, df), distuv.ChiSquared{K: df}.Survival(x)
			if math.Abs(got-want) > 1e-8*want+1e-300 && math.Abs(got-want) > 1e-12 {
				t.Errorf("tail of %v with %v degrees of freedom is %v, want %v", x, df, got, want)
			}
		}
	}
	for _, c := range []struct{ x, df, want float64 }{
		{0, 3, 1}, {-1, 3, 1}, {5, 0, 1}, {math.Inf(1), 3, 0}, {1e300, 3, 0}, {2 * math.Ln2, 2, 0.5},
	} {
		if got := chiSquareTail(c.x, c.df); math.Abs(got-c.want) > 1e-15 {
			t.Errorf("tail of %v with %v degrees of freedom is %v, want %v", c.x, c.df, got, c.want)
		}
	}
}
