package tensor

import (
	"math"
	"sync"
)

// minifloat is a format of at most eight bits. Its numbers are coded as those
// of IEEE 754: sign, exponent, fraction, and subnormals where the exponent is 0.
type minifloat struct {
	sign     uint8 // the bit of the sign
	fraction uint  // how many bits
	bias     uint  // of the exponent
	largest  uint8 // the code of the largest finite number
	beyond   uint8 // what larger ones are rounded to
	nan      uint8

	once  sync.Once
	codes *[1 << 16]uint8
}

// The formats, as in "FP8 Formats for Deep Learning" (arXiv 2209.05433) and the
// OCP Microscaling Formats specification, v1.0. What happens to numbers that
// are too large is, for the two of eight bits, what PyTorch's conversions do:
// e4m3fn has no infinity and turns them into NaN, e5m2 into an infinity. The
// format of four bits has neither: they become 6, and so does a NaN, because
// its sign is all that can be kept and an extreme value shows.
var (
	e4m3fn = minifloat{sign: 0x80, fraction: 3, bias: 7, largest: 0x7e, beyond: 0x7f, nan: 0x7f}
	e5m2   = minifloat{sign: 0x80, fraction: 2, bias: 15, largest: 0x7b, beyond: 0x7c, nan: 0x7f}
	e2m1   = minifloat{sign: 0x08, fraction: 1, bias: 1, largest: 0x07, beyond: 0x07, nan: 0x07}
)

// The values of all codes.
var (
	e4m3fnValues = e4m3fn.values()
	e5m2Values   = e5m2.values()
	e2m1Values   = e2m1.values() // of sixteen, repeated
)

func (m *minifloat) values() *[256]float32 {
	var table [256]float32
	for i := range table {
		table[i] = m.value(uint8(i))
	}
	return &table
}

func (m *minifloat) value(code uint8) float32 {
	magnitude := code & (m.sign - 1)
	exponent, fraction := int(magnitude>>m.fraction), int(magnitude)&(1<<m.fraction-1)
	if exponent > 0 {
		exponent, fraction = exponent-1, fraction|1<<m.fraction
	}
	value := math.Ldexp(float64(fraction), exponent+1-int(m.bias+m.fraction))
	switch {
	case magnitude > m.largest && magnitude != m.beyond || magnitude == m.nan && m.nan > m.largest:
		value = math.NaN()
	case magnitude > m.largest:
		value = math.Inf(1)
	}
	if code&m.sign != 0 {
		value = -value
	}
	return float32(value)
}

// table returns the codes of all float32 by [index].
func (m *minifloat) table() *[1 << 16]uint8 {
	m.once.Do(func() {
		m.codes = new([1 << 16]uint8)
		for i := range m.codes {
			m.codes[i] = m.code(math.Float32frombits(uint32(i) << 16))
		}
	})
	return m.codes
}

// index rounds f to 16 bits, to odd: what lies between two of these numbers
// goes to the one whose last bit is set, so that it stays apart from ties, and
// rounding that again gives what rounding once would.
func index(f float32) uint16 {
	bits := math.Float32bits(f)
	return uint16(bits>>16 | (bits&0xffff+0xffff)>>16)
}

// code rounds f to the nearest number of the format, ties to even.
func (m *minifloat) code(f float32) uint8 {
	bits := math.Float32bits(f)
	sign := uint8(bits>>24) & 0x80 / (0x80 / m.sign)
	bits &= 0x7fffffff
	if bits > float32Inf {
		return sign | m.nan
	}
	code := m.round(bits)
	if code > uint32(m.largest) {
		return sign | m.beyond
	}
	return sign | uint8(code)
}

// round codes a number without a sign, as if the exponents went on for ever.
func (m *minifloat) round(bits uint32) uint32 {
	drop := 23 - m.fraction
	if bits < uint32(128-m.bias)<<23 { // the smallest normal number
		// As in ToFloat16: one unit in the last place of the sum is one of a
		// subnormal number of the format.
		big := uint32(128-m.bias+drop) << 23
		return math.Float32bits(math.Float32frombits(bits)+math.Float32frombits(big)) - big
	}
	odd := bits >> drop & 1
	return (bits - uint32(127-m.bias)<<23 + 1<<(drop-1) - 1 + odd) >> drop
}
