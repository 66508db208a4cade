package tensor

import (
	"encoding/binary"
	"math"
	"sync"
)

var little = binary.LittleEndian

// Floats writes the elements of t that start at from, counted over all axes,
// to dst and returns how many it wrote: fewer than dst holds where t ends, none
// outside of t. Float64, Int64 and Int32 are rounded to the nearest float32;
// all other formats fit. Truth values are 0 and 1.
func (t Tensor) Floats(dst []float32, from int) int { return floats(t, dst, from) }

// Floats64 is [Tensor.Floats] for float64. Only Int64 is rounded.
func (t Tensor) Floats64(dst []float64, from int) int { return floats(t, dst, from) }

func floats[F float32 | float64](t Tensor, dst []F, from int) int {
	data, n := t.run(from, len(dst))
	dst = dst[:n]
	switch t.DType {
	case Float64:
		for i := range dst {
			dst[i] = F(math.Float64frombits(little.Uint64(data[8*i:])))
		}
	case Float4E2M1:
		for i := range dst {
			dst[i] = F(e2m1Values[nibble(data, from&1+i)])
		}
	case Int64, Int32, Int16, Int8, Uint8, Bool:
		decodeInts(dst, t.DType, data)
	default:
		decodeFloats(dst, t.DType, data)
	}
	return n
}

// decodeFloats decodes what a float32 holds. Each format has its own loop: one
// loop around a switch or a call takes several times as long.
func decodeFloats[F float32 | float64](dst []F, d DType, data []byte) {
	switch d {
	case Float32:
		for i := range dst {
			dst[i] = F(math.Float32frombits(little.Uint32(data[4*i:])))
		}
	case F16:
		table := halves()
		for i := range dst {
			dst[i] = F(table[little.Uint16(data[2*i:])])
		}
	case BF16:
		decodeBFloat16(dst, data)
	case Float8E4M3FN:
		lookup(dst, e4m3fnValues, data)
	case Float8E5M2:
		lookup(dst, e5m2Values, data)
	}
}

// decodeBFloat16 loads four numbers at a time, in half the time of single ones.
func decodeBFloat16[F float32 | float64](dst []F, data []byte) {
	for len(dst) >= 4 && len(data) >= 8 {
		four := little.Uint64(data)
		dst[0] = F(BFloat16(four).Float32())
		dst[1] = F(BFloat16(four >> 16).Float32())
		dst[2] = F(BFloat16(four >> 32).Float32())
		dst[3] = F(BFloat16(four >> 48).Float32())
		dst, data = dst[4:], data[8:]
	}
	for i := range dst {
		dst[i] = F(BFloat16(little.Uint16(data[2*i:])).Float32())
	}
}

// halves has the value of every Float16: looking it up takes 60 % of the time
// that computing it takes.
var halves = sync.OnceValue(func() *[1 << 16]float32 {
	table := new([1 << 16]float32)
	for i := range table {
		table[i] = Float16(i).Float32()
	}
	return table
})

func lookup[F float32 | float64](dst []F, values *[256]float32, data []byte) {
	data = data[:len(dst)]
	for i, code := range data {
		dst[i] = F(values[code])
	}
}

func nibble(data []byte, i int) uint8 { return data[i>>1] >> (i & 1 * 4) & 15 }

// SetFloats stores src from element from on and returns how many it stored:
// fewer where t ends, none if t does not hold floating point numbers. Each is
// rounded to the nearest number of the format, ties to even. What is too large
// becomes infinite; in Float8E4M3FN, which has no infinity, NaN, and in
// Float4E2M1, which has no NaN either, the largest number.
func (t Tensor) SetFloats(src []float32, from int) int {
	if !t.DType.IsFloat() {
		return 0
	}
	data, n := t.run(from, len(src))
	encode(data, t.DType, src[:n], from&1)
	return n
}

// SetFloats64 is [Tensor.SetFloats] for float64. It rounds once.
func (t Tensor) SetFloats64(src []float64, from int) int {
	if !t.DType.IsFloat() {
		return 0
	}
	data, n := t.run(from, len(src))
	if t.DType == Float64 {
		for i, v := range src[:n] {
			little.PutUint64(data[8*i:], math.Float64bits(v))
		}
		return n
	}
	var block [blockLen]float32
	for i := 0; i < n; i += blockLen {
		part := block[:min(blockLen, n-i)]
		for j, v := range src[i : i+len(part)] {
			part[j] = narrow(v, t.DType)
		}
		t.SetFloats(part, from+i)
	}
	return n
}

const blockLen = 1024 // what is converted in two steps stays in the first cache

// narrow converts a float64 for being rounded to d. Where float32 is only a
// step on the way it rounds to odd, which keeps ties apart from what is close
// to them: the second rounding then gives what one rounding would.
func narrow(v float64, d DType) float32 {
	f := float32(v)
	if d == Float32 || float64(f) == v || v != v {
		return f
	}
	bits := math.Float32bits(f)
	if math.Abs(float64(f)) > math.Abs(v) {
		bits-- // towards zero
	}
	return math.Float32frombits(bits | 1)
}

// encode stores src as numbers of d; skip says that the first Float4E2M1 goes
// to the high half of its byte.
func encode(data []byte, d DType, src []float32, skip int) {
	switch d {
	case Float64:
		for i, v := range src {
			little.PutUint64(data[8*i:], math.Float64bits(float64(v)))
		}
	case Float32:
		for i, v := range src {
			little.PutUint32(data[4*i:], math.Float32bits(v))
		}
	case F16:
		for i, v := range src {
			little.PutUint16(data[2*i:], uint16(ToFloat16(v)))
		}
	case BF16:
		for i, v := range src {
			little.PutUint16(data[2*i:], uint16(toBFloat16(v)))
		}
	case Float8E4M3FN:
		encode8(data, &e4m3fn, src)
	case Float8E5M2:
		encode8(data, &e5m2, src)
	case Float4E2M1:
		codes := e2m1.table()
		for i, v := range src {
			at, shift := (i+skip)>>1, (i+skip)&1*4
			data[at] = data[at]&^(15<<shift) | codes[index(v)]<<shift
		}
	}
}

func encode8(data []byte, m *minifloat, src []float32) {
	codes := m.table()
	data = data[:len(src)]
	for i, v := range src {
		data[i] = codes[index(v)]
	}
}
