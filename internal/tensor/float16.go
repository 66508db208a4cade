package tensor

import "math"

// Float16 is an IEEE 754 binary16 number: 1 sign, 5 exponent and 10 fraction
// bits.
type Float16 uint16

const (
	float32Inf    = 0x7f800000
	float16Inf    = 0x7c00
	exponentShift = (127 - 15) << 23 // difference of the exponent biases, in float32 bits
	smallestHalf  = 0x38800000       // 2^-14, the smallest normal half
	beyondHalf    = 0x47800000       // 2^16, above every half
)

// ToFloat16 rounds f to the nearest half, ties to even. Values of 65520 and
// more become infinite, a NaN becomes a quiet NaN.
func ToFloat16(f float32) Float16 {
	bits := math.Float32bits(f)
	sign := Float16(bits >> 16 & 0x8000)
	bits &= 0x7fffffff
	switch {
	case bits > float32Inf:
		return sign | float16Inf | 0x200 | Float16(bits>>13&0x1ff)
	case bits >= beyondHalf:
		return sign | float16Inf
	case bits < smallestHalf:
		// One unit in the last place of 0.5 is 2^-24, which is one unit of a
		// subnormal half: the addition rounds, ties to even, and leaves the
		// subnormal in the low bits.
		sum := math.Float32frombits(bits) + 0.5
		return sign | Float16(math.Float32bits(sum)-math.Float32bits(0.5))
	}
	odd := bits >> 13 & 1
	return sign | Float16((bits-exponentShift+0xfff+odd)>>13)
}

// Float32 returns the value of h, which a float32 always holds exactly.
func (h Float16) Float32() float32 {
	bits := uint32(h&0x7fff) << 13
	if bits >= float16Inf<<13 {
		bits |= float32Inf
	} else {
		// Scaling by a power of two moves the exponent and is exact, for
		// subnormal halves too.
		bits = math.Float32bits(math.Float32frombits(bits) * 0x1p112)
	}
	return math.Float32frombits(bits | uint32(h&0x8000)<<16)
}
