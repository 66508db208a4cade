package tensor

import "math"

// Q8Len is the number of values in a [Q8Block].
const Q8Len = 32

// Q8Block holds 32 values as ggml's q8_0 does: value i is Scale times Q[i].
type Q8Block struct {
	Scale Float16
	Q     [Q8Len]int8
}

// Quantize sets b to the values of x: the scale is the largest magnitude
// divided by 127, and each value is divided by it and rounded to the nearest
// integer, halves away from zero. The scale is rounded to a half only when it
// is stored, as in ggml.
//
// A block that holds a NaN or an infinity, or whose scale is too large for a
// half, reads back as NaN or infinite, never as an ordinary number.
func (b *Q8Block) Quantize(x *[Q8Len]float32) {
	var largest float32
	for _, v := range x {
		largest = max(largest, float32(math.Abs(float64(v)))) // max keeps a NaN
	}
	scale := largest / 127
	b.Scale = ToFloat16(scale)
	for i, v := range x {
		b.Q[i] = quantum(v / scale)
	}
}

// quantum rounds a quotient. The limits matter where the scale is subnormal
// and therefore too small, or zero, infinite or NaN; there the language leaves
// the conversion to an integer open.
func quantum(q float32) int8 {
	if q != q {
		return 0
	}
	return int8(math.Round(float64(min(max(q, -127), 127))))
}

// Dequantize sets x to the values of b.
func (b *Q8Block) Dequantize(x *[Q8Len]float32) {
	scale := b.Scale.Float32()
	for i, q := range b.Q {
		x[i] = scale * float32(q)
	}
}
