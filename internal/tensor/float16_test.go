package tensor_test

import (
	"math"
	"testing"

	"github.com/accelgate/accelgate/internal/tensor"
)

// value computes a half from its definition, by other means than the code.
func value(h uint16) float64 {
	sign := 1.0
	if h&0x8000 != 0 {
		sign = -1
	}
	exponent, fraction := int(h>>10&31), float64(h&0x3ff)
	switch {
	case exponent == 31 && fraction != 0:
		return math.NaN()
	case exponent == 31:
		return math.Inf(int(sign))
	case exponent == 0:
		return sign * math.Ldexp(fraction, -24)
	}
	return sign * math.Ldexp(1024+fraction, exponent-25)
}

func TestEveryHalfKeepsItsValue(t *testing.T) {
	for i := range 1 << 16 {
		h, want := tensor.Float16(i), value(uint16(i))
		got := h.Float32()
		if math.IsNaN(want) {
			if got == got || tensor.ToFloat16(got).Float32() == got {
				t.Errorf("half %#04x is %v, and back %#04x; want NaN", i, got, tensor.ToFloat16(got))
			}
			continue
		}
		if float64(got) != want || math.Signbit(float64(got)) != math.Signbit(want) {
			t.Errorf("half %#04x is %v, want %v", i, got, want)
		}
		if back := tensor.ToFloat16(got); back != h {
			t.Errorf("half %#04x comes back as %#04x", i, back)
		}
	}
}

// TestRoundsToNearestEven looks at every pair of neighbouring halves: the
// middle goes to the even one, and what is just off the middle to the nearer.
func TestRoundsToNearestEven(t *testing.T) {
	check := func(f float32, want uint16) {
		t.Helper()
		for _, sign := range []uint16{0, 0x8000} {
			signed := math.Float32frombits(math.Float32bits(f) | uint32(sign)<<16)
			if got := tensor.ToFloat16(signed); got != tensor.Float16(want|sign) {
				t.Errorf("ToFloat16(%v) = %#04x, want %#04x", signed, got, want|sign)
			}
		}
	}
	for low := range uint16(0x7c00) {
		high := low + 1
		above := value(high)
		if high == 0x7c00 {
			above = 65536 // rounding works as if the exponent went on
		}
		middle := float32((value(low) + above) / 2)
		check(middle, low+low&1)
		check(math.Nextafter32(middle, 0), low)
		check(math.Nextafter32(middle, math.MaxFloat32), high)
	}
}

func TestFarAwayFloats(t *testing.T) {
	for _, c := range []struct {
		f    float32
		want tensor.Float16
	}{
		{math.MaxFloat32, 0x7c00},
		{-math.MaxFloat32, 0xfc00},
		{float32(math.Inf(1)), 0x7c00},
		{float32(math.Inf(-1)), 0xfc00},
		{math.SmallestNonzeroFloat32, 0},
		{-math.SmallestNonzeroFloat32, 0x8000},
		{math.Float32frombits(0x7fffffff), 0x7fff},
		{math.Float32frombits(0x7f800001), 0x7e00},
	} {
		if got := tensor.ToFloat16(c.f); got != c.want {
			t.Errorf("ToFloat16(%v) = %#04x, want %#04x", c.f, got, c.want)
		}
	}
}

func BenchmarkFloat16(b *testing.B) {
	var halves [4096]tensor.Float16
	var floats [4096]float32
	for i := range floats {
		floats[i] = float32(i-2048) / 300
	}
	b.Run("from float32", func(b *testing.B) {
		for b.Loop() {
			for i, f := range floats {
				halves[i] = tensor.ToFloat16(f)
			}
		}
	})
	b.Run("to float32", func(b *testing.B) {
		for b.Loop() {
			for i, h := range halves {
				floats[i] = h.Float32()
			}
		}
	})
}
