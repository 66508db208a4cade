package tensor

// Ints is [Tensor.Floats] for integers and truth values, exactly. Of a tensor
// of floating point numbers it writes nothing.
func (t Tensor) Ints(dst []int64, from int) int {
	if !t.DType.Valid() || t.DType.IsFloat() {
		return 0
	}
	data, n := t.run(from, len(dst))
	decodeInts(dst[:n], t.DType, data)
	return n
}

// decodeInts decodes integers; every truth value but 0 is 1.
func decodeInts[N int64 | float32 | float64](dst []N, d DType, data []byte) {
	switch d {
	case Int64:
		for i := range dst {
			dst[i] = N(int64(little.Uint64(data[8*i:])))
		}
	case Int32:
		for i := range dst {
			dst[i] = N(int32(little.Uint32(data[4*i:])))
		}
	case Int16:
		for i := range dst {
			dst[i] = N(int16(little.Uint16(data[2*i:])))
		}
	case Int8:
		for i := range dst {
			dst[i] = N(int8(data[i]))
		}
	case Uint8:
		for i := range dst {
			dst[i] = N(data[i])
		}
	case Bool:
		for i := range dst {
			dst[i] = N(min(data[i], 1))
		}
	}
}

// SetInts is [Tensor.SetFloats] for integers and truth values. Of a number that
// is too large the low bits are stored; every truth value but 0 is stored as 1.
func (t Tensor) SetInts(src []int64, from int) int {
	if !t.DType.Valid() || t.DType.IsFloat() {
		return 0
	}
	data, n := t.run(from, len(src))
	encodeInts(data, t.DType, src[:n])
	return n
}

func encodeInts(data []byte, d DType, src []int64) {
	switch d {
	case Int64:
		for i, v := range src {
			little.PutUint64(data[8*i:], uint64(v))
		}
	case Int32:
		for i, v := range src {
			little.PutUint32(data[4*i:], uint32(v))
		}
	case Int16:
		for i, v := range src {
			little.PutUint16(data[2*i:], uint16(v))
		}
	case Int8, Uint8:
		for i, v := range src {
			data[i] = byte(v)
		}
	case Bool:
		for i, v := range src {
			data[i] = byte((uint64(v) | -uint64(v)) >> 63) // no branch: truth values are hard to predict
		}
	}
}
