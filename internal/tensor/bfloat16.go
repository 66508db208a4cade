package tensor

import "math"

// BFloat16 is the upper half of a float32: 1 sign, 8 exponent and 7 fraction
// bits.
type BFloat16 uint16

// toBFloat16 rounds f to the nearest bfloat16, ties to even. What is beyond
// the largest one becomes infinite, a NaN becomes a quiet NaN.
func toBFloat16(f float32) BFloat16 {
	bits := math.Float32bits(f)
	if bits&0x7fffffff > float32Inf {
		return BFloat16(bits>>16 | 0x40)
	}
	return BFloat16((bits + 0x7fff + bits>>16&1) >> 16)
}

// Float32 returns the value of b, which a float32 always holds exactly.
func (b BFloat16) Float32() float32 { return math.Float32frombits(uint32(b) << 16) }
