package load

import (
	"math"
	"testing"

	"github.com/accelgate/accelgate/internal/testing/testtier"
)

func TestLogarithmAndPowerAgreeWithMath(t *testing.T) {
	t.Parallel()
	r := newRandom(1)
	for i := range 200_000 {
		x := math.Ldexp(uniform(r), i%120-60)
		if got, want := ln(x), math.Log(x); math.Abs(got-want) > 1e-16+1e-15*math.Abs(want) {
			t.Fatalf("ln(%v) is %v, want %v", x, got, want)
		}
		y := (uniform(r) - 0.5) * 1398
		if got, want := exp(y), math.Exp(y); math.Abs(got/want-1) > 1e-13 {
			t.Fatalf("exp(%v) is %v, want %v", y, got, want)
		}
	}
	if ln(1) != 0 || exp(0) != 1 || exp(-1e300) != 0 || exp(math.Inf(-1)) != 0 {
		t.Errorf("ln(1) %v, exp(0) %v, exp(-1e300) %v", ln(1), exp(0), exp(-1e300))
	}
}

func TestUniformNeverReturnsZero(t *testing.T) {
	t.Parallel()
	r := newRandom(2)
	for range 1_000_000 {
		if u := uniform(r); u <= 0 || u > 1 {
			t.Fatalf("uniform returned %v", u)
		}
	}
}

// TestGammaHasItsMoments checks mean, variance and third moment against the
// distribution's own: shape, shape and 2*shape.
func TestGammaHasItsMoments(t *testing.T) {
	if testtier.Race {
		t.Skip("one goroutine; 20 times slower with the race detector")
	}
	t.Parallel()
	const n = 400_000
	for _, shape := range []float64{0.05, 0.3, 0.999, 1, 1.001, 4, 250} {
		r := newRandom(3)
		var mean, variance, third float64
		for range n {
			x := gamma(r, shape)
			mean += x / n
			variance += (x - shape) * (x - shape) / n
			third += (x - shape) * (x - shape) * (x - shape) / n
		}
		if math.Abs(mean/shape-1) > 0.02 || math.Abs(variance/shape-1) > 0.06 || math.Abs(third-2*shape) > 0.25*max(2*shape, math.Pow(shape, 1.5)) {
			t.Errorf("shape %v: mean %v, variance %v, third moment %v, want %v, %v, %v", shape, mean, variance, third, shape, shape, 2*shape)
		}
	}
}
