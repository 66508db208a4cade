package packing

import (
	"math/bits"

	"gonum.org/v1/gonum/mathext/prng"
)

// mt19937 draws numbers as numpy's legacy generator does.
type mt19937 struct{ *prng.MT19937 }

func newMT19937(seed uint32) mt19937 {
	r := mt19937{prng.NewMT19937()}
	r.Seed(uint64(seed))
	return r
}

// upTo returns a number from 0 to limit. It cuts draws down to the bits of limit until one is not over it.
func (r mt19937) upTo(limit uint32) uint32 {
	if limit == 0 {
		return 0
	}
	mask := uint32(1)<<bits.Len32(limit) - 1
	for {
		if x := r.Uint32() & mask; x <= limit {
			return x
		}
	}
}

// uniform appends n numbers from low to below high.
func (r mt19937) uniform(lengths []int64, n int, low, high int64) []int64 {
	for range n {
		lengths = append(lengths, low+int64(r.upTo(uint32(high-low-1))))
	}
	return lengths
}

// shuffle permutes lengths as numpy.random.shuffle does, and returns them.
func (r mt19937) shuffle(lengths []int64) []int64 {
	for i := len(lengths) - 1; i > 0; i-- {
		j := r.upTo(uint32(i))
		lengths[i], lengths[j] = lengths[j], lengths[i]
	}
	return lengths
}
