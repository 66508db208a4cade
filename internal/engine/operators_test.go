package engine

import (
	"fmt"
	"math"
	"slices"
	"testing"
)

// tolerance of single operators, relative to the largest result: float32 has
// 6e-8, and the longest sums here have some hundred terms.
const tolerance = 2e-6

func TestProducts(t *testing.T) {
	for _, size := range []struct{ rows, in, out int }{
		{1, 16, 8}, {3, 16, 8}, {4, 32, 24}, {7, 48, 40}, {33, 704, 72}, {8, 128, 704},
	} {
		x, w := normal(size.rows*size.in), normal(size.in*size.out)
		want := make([]float64, 0, size.rows*size.out)
		for row := range slices.Chunk(doubles(x), size.in) {
			want = append(want, refMul(row, doubles(w), size.out)...)
		}
		plain := make([]float32, len(want))
		newScalar(w, size.in, size.out).mul(plain, x)
		closeTo(t, fmt.Sprintf("scalar %v", size), plain, want, tolerance)
		for _, threads := range []team{1, 2, 3, 100} {
			y := make([]float32, len(want))
			newBlocked(w, size.in, size.out, threads).mul(y, x)
			if !slices.Equal(y, plain) {
				t.Errorf("blocked %v on %d threads differs from scalar", size, threads)
			}
		}
	}
}

func TestRMSNorm(t *testing.T) {
	for _, scale := range []float32{1, 1e-3, 1e4} {
		x, gain, y := normal(352), normal(704)[:352], make([]float32, 352)
		for i := range x {
			x[i] *= scale
		}
		rmsNorm(y, x, gain)
		closeTo(t, "rmsNorm", y, refNorm(doubles(x), doubles(gain)), tolerance)
	}
}

func TestSwiGLU(t *testing.T) {
	x, y := normal(2048), make([]float32, 1024)
	for i := range x {
		x[i] *= 20 // far into both ends of the sigmoid
	}
	swiGLU(y, x)
	closeTo(t, "swiGLU", y, refSwiGLU(doubles(x)), tolerance)
	swiGLU(y[:2], []float32{-1e30, 1e30, 1, 1})
	if y[0] != 0 || y[1] != 1e30 {
		t.Errorf("silu of -1e30 and 1e30 is %v, want 0 and 1e30", y[:2])
	}
}

func TestAttend(t *testing.T) {
	const width, stride, at = 32, 96, 64
	for _, n := range []int{1, 2, 3, 129} {
		query, keys, values := normal(width), normal(n*stride), normal(2 * n * stride)[n*stride:]
		y := make([]float32, width)
		attend(y, query, keys[at:], values[at:], stride, make([]float32, n))
		want := refAttend(doubles(query), slices.Collect(slices.Chunk(doubles(keys), stride)),
			slices.Collect(slices.Chunk(doubles(values), stride)), at)
		closeTo(t, fmt.Sprintf("attend to %d", n), y, want, tolerance)
	}
}

func TestSoftmax(t *testing.T) {
	scores := []float32{1000, 999, -1000, 1000} // exp of these overflows
	softmax(scores)
	e := math.Exp(-1)
	closeTo(t, "softmax", scores, []float64{1 / (2 + e), e / (2 + e), 0, 1 / (2 + e)}, tolerance)
}

func TestAdd(t *testing.T) {
	y := []float32{1, 2, 3}
	add(y, []float32{10, 20, -30})
	if want := []float32{11, 22, -27}; !slices.Equal(y, want) {
		t.Errorf("got %v, want %v", y, want)
	}
}

func TestExp(t *testing.T) {
	for x := -708.; x < 709; x += 0.0437 {
		got, want := exp(x), math.Exp(x)
		if math.Abs(got-want) > 4e-15*want {
			t.Fatalf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	for x, want := range map[float64]float64{0: 1, -1e9: 0, 1e9: math.Inf(1), math.Inf(-1): 0} {
		if got := exp(x); got != want {
			t.Errorf("exp(%v) = %v, want %v", x, got, want)
		}
	}
	if got := exp(math.NaN()); got == got {
		t.Errorf("exp(NaN) = %v", got)
	}
}

func TestSincos(t *testing.T) {
	for angle := 0.; angle <= 1; angle += 1. / 1024 {
		sin, cos := sincos(angle)
		wantSin, wantCos := math.Sincos(angle)
		if math.Abs(sin-wantSin) > 1e-15 || math.Abs(cos-wantCos) > 1e-15 {
			t.Fatalf("sincos(%v) = %v, %v, want %v, %v", angle, sin, cos, wantSin, wantCos)
		}
	}
}

func TestRope(t *testing.T) {
	const width = 32
	r := newRope(width, maxTokens)
	x := normal(3 * width)
	for _, position := range []int{0, 1, 2, 77, 1000, maxTokens - 1} {
		y := slices.Clone(x)
		r.rotate(y, position)
		closeTo(t, fmt.Sprintf("position %d", position), y, refRotate(doubles(x), width, position), tolerance)
	}
}

// TestRopeIsRelative checks what RoPE is for: how a query matches a key
// depends on how far apart they are, not on where.
func TestRopeIsRelative(t *testing.T) {
	const width = 32
	r := newRope(width, 4096)
	match := func(q, k int) float32 {
		query, key := normal(width), normal(2 * width)[width:]
		r.rotate(query, q)
		r.rotate(key, k)
		return dot(query, key)
	}
	for _, distance := range []int{0, 1, 5, 64} {
		want := match(distance, 0)
		for _, shift := range []int{1, 10, 500, 4000} {
			if got := match(distance+shift, shift); math.Abs(float64(got-want)) > 1e-4 {
				t.Errorf("distance %d at %d matches %v, at 0 %v", distance, shift, got, want)
			}
		}
		if distance > 0 && match(0, 0) == want {
			t.Errorf("distance %d matches like none", distance)
		}
	}
}
