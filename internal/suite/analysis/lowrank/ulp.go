package lowrank

import (
	"encoding/binary"
	"math/bits"

	"github.com/accelgate/accelgate/internal/tensor"
)

// ruler measures distances in units in the last place of a weight's format.
type ruler struct {
	original tensor.Tensor
	rounded  tensor.Tensor // room for a block
	counts   [65]int       // by the number of bits of the distance
}

func newRuler(original tensor.Tensor) ruler {
	size := original.DType.Size(blockLen)
	return ruler{original: original, rounded: tensor.Tensor{DType: original.DType, Shape: []int{blockLen}, Data: make([]byte, size)}}
}

// add measures a block of numbers that should be the original's from an index
// on.
func (r *ruler) add(values []float64, from int) {
	r.rounded.SetFloats64(values, 0)
	size := r.original.DType.Bits() / 8
	for i := range values {
		want := ordinal(r.original.Data[(from+i)*size:], size)
		got := ordinal(r.rounded.Data[i*size:], size)
		r.counts[bits.Len64(uint64(max(want, got))-uint64(min(want, got)))]++
	}
}

// ordinal numbers the values of a format: neighbours differ by 1, and both
// zeros are 0.
func ordinal(data []byte, size int) int64 {
	var bits int64 // sign-extended
	switch size {
	case 2:
		bits = int64(int16(binary.LittleEndian.Uint16(data)))
	case 4:
		bits = int64(int32(binary.LittleEndian.Uint32(data)))
	case 8:
		bits = int64(binary.LittleEndian.Uint64(data))
	}
	if bits >= 0 {
		return bits
	}
	minimum := int64(-1) << (8*size - 1) // the bits of -0
	return minimum - bits
}

func (r *ruler) histogram() []int {
	last := len(r.counts)
	for last > 0 && r.counts[last-1] == 0 {
		last--
	}
	return append([]int{}, r.counts[:last]...)
}
